// One bucket in the store for a rate limit over many machines, and how machines take from it ahead
// of need: the sizes that keep the promise (the bucket itself is a script, lua-scripts.ts). Each machine
// keeps a balance (local-balance.ts): what it took less what it spent.
//
//   store   level ├──── in use ────┼── free ──┤ capacity      drains at perSecond
//   machine balance  -credit ├──────── 0 ────────┤ ahead      lease = credit + ahead
//
// A batch for which the balance is too small takes all that it needs from the bucket itself, or
// nothing: the machine's balance goes back before.
//
// Guarantee: with N machines no more is granted in any time t than
//
//   burst + perSecond × t + N × lease
//
// Let X = level - sum of balances. A request adds 1 to X: it lowers one balance. Taking from the
// bucket and giving back to it leave X as it is (or raise it, where the level stops at 0). Draining
// lowers X by at most perSecond × t. So granted = X(end) - X(begin) + drained. At the end level is
// at most capacity and no balance below -credit: X <= capacity + N × credit. At the beginning level
// is at least 0 and no balance above ahead: X >= -N × ahead. Tokens on their way belong to the
// balance: a machine has one refill under way, for no more than is missing to `ahead`. A batch
// raises X at the instant at which the bucket grants it. Where capacity exceeds burst, `lease`
// holds the difference; N is at least 1.

import type { Rate } from '../../config/plan.ts'

/**
 * The part of a burst that a machine may take ahead of need, and may spend before it has asked: 1
 * in 4 each. More serves longer bursts at once, less keeps machines nearer to the limit.
 */
const rateLeaseShare = 4

/** A lease of a rate is at least what the rate allows in this time, so that few are needed. */
export const rateLeaseMs = 100

export interface TokenRequest {
  readonly keyId: string
  readonly rate: Rate
  /** Below 0: to be given back. */
  readonly want: number
  /** How many are needed, at most `want`: fewer are not taken. 0: any are good. */
  readonly need: number
}

export interface TokenGrant {
  readonly granted: number
  /** Of the bucket, after it. */
  readonly level: number
}

export interface SharedBuckets {
  readonly takeTokens: (request: TokenRequest) => Promise<TokenGrant>
  readonly down: () => boolean
}

/**
 * In requests; `lease` is what one machine may grant too much, once. A burst that comes back within
 * `rateLeaseMs` would fill up, and lose the excess, between two refills: its bucket holds what comes
 * in that time, and one more, as refills are whole requests.
 */
export function sharedBucketSizes({ perSecond, burst }: Rate) {
  const least = Math.ceil((perSecond * rateLeaseMs) / 1000)
  const capacity = Math.max(burst, least + 1)
  const ahead = Math.max(1, Math.ceil(burst / rateLeaseShare), least)
  return { capacity, credit: ahead, ahead, lease: 2 * ahead + capacity - burst }
}
