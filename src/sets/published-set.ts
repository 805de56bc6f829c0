// The published set of a condition (contract 6.3: published sets): the fewest prefixes that hold
// exactly the addresses for which it is true, for one table and one state of the own lists, sorted,
// IPv4 first. Each prefix carries a label; only neighbours of one label merge.
//
// Addresses that embed an IPv4 one (6to4, Teredo, NAT64, IPv4-mapped) are left out, as in exports.
//
//   table      ├── 7 ──┼───── 9 ─────┼─ 7 ─┼────── 12 ──────┤
//   own lists  ├──────────┼─────┼─────────────┼────────────┤
//   asked      ├───────┼──┼─────┼──┼─────┼────┼────────────┤   once a piece: what is true of it

import { type Family, compareWords, newAddressWords } from '../ip/address.ts'
import { splitRange } from '../ip/prefix-split.ts'
import { type Answering, type VisitStart, answering, walkFamily } from '../export/piece-walk.ts'
import { mergeRuns } from '../export/value-runs.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { type Located, locate, newLocated } from '../table/lookup/locate.ts'
import { newSetRecords } from './set-records.ts'

/** Not in the set. */
export const outside = -1

/** The label of an address, from 0, or `outside`. `words` as left by `parseAddress`. */
export type LabelOf = (words: Uint32Array, located: Located) => number

/** Throws `set_too_large`. Bogons are queried, too. */
export function publishedSet(
  { views, lists }: Pick<AnswerReader, 'views' | 'lists'>,
  labelOf: LabelOf,
  prefixesMax: number,
): Uint32Array {
  const records = newSetRecords(prefixesMax)
  const located = newLocated()
  const own = newAddressWords()
  const labelAt = (is: Answering, family: Family, from: Uint32Array): number => {
    if (is === answering.leftOut) return outside
    if (family === 4) own[0] = from[3]!
    else own.set(from)
    // A record is not searched for again.
    locate(views, family, own, located, is)
    return labelOf(own, located)
  }
  mergeRuns(
    (family, visit) => walkPieces(views, lists?.starts(family) ?? new Uint32Array(), family, visit),
    labelAt,
    (first, last, label) => {
      splitRange(first, last, (address, length) => records.add(address, length, label))
    },
  )
  return records.words()
}

/** Calls `visit` where the table's answer or the coverage by own lists may change, in order. */
function walkPieces(
  views: AnswerReader['views'],
  starts: Uint32Array,
  family: Family,
  visit: VisitStart,
): void {
  const width = family === 4 ? 1 : 4
  const start = newAddressWords()
  let at = 0
  let is: Answering = answering.leftOut
  /** Those below `end`, which lie in the piece before it. */
  const visitStarts = (end: Uint32Array | undefined): void => {
    for (; at < starts.length; at += width) {
      start.set(starts.subarray(at, at + width), 4 - width)
      const order = end === undefined ? -1 : compareWords(start, 0, end, 0, 4)
      if (order > 0) return
      if (order < 0) visit(start, is)
    }
  }
  walkFamily(views, family, (first, its) => {
    visitStarts(first)
    is = its
    visit(first, is)
  })
  visitStarts(undefined)
}
