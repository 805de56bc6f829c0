// Whether the size of a feed, its level, follows from the sizes it had. Pure. A level that fell to
// half or rose to three times the median of the last five snapshots is held back, until the feed
// has said so on three days: then it is the new level, and what was before no longer counts.
//
//   300 300 300 300 300 │ 26 held │ 25 held │ 26 accepted │ 27 passes (against 26)
//   300 300 300 300 300 │ 26 held │ 300 passes, and 26 is forgotten

import type { Day } from '../../src/base/day.ts'

/** Snapshots that the median is of. */
export const pastSizesMax = 5

/** Days, this one included, after which a new level is believed. */
export const acceptedAfterDays = 3

/** A list of four that becomes one has lost three lines, not its mind. */
const changeMin = 5

/** The level of a snapshot that was held back, by the day on which it was fetched. */
export interface DatedSize {
  readonly day: Day
  readonly level: number
}

export type FeedSizeJudgement =
  | { readonly kind: 'passes' }
  /** It was said for three days. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'held'; readonly reason: string; readonly held: readonly DatedSize[] }

export function judgeFeedSize(of: {
  readonly level: number
  /** The day of the fetch. */
  readonly day: Day
  /** Of the last snapshots that passed. */
  readonly past: readonly number[]
  /** Those held back since then, oldest first. */
  readonly held: readonly DatedSize[]
}): FeedSizeJudgement {
  const { level, day, past } = of
  const base = lowerMedian(past)
  const change = base === undefined ? undefined : changeOf(level, base)
  if (base === undefined || change === undefined) return { kind: 'passes' }
  const before = of.held.filter((held) => held.day < day)
  const run = [...before, { day, level }].slice(-acceptedAfterDays)
  const consistent = run.every((a) => run.every((b) => changeOf(a.level, b.level) === undefined))
  if (run.length === acceptedAfterDays && consistent) return { kind: 'accepted' }
  const reason =
    `it ${change}: ${level} entries, where the median of its last ` +
    `${past.length === 1 ? 'snapshot' : `${past.length} snapshots`} is ${base}`
  return { kind: 'held', reason, held: run }
}

/** How far a level is off another, in words; `undefined` within the bounds. */
function changeOf(level: number, base: number): string | undefined {
  if (Math.abs(level - base) < changeMin) return undefined
  if (level * 2 <= base) return 'shrank by half'
  return level >= base * 3 ? 'grew threefold' : undefined
}

/** The middle one; of an even number the lower of the two, for a level is a whole number. */
export function lowerMedian(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}
