// Hot within the build: a CSV or TSV file of AS ranges, by bytes. A header names the columns
// (MaxMind, IPinfo), or their positions do:
//
//   first,last,asn,organization                  @ip-location-db/asn, DB-IP
//   first⇥last⇥asn⇥country⇥organization          IPtoASN
//   prefix,asn,organization
//
// ASNs may be written `AS123`. Rows with ASN 0, or with none in a named column, are skipped
// silently: no AS announces the range.

import { fieldText, type RangeRow, readNumber, readRangeFile } from '../parse/range-rows.ts'
import type { RangeSink } from './collect-ranges.ts'

/** For the error. */
export const rangeLayouts =
  'CSV with a header (MaxMind: network, autonomous_system_number, autonomous_system_organization; ' +
  'IPinfo: network or start_ip and end_ip, asn, as_name or name), CSV without one (first, last, ' +
  'asn, organization: DB-IP), TSV without one (IPtoASN), MMDB'

const asnNames = ['asn', 'autonomous_system_number', 'as_number', 'asnumber']
const nameNames =
  'as_name autonomous_system_organization as_organization as_description organization name org'.split(
    ' ',
  )

/** Throws `ranges_unreadable`. */
export const readRangeCsv = (path: string, sink: RangeSink): Promise<void> =>
  readRangeFile(path, asnTaker(sink))

export function asnTaker(sink: RangeSink) {
  let asnField = -1
  let nameField = -1
  let isNamed = true
  return {
    problem: sink.problem,
    unnamed: (_count: number, isTsv: boolean) => {
      isNamed = false
      return ['asn', ...(isTsv ? ['country'] : []), 'name']
    },
    columns: (names: readonly string[]) => {
      const at = (known: readonly string[]): number =>
        names.indexOf(known.find((name) => names.includes(name)) ?? 'none')
      asnField = at(asnNames)
      nameField = at(nameNames)
    },
    row: ({ family, first, last, bytes, fields }: RangeRow): string | undefined => {
      const { starts, ends, fieldCount } = fields
      if (asnField >= fieldCount) return 'too few fields'
      const [start, end] = [starts[asnField] ?? 0, ends[asnField] ?? 0]
      const asn = readAsn(bytes, start, end)
      if (asn === 0 || (isNamed && asnField >= 0 && start === end)) return undefined
      if (asn < 0) return 'no AS number'
      sink.range(family, first, last, asn)
      if (nameField >= 0 && nameField < fieldCount) {
        sink.name(asn, fieldText(bytes, fields, nameField))
      }
      return undefined
    },
  }
}

/** `123` or `AS123`, or -1. */
function readAsn(bytes: Uint8Array, start: number, end: number): number {
  const lettered =
    end - start > 2 && (bytes[start]! | 0x20) === 0x61 && (bytes[start + 1]! | 0x20) === 0x73
  const asn = readNumber(bytes, lettered ? start + 2 : start, end)
  return asn > 0xffff_ffff ? -1 : asn
}
