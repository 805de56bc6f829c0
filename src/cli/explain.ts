// `iprisk explain ADDRESS`: one screen that says what the answer is, why, and who says so.

import { alignColumns } from '../base/column.ts'
import type { Explanation } from '../table/explain.ts'
import { explain } from '../table/explain.ts'
import { openTable } from '../table/open.ts'
import { type Io, exitCodes } from './io.ts'

export function explainCommand(
  options: { readonly address: string; readonly table: string; readonly json: boolean },
  io: Io,
): number {
  const table = openTable(options.table)
  try {
    const explanation = explain(table, options.address)
    if (explanation === undefined) {
      io.err(`${options.address} is no IP address.`)
      return exitCodes.failed
    }
    if (options.json) io.out(JSON.stringify(explanation))
    else for (const line of screen(explanation)) io.out(line)
    return exitCodes.done
  } finally {
    table.close()
  }
}

function screen({ answer, reasons, evidence }: Explanation): readonly string[] {
  const { network, location } = answer
  const lines = [
    `${answer.ip}  ${answer.classification}, ${answer.risk_score} of 100 (${answer.risk_level})`,
    ...(answer.address === undefined ? [] : [`judged as ${answer.address}`]),
    network === null
      ? 'no network announces it'
      : `AS${network.asn} ${network.organization}, ${network.type}`,
    location === null
      ? 'no known place'
      : [location.city, location.state, location.country].filter(Boolean).join(', '),
    '',
    'why',
    ...alignColumns(
      reasons.map(({ code, points, text }) => [signed(points).padStart(4), code, text]),
      3,
    ),
    `${String(answer.risk_score).padStart(4)}  risk_score`,
  ]
  if (reasons.length === 0) lines.splice(-1, 0, '   nothing speaks against it')
  if (evidence.length === 0) return lines
  const rows = evidence.map((one) => [
    one.kind,
    one.feed,
    one.matched,
    one.provider,
    one.first_seen === one.last_seen ? one.last_seen : `${one.first_seen} to ${one.last_seen}`,
    one.kind === 'blocklist' ? `on ${one.lists} lists` : '',
  ])
  return [
    ...lines,
    '',
    'who says so',
    ...alignColumns([['kind', 'feed', 'matched', 'provider', 'seen', ''], ...rows], 6),
  ]
}

function signed(points: number): string {
  return points > 0 ? `+${points}` : String(points)
}
