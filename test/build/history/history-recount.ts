// What files of days say of a range, counted day by day: the slow twin of reading a history.

import type { FeedHistory } from '../../../build/history/read-history.ts'
import type { Day } from '../../../src/base/day.ts'
import { type Range, formatRange } from '../../../src/ip/range.ts'

/** Listings by day; days without one have no snapshot. */
export type Listings = ReadonlyMap<Day, readonly Range[]>

export const covers = (outer: Range, inner: Range): boolean =>
  outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last

/** What is true of every address of `of`: the slow twin, day by day. */
export function recount(listings: Listings, of: Range, asOf: Day) {
  const days = [...listings.keys()].filter((at) => at <= asOf).sort((a, b) => a - b)
  const seen = days.filter((at) => listings.get(at)?.some((outer) => covers(outer, of)))
  const recent = (at: Day): boolean => asOf - at < 30
  return {
    firstSeen: seen[0],
    lastSeen: seen.at(-1),
    daysListed: seen.filter(recent).length,
    daysObserved: days.filter(recent).length,
  }
}

/** Every row of the history, by its text. */
export function rowsOf(history: FeedHistory | undefined) {
  return new Map([...(history?.lapsed() ?? [])].map((row) => [formatRange(row.range), row]))
}
