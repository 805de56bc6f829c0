// `iprisk feedback report` for people, as tables, and for programs, as JSON.

import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { offlinePolicy } from '../../policy/offline-policy.ts'
import { pinTable } from '../lines/pin-table.ts'
import { type Io, exitCodes } from '../terminal/io.ts'
import { type FeedbackReport, type OutcomeRow, feedbackReport } from './feedback-report.ts'

export async function feedbackReportCommand(
  options: {
    readonly state: string
    readonly table: string
    readonly policies?: string | undefined
    readonly how: {
      readonly json: boolean
      readonly top: number
      readonly policy?: string
      readonly lists?: string
    }
  },
  io: Io,
): Promise<number> {
  const { state, table: path, policies, how } = options
  const policy = await offlinePolicy(policies, how.policy, io.err)
  const pinned = await pinTable(path, how.lists)
  try {
    const report = await feedbackReport(state, pinned.table, policy)
    if (how.json) io.out(JSON.stringify(report))
    else for (const line of reportLines(report, how.top)) io.out(line)
    return exitCodes.done
  } finally {
    pinned.close()
  }
}

function reportLines(report: FeedbackReport, top: number): readonly string[] {
  const { outcomes, all, classes, levels, rules, feeds, table } = report
  const addresses = `${formatCount(outcomes)} outcomes about ${formatCount(all.addresses)} addresses`
  return [
    `${addresses}, of which ${formatCount(all.abusive)} abusive (${all.percent} %)`,
    ...section('class', classes),
    ...section('level', levels),
    ...optionalSection('action and rule', rules),
    ...section('feed', feeds.slice(0, top)),
    '',
    `table ${table.id}, as of ${table.as_of}; intervals of 95 %; an address counts once`,
  ]
}

const optionalSection = (
  title: string,
  rows: readonly OutcomeRow[] | undefined,
): readonly string[] => (rows === undefined ? [] : section(title, rows))

function section(title: string, rows: readonly OutcomeRow[]): readonly string[] {
  const head = [title, 'addresses', 'abusive', 'share', 'interval']
  const cells = rows.map((row) => [
    row.name,
    formatCount(row.addresses),
    formatCount(row.abusive),
    `${row.percent.toFixed(1)} %`,
    `${row.low.toFixed(1)} to ${row.high.toFixed(1)} %`,
  ])
  return ['', ...alignColumns([head, ...cells], 1)]
}
