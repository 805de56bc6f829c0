// From a feed's tally to its weight: a Beta prior by assurance, with confirmed entries as successes
// and contradicted ones as failures.
//
//   weight = (a + E·c) / (a + b + E·c + E·x)
//   a, b   the prior
//   c      share confirmed beyond chance: (confirmed − chance) / (1 − chance), at least 0
//   x      share contradicted, where the model does not settle it
//   E      entries that count: 40·n / (n + 40), so that no list buys certainty by its length alone
//          (its errors come in whole ranges and networks, not one by one)
//
// Where callers reported outcomes, they are one more voice beside all other feeds together: E·c and
// E·x of the addresses reported (outcome-tally.ts), with 10 in place of 40.
//
// Entries that no other feed confirms and nothing contradicts are no evidence either way. Where
// that is all there is (E·c + E·x below 1), nothing was measured, and the weight that was set by
// hand stands.
//
// Limits: an operator's own list and the Tor consensus stay 1, once there is a file of theirs; a
// weak feed ends at 0.65, so that its word alone, however often right, never takes an address of a
// hoster's range to the score 25 from which operators ask (40 · 0.65 · 0.9 = 23.4): pooled over a
// list, confirmation by others says nothing of the entries that nobody else has.

import type { Feed } from '../../../build/catalogue/feed.ts'
import { assurancePriors, publisherAssurance } from '../../../build/evidence/source-list.ts'
import { type FeedTally, noFeedTally } from './feed-tally.ts'
import { type OutcomeTally, outcomeShares } from './outcome-tally.ts'

export const countedEntriesMax = 40
/** A quarter: one voice of the four or so that speak of a kind. */
export const countedOutcomesMax = 10
const evidenceMin = 1
export const weakWeightMax = 0.65

export interface MeasuredWeight {
  /** By the formula, two decimals. */
  readonly measured: number
  /** What the catalogue is to say. */
  readonly weight: number
  /** Why it is not the measured one; '' where it is. */
  readonly why: string
}

type WeighedFeed = Pick<Feed, 'assurance' | 'provider' | 'weight'>

export function measureWeight(
  feed: WeighedFeed,
  tally: FeedTally = noFeedTally,
  outcomes?: OutcomeTally,
): MeasuredWeight {
  const standing = publisherAssurance(feed)
  const { successes, failures } = assurancePriors[standing]
  const [byFeeds, byCallers] = [evidenceOf(tally), evidenceOfOutcomes(outcomes)]
  const yes = byFeeds.yes + byCallers.yes
  const no = byFeeds.no + byCallers.no
  const measured = round((successes + yes) / (successes + yes + failures + no))
  const unmeasured = { measured, weight: feed.weight, why: 'nothing measured' }
  // Nobody has fetched it, and no caller speaks of what it lists.
  if (tally.entries === 0 && byCallers.yes + byCallers.no === 0) return unmeasured
  if (standing === 'own') return { measured, weight: 1, why: 'an operator’s own list' }
  if (yes + no < evidenceMin) return unmeasured
  if (standing === 'weak' && measured > weakWeightMax) {
    return { measured, weight: weakWeightMax, why: 'the limit of weak feeds' }
  }
  return { measured, weight: measured, why: '' }
}

/** E·c and E·x. */
function evidenceOf({ entries, confirmed, contradicted, chance }: FeedTally): {
  readonly yes: number
  readonly no: number
} {
  if (entries === 0) return { yes: 0, no: 0 }
  const counting = (countedEntriesMax * entries) / (entries + countedEntriesMax)
  const beyondChance = Math.max(0, (confirmed / entries - chance) / (1 - chance))
  return { yes: counting * beyondChance, no: counting * (contradicted / entries) }
}

function evidenceOfOutcomes(tally: OutcomeTally | undefined): {
  readonly yes: number
  readonly no: number
} {
  const { confirmed, contradicted } = outcomeShares(tally)
  const addresses = tally?.addresses ?? 0
  const counting = (countedOutcomesMax * addresses) / (addresses + countedOutcomesMax)
  return { yes: counting * confirmed, no: counting * contradicted }
}

function round(weight: number): number {
  return Math.round(weight * 100) / 100
}
