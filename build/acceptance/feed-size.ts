// Whether the size of a feed follows from the sizes it had. Pure. A snapshot that fell to half or
// rose to three times the median of the last five is held back, until the feed has said so on three
// days: from then on it is measured by that size, and the sizes before no longer count.
//
//   300 300 300 300 300 │ 26 held │ 25 held │ 26 accepted │ 27 passes (against 26)
//   300 300 300 300 300 │ 26 held │ 300 passes, and 26 is forgotten

import type { Day } from '../../src/base/day.ts'

/** Snapshots that the median is of. */
export const pastSizesMax = 5

/** Days, this one included, after which a new size is believed. */
export const acceptedAfterDays = 3

/** Smaller changes pass: a list of four that becomes one has lost three lines only. */
const changeMin = 5

/** How many distinct ranges and ASNs a snapshot had. */
export interface DatedSize {
  readonly day: Day
  readonly size: number
}

export type FeedSizeJudgement =
  | { readonly kind: 'passes' }
  /** The feed has had this size on three days. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'held'; readonly reason: string; readonly held: readonly DatedSize[] }

export function judgeFeedSize(of: {
  readonly size: number
  /** The day of the fetch. */
  readonly day: Day
  /** Of the last snapshots that passed. */
  readonly past: readonly number[]
  /** Of those held back since then, by the days of their fetches, oldest first. */
  readonly held: readonly DatedSize[]
}): FeedSizeJudgement {
  const { size, day, past } = of
  const base = lowerMedian(past)
  const change = base === undefined ? undefined : changeOf(size, base)
  if (base === undefined || change === undefined) return { kind: 'passes' }
  const before = of.held.filter((held) => held.day < day)
  const run = [...before, { day, size }].slice(-acceptedAfterDays)
  const consistent = run.every((a) => run.every((b) => changeOf(a.size, b.size) === undefined))
  if (run.length === acceptedAfterDays && consistent) return { kind: 'accepted' }
  const reason =
    `it ${change}: ${size} entries, where the median of its last ` +
    `${past.length === 1 ? 'snapshot' : `${past.length} snapshots`} is ${base}`
  return { kind: 'held', reason, held: run }
}

/** How far a size is off another, in words; `undefined` where it may be. */
function changeOf(size: number, base: number): string | undefined {
  if (Math.abs(size - base) < changeMin) return undefined
  if (size * 2 <= base) return 'shrank by half'
  return size >= base * 3 ? 'grew threefold' : undefined
}

/** The middle one; of an even number the lower of the two, for a size is a whole number. */
export function lowerMedian(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}
