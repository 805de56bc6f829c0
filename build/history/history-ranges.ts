// A feed's known ranges of one family in columns, for binary search by their ends. A build has some
// million rows: 24 bytes each for IPv4, 48 for IPv6. Rows are distinct and ascend by first, then
// last address.

import type { Day } from '../../src/base/day.ts'
import { type Family, compareWords } from '../../src/ip/address.ts'
import { wordsPerStart } from '../layer/layer.ts'
import type { EntryDetails, RangeBatch, RangeColumns } from './aggregate-days.ts'

export interface HistoryRanges extends RangeColumns {
  readonly family: Family
  /** Ids in the feed's details; empty if it has none. */
  readonly detail: Uint32Array
}

const gathered = ['first', 'last', 'firstSeen', 'lastSeen', 'listed', 'detail'] as const

export function newHistoryRangesBuilder(
  family: Family,
  detailId: (details: EntryDetails) => number,
): { readonly add: (batch: RangeBatch) => void; readonly ranges: () => HistoryRanges } {
  const batches: (RangeBatch & { readonly detail: Uint32Array })[] = []
  return {
    add(batch) {
      const { details, count } = batch
      const detail = new Uint32Array(details === undefined ? 0 : count)
      if (details !== undefined) {
        for (let row = 0; row < count; row++) detail[row] = detailId(details(row))
      }
      // The columns behind `details` are invalid once this returns.
      batches.push({ ...batch, details: undefined, detail })
    },
    ranges() {
      const count = batches.reduce((sum, batch) => sum + batch.count, 0)
      const gather = (name: (typeof gathered)[number]): Uint32Array => {
        const out = new Uint32Array(batches.reduce((sum, batch) => sum + batch[name].length, 0))
        let at = 0
        for (const batch of batches) {
          out.set(batch[name], at)
          at += batch[name].length
        }
        return out
      }
      const columns = Object.fromEntries(gathered.map((name) => [name, gather(name)]))
      return { family, count, ...columns } as HistoryRanges
    },
  }
}

/** The row with exactly these ends, or -1. */
export function findRow(table: HistoryRanges, first: Uint32Array, last: Uint32Array): number {
  const stride = wordsPerStart(table.family)
  let low = 0
  let high = table.count - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const compared =
      compareWords(table.first, middle * stride, first, 0, stride) ||
      compareWords(table.last, middle * stride, last, 0, stride)
    if (compared === 0) return middle
    if (compared < 0) low = middle + 1
    else high = middle - 1
  }
  return -1
}

export const listedDaysAt = (table: HistoryRanges, row: number): ListedDays => ({
  firstSeen: table.firstSeen[row] as Day,
  lastSeen: table.lastSeen[row] as Day,
  listed: table.listed[row]!,
})

/**
 * Merges into each row the days of every range that contains it. Lists that join and split their
 * prefixes need this:
 *
 *   Monday     ├── a/23 ───────────────┤     b was listed on both days,
 *   Tuesday    ├── b/24 ──┤                  a (its other half) on Monday alone
 *
 * So the most specific row of an address has all its days, if ranges nest as prefixes do.
 */
export function foldNested(table: HistoryRanges): void {
  const { count, first, last } = table
  const stride = wordsPerStart(table.family)
  const compare = (a: Uint32Array, rowA: number, b: Uint32Array, rowB: number): number =>
    compareWords(a, rowA * stride, b, rowB * stride, stride)
  const open: number[] = []
  for (let start = 0; start < count;) {
    let end = start + 1
    while (end < count && compare(first, start, first, end) === 0) end++
    // Among ranges with the same start, the widest, which is last, comes first.
    for (let row = end - 1; row >= start; row--) {
      while (open.length > 0 && compare(last, open.at(-1)!, first, row) < 0) {
        open.pop()
      }
      for (const outer of open) {
        if (compare(last, outer, last, row) >= 0) foldRow(table, row, outer)
      }
      open.push(row)
    }
    start = end
  }
}

function foldRow(table: HistoryRanges, row: number, outer: number): void {
  const folded = mergeListedDays(listedDaysAt(table, row), listedDaysAt(table, outer))
  table.firstSeen[row] = folded.firstSeen
  table.lastSeen[row] = folded.lastSeen
  table.listed[row] = folded.listed
}

/** When a feed listed a range. `listed`: bit n is n days before the day of the build. */
export interface ListedDays {
  readonly firstSeen: Day
  readonly lastSeen: Day
  readonly listed: number
}

/** For an address in both ranges, or for two that count as one (a customer's /64). */
export const mergeListedDays = (a: ListedDays, b: ListedDays): ListedDays => ({
  firstSeen: a.firstSeen < b.firstSeen ? a.firstSeen : b.firstSeen,
  lastSeen: a.lastSeen > b.lastSeen ? a.lastSeen : b.lastSeen,
  listed: (a.listed | b.listed) >>> 0,
})

export function countMaskDays(mask: number): number {
  let count = 0
  for (let rest = mask >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) count++
  return count
}
