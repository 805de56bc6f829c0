// How each address turned out last: one that is reported a thousand times says no more than once.

import { readOutcomes } from './feedback-files.ts'
import type { Outcome } from './outcome.ts'

/** By address; `count` is of all outcomes. */
export async function lastOutcomes(
  state: string,
): Promise<{ readonly count: number; readonly outcomes: ReadonlyMap<string, Outcome> }> {
  const outcomes = new Map<string, Outcome>()
  const count = await readOutcomes(state, (one) => {
    const known = outcomes.get(one.address)
    if (known === undefined || known.atMs <= one.atMs) outcomes.set(one.address, one)
  })
  return { count, outcomes }
}
