// Walks all addresses of a family in ascending order, each with what answers for it: a record, a
// bogon's verdict, or nothing that an export contains.
//
// Addresses are four words in MMDB's space, IPv4 below ::/96: 192.0.2.1 is [0, 0, 0, 0xc0000201].
//
//   records   ├──── 7 ────┼──── 9 ────┼─ 7 ─┼────────── 12 ──────────┤
//   segments  ├─ bogon ─┼───────── table ─────────┼─ left out ─┼─────┤
//   walked    ├─ bogon ─┼7┼──── 9 ────┼─ 7 ─┼─ 12 ┼─ left out ─┼─ 12 ┤
//
// Left out are addresses that embed an IPv4 one, which `check` judges by it: 6to4 by two records,
// Teredo by the inverted address, NAT64 and IPv4-mapped by IPv4's record.

import { type Family, compareWords, newAddressWords } from '../ip/address.ts'
import { bigintToWords, maxAddress } from '../ip/range.ts'
import { subtract, toRangeSet } from '../ip/range-set.ts'
import { embeddedRanges } from '../ip/special-piece.ts'
import { bogonRanges } from '../ip/special-purpose.ts'
import { tailGroupFlag, tailWords } from '../schema/table-layout.ts'
import type { SectionViews } from '../schema/table-sections.ts'
import { newIpv4Starts, newIpv6Starts } from '../table/lookup/piece-start.ts'

export const answering = { bogon: -1, leftOut: -2 } as const

const table = 0

/** A record's number, or one of `answering`. */
export type Answering = number

interface Segment {
  readonly first: Uint32Array
  readonly is: Answering
}

/** `first` is valid until the next call. */
export type VisitStart = (first: Uint32Array, is: Answering) => void

/** Calls `visit` where the answer may change, and for the family's first address. */
export function walkFamily(views: SectionViews, family: Family, visit: VisitStart): void {
  const segments = segmentsOf(family)
  let next = 0
  let is: Answering = table
  let record = 0
  const visitSegment = ({ first, is: kind }: Segment): void => {
    is = kind
    next++
    visit(first, is === table ? record : is)
  }
  const visitPiece = (first: Uint32Array, its: number): void => {
    while (next < segments.length && compareWords(segments[next]!.first, 0, first, 0, 4) < 0)
      visitSegment(segments[next]!)
    record = its
    if (next < segments.length && compareWords(segments[next]!.first, 0, first, 0, 4) === 0)
      visitSegment(segments[next]!)
    else if (is === table) visit(first, record)
  }
  if (family === 4) walkIpv4Pieces(views, visitPiece)
  else walkIpv6Pieces(views, visitPiece)
  while (next < segments.length) visitSegment(segments[next]!)
}

function walkIpv4Pieces(views: SectionViews, visit: (first: Uint32Array, its: number) => void) {
  const { ipv4_records: records } = views
  const startOf = newIpv4Starts(views)
  const words = newAddressWords()
  for (let piece = 0; piece < records.length; piece++) {
    words[3] = startOf(piece)
    visit(words, records[piece]!)
  }
}

function walkIpv6Pieces(views: SectionViews, visit: (first: Uint32Array, its: number) => void) {
  const { ipv6_records: records } = views
  const { ipv6_tail_groups: groups, ipv6_tails: tails, ipv6_tail_records: tailRecords } = views
  const writeStart = newIpv6Starts(views)
  const words = newAddressWords()
  for (let piece = 0; piece < records.length; piece++) {
    writeStart(piece, words)
    words[2] = words[3] = 0
    const record = records[piece]!
    if (record < tailGroupFlag) {
      visit(words, record)
      continue
    }
    const group = record - tailGroupFlag
    const top = words[1]!
    for (let tail = groups[group]!; tail < groups[group + 1]!; tail++) {
      words[1] = top + tails[tail * tailWords]!
      words[2] = tails[tail * tailWords + 1]!
      words[3] = tails[tail * tailWords + 2]!
      visit(words, tailRecords[tail]!)
    }
  }
}

/** The family's ranges with and without answers from the table. */
function segmentsOf(family: Family): readonly Segment[] {
  const special = family === 4 ? [] : embeddedRanges
  const bogons = subtract(bogonRanges(family), toRangeSet(special))
  const cuts = [
    ...special.map((range) => ({ ...range, is: answering.leftOut })),
    ...bogons.map((range) => ({ ...range, is: answering.bogon })),
  ].sort((a, b) => (a.first < b.first ? -1 : 1))
  const segments: Segment[] = []
  let open = 0n
  const add = (first: bigint, is: Segment['is']): void => {
    const words = newAddressWords()
    bigintToWords(6, first, words)
    segments.push({ first: words, is })
  }
  for (const { first, last, is } of cuts) {
    if (open < first) add(open, table)
    add(first, is)
    open = last + 1n
  }
  if (open <= maxAddress(family)) add(open, table)
  return segments
}
