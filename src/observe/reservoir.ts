// A sample of a stream of bounded size: the checks with the lowest lots of those that are young
// enough. Whoever draws a lot that is not below `below` need not offer it.
//
// The one catch: where checks grow too old faster than new ones come, the newer ones have a better
// chance for a while, since older ones with higher lots are gone already.
//
// Invariant: at most `size` checks, and those on the way to the next cut.

import type { Day } from '../base/day.ts'
import type { SampledCheck } from './sample-file.ts'

export interface Reservoir {
  /** Takes those whose lots are low enough. */
  readonly add: (checks: readonly SampledCheck[]) => void
  /** Lots from here on do not matter; 1 while there is room. */
  readonly below: () => number
  /** Forgets the checks of days before. */
  readonly forgetBefore: (day: Day) => void
  /** Those that it holds, at most `size`. */
  readonly checks: () => readonly SampledCheck[]
}

/** It is cut when it holds so much more than it should: sorting then costs little a check. */
const slack = 1.25

export function createReservoir(size: number): Reservoir {
  let held: SampledCheck[] = []
  let below = 1
  const cut = (): void => {
    if (held.length <= size) return
    held.sort((a, b) => a.lot - b.lot)
    held.length = size
    below = held[size - 1]!.lot
  }
  return {
    below: () => below,
    add: (checks) => {
      for (const one of checks) if (one.lot < below) held.push(one)
      if (held.length >= size * slack) cut()
    },
    forgetBefore: (day) => {
      const young = held.filter((one) => one.day >= day)
      if (young.length === held.length) return
      held = young
      if (held.length < size) below = 1
    },
    checks: () => {
      cut()
      return held
    },
  }
}
