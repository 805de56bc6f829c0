// When a range was listed, and how two such statements of one feed become one.

import type { Day } from '../../src/base/day.ts'

/**
 * Of one feed and range. `listed` is a mask: bit n for the day n days before the day of the build.
 */
export interface ListedDays {
  readonly firstSeen: Day
  readonly lastSeen: Day
  readonly listed: number
}

/** An address that is in both ranges, or either of two that count as one (a customer's /64). */
export function mergeListedDays(a: ListedDays, b: ListedDays): ListedDays {
  return {
    firstSeen: a.firstSeen < b.firstSeen ? a.firstSeen : b.firstSeen,
    lastSeen: a.lastSeen > b.lastSeen ? a.lastSeen : b.lastSeen,
    listed: (a.listed | b.listed) >>> 0,
  }
}

/** How many days a mask names. */
export function countMaskDays(mask: number): number {
  let count = 0
  for (let rest = mask >>> 0; rest !== 0; rest = (rest & (rest - 1)) >>> 0) count++
  return count
}
