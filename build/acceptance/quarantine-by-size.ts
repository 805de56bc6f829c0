// Judges a feed's size by its past sizes. A snapshot that fell to half or rose to three times the
// median of the last five is held back, unless the new size has lasted three days.
//
//   300 300 300 300 300 │ 26 held │ 25 held │ 26 accepted │ 27 passes (against 26)
//   300 300 300 300 300 │ 26 held │ 300 passes, and 26 is forgotten

import type { Day } from '../../src/base/day.ts'

export const pastSizesMax = 5

/** Days, this one included, after which a new size is accepted. */
export const acceptedAfterDays = 3

/** Smaller changes pass: a list of four that becomes one has lost only three lines. */
const changeMin = 5

/** Distinct ranges and ASNs of a snapshot. */
export interface DatedSize {
  readonly day: Day
  readonly size: number
}

export type FeedSizeJudgement =
  | { readonly kind: 'passes' }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'held'; readonly reason: string; readonly held: readonly DatedSize[] }

export function judgeFeedSize(of: {
  readonly size: number
  /** The day of the fetch. */
  readonly day: Day
  /** Sizes of the last snapshots that passed. */
  readonly past: readonly number[]
  /** Sizes held back since, oldest first. */
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

/** How a size differs from another, in words; `undefined` if the difference is allowed. */
function changeOf(size: number, base: number): string | undefined {
  if (Math.abs(size - base) < changeMin) return undefined
  if (size * 2 <= base) return 'shrank by half'
  return size >= base * 3 ? 'grew threefold' : undefined
}

/** The middle value, or the lower of the middle two. */
export function lowerMedian(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}
