// How long entries of a feed live, from its history: the Kaplan–Meier estimate, because most lives
// are not seen whole.
//
//   first snapshot ┤                                  ├ newest snapshot
//        ─────────────────┤          left out: nobody saw it begin
//                    ├────────┤      seen whole: from its first to its last day
//                        ├───────────────────── ─ ─   still listed: counted as alive that long
//
// A life is from the first to the last day listed, gaps included, in days (a single day is 1). An
// entry whose last day is the feed's newest snapshot may live on: its life is censored there.

import type { Day } from '../../../src/base/day.ts'

export interface EntryLifetime {
  readonly firstSeen: Day
  readonly lastSeen: Day
}

export interface LifetimeEstimate {
  /** Entries whose beginning was seen. */
  readonly begun: number
  /** Of those, entries that are still listed. */
  readonly censored: number
  /** `undefined` where less than half of them ended while anybody looked. */
  readonly medianDays: number | undefined
  /** The longest life that could have been seen. */
  readonly daysMax: number
  /** Share of entries that live longer than n days, at n = index; begins with 1. */
  readonly survival: readonly number[]
}

/** `undefined` where a feed has too few days or no entry that began on one of them. */
export function estimateLifetime(
  lives: Iterable<EntryLifetime>,
  days: readonly Day[],
): LifetimeEstimate | undefined {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined || first === last) return undefined
  const daysMax = last - first
  const ended = Array.from({ length: daysMax + 1 }, () => 0)
  const stopped = Array.from({ length: daysMax + 1 }, () => 0)
  let begun = 0
  let censored = 0
  for (const { firstSeen, lastSeen } of lives) {
    if (firstSeen <= first || lastSeen > last) continue
    const length = lastSeen - firstSeen + 1
    begun++
    if (lastSeen === last) {
      censored++
      stopped[length] = (stopped[length] ?? 0) + 1
    } else ended[length] = (ended[length] ?? 0) + 1
  }
  if (begun === 0) return undefined
  const survival = [1]
  let atRisk = begun
  let alive = 1
  for (let length = 1; length <= daysMax; length++) {
    if (atRisk > 0) alive *= 1 - (ended[length] ?? 0) / atRisk
    survival.push(alive)
    atRisk -= (ended[length] ?? 0) + (stopped[length] ?? 0)
  }
  // The products of many factors miss an exact half by their last bits.
  const median = survival.findIndex((share) => share <= 0.5 + 1e-9)
  return { begun, censored, medianDays: median < 0 ? undefined : median, daysMax, survival }
}
