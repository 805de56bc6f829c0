// `iprisk check`: addresses from the arguments or standard input, answered offline from the table,
// in order. As JSON lines exactly as the API answers, or a short line each for people.

import type { CheckAnswer } from '../api/answer.ts'
import { signalNames } from '../model/kind.ts'
import { openTable } from '../table/open.ts'
import type { Table } from '../table/table.ts'
import { type Io, exitCodes } from './io.ts'

const invalidMessage =
  'Not an IP address: send one IPv4 or IPv6 address in plain text, without port, prefix or zone.'

/** Exit code 1 where a line was no address; all others are answered all the same. */
export async function checkCommand(
  options: {
    readonly addresses: readonly string[]
    readonly table: string
    readonly json: boolean
  },
  io: Io,
): Promise<number> {
  const table = openTable(options.table)
  let bad = 0
  try {
    for await (const text of addressesOf(options.addresses, io)) {
      const answer = table.check(text)
      if (answer === undefined) bad++
      io.out(options.json ? jsonLine(text, answer) : plainLine(text, answer))
    }
  } finally {
    table.close()
  }
  if (bad > 0) io.err(`${bad} of the lines ${bad === 1 ? 'was' : 'were'} no IP address.`)
  return bad > 0 ? exitCodes.failed : exitCodes.done
}

/** `-` is standard input; empty lines there are skipped, white space around an address ignored. */
async function* addressesOf(
  addresses: readonly string[],
  io: Io,
): AsyncGenerator<string, void, undefined> {
  for (const address of addresses) {
    if (address !== '-') {
      yield address
      continue
    }
    for await (const line of io.lines()) {
      const text = line.trim()
      if (text !== '') yield text
    }
  }
}

function jsonLine(text: string, answer: ReturnType<Table['check']>): string {
  return JSON.stringify(
    answer ?? { ip: text, error: { code: 'invalid_input', message: invalidMessage } },
  )
}

function plainLine(text: string, answer: CheckAnswer | undefined): string {
  if (answer === undefined) return `${text}: ${invalidMessage}`
  const { classification, risk_score, risk_level, network, location, proxy, bot } = answer
  const provider = proxy?.provider || bot?.provider || ''
  const signals = signalNames.filter((name) => answer.signals[name] && name !== classification)
  const place = location === null ? '' : [location.city, location.country_code].filter(Boolean)
  return [
    text.padEnd(15),
    `${classification} ${risk_score} ${risk_level}`.padEnd(28),
    network === null ? '-' : `AS${network.asn} ${network.organization} (${network.type})`,
    place === '' ? '' : place.join(', '),
    provider === '' ? '' : `by ${provider}`,
    signals.length === 0 ? '' : `also ${signals.join(', ')}`,
  ]
    .filter((part) => part !== '')
    .join('  ')
}
