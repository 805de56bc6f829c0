// Days of evidence: the newest one, and the share of recent days (contract 3.5).

import type { Day } from '../../base/day.ts'
import type { CountedEvidence } from './weigh-evidence.ts'

/** Days that the share is taken of at least, so that one day of one snapshot is not 100 percent. */
export const daysObservedMin = 7

/**
 * Listed days over max(7, days with a snapshot), in percent, two decimals; of several feeds the
 * highest. Feeds that publish a rolling window do not count: a window of five days lists an address
 * for five days that was seen on one. 0 where no other feed lists it.
 */
export function percentDaysSeen(counted: readonly CountedEvidence[]): number {
  let highest = 0
  for (const { evidence } of counted) {
    if (evidence.voice.rolling) continue
    const share = evidence.daysListed / Math.max(daysObservedMin, evidence.daysObserved)
    if (share > highest) highest = share
  }
  return Math.round(Math.min(1, highest) * 10_000) / 100
}

/** The newest day on which one of them was listed. `counted` is not empty. */
export function lastSeenDay(counted: readonly CountedEvidence[]): Day {
  let newest = -Infinity
  for (const { lastSeen } of counted) if (lastSeen > newest) newest = lastSeen
  return newest as Day
}
