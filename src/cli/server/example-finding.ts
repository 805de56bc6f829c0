// An address that a table judges to be something, for a first request that shows what the table
// knows: an exit of Tor before a VPN, a VPN before a proxy.

import { formatIpv4 } from '../../ip/format-address.ts'
import type { Classification } from '../../model/kind.ts'
import { recordWords } from '../../schema/table-layout.ts'
import { newIpv4Starts } from '../../table/lookup/piece-start.ts'
import { readClassification } from '../../table/file/verdict-record.ts'
import type { OpenTable } from '../../table/open-table.ts'

export interface ExampleFinding {
  readonly address: string
  readonly classification: Classification
}

const wanted = ['tor', 'vpn', 'proxy'] as const

/** One pass over the IPv4 pieces, some milliseconds for a table of the world. */
export function exampleFinding(
  table: Pick<OpenTable, 'check' | 'reader'>,
): ExampleFinding | undefined {
  const { views } = table.reader
  const { ipv4_records: pieces, records, verdicts } = views
  const startOf = newIpv4Starts(views)
  const found = new Map<Classification, string>()
  for (let piece = 0; piece < pieces.length && !found.has(wanted[0]); piece++) {
    const verdict = records[pieces[piece]! * recordWords + 2]!
    const classification = readClassification(verdicts, verdict)
    if (found.has(classification) || !wanted.some((one) => one === classification)) continue
    const address = formatIpv4(startOf(piece))
    if (table.check(address)?.classification === classification) found.set(classification, address)
  }
  for (const classification of wanted) {
    const address = found.get(classification)
    if (address !== undefined) return { address, classification }
  }
  return undefined
}
