// A rate limit over many machines: a bucket in the store (a script, lua-scripts.ts), from which
// machines take ahead of need into a balance (local-balance.ts). Here are the sizes that keep the
// guarantee.
//
//   store   level ├──── in use ────┼── free ──┤ capacity      drains at perSecond
//   machine balance  -credit ├──────── 0 ────────┤ ahead      lease = credit + ahead
//
// A batch larger than the balance takes all it needs from the bucket, or nothing; the machine first
// returns its balance.
//
// Guarantee: with N machines no more is granted in any time t than
//
//   burst + perSecond × t + N × lease
//
// Let X = level - sum of balances. A request adds 1 to X: it lowers one balance. Taking from and
// returning to the bucket keep X (or raise it, where the level stops at 0). Draining lowers X by at
// most perSecond × t. So granted = X(end) - X(begin) + drained. At the end level <= capacity and
// balances >= -credit: X <= capacity + N × credit. At the beginning level >= 0 and balances <=
// ahead: X >= -N × ahead. Tokens in transit belong to the balance: a machine has one refill in
// flight, up to `ahead`. A batch raises X when the bucket grants it. If capacity exceeds burst,
// `lease` holds the difference; N >= 1.

import type { Rate } from '../../config/plan.ts'

/**
 * Share of a burst that a machine may take ahead of need, and may spend before asking. More serves
 * longer bursts at once, less keeps machines nearer to the limit.
 */
const rateLeaseShare = 4

/** A lease covers at least this time. */
export const rateLeaseMs = 100

export interface TokenRequest {
  readonly keyId: string
  readonly rate: Rate
  /** Negative: to be returned. */
  readonly want: number
  /** What is needed, at most `want`; fewer are not taken. 0: any are useful. */
  readonly need: number
}

export interface TokenGrant {
  readonly granted: number
  /** The bucket's, afterwards. */
  readonly level: number
}

export interface SharedBuckets {
  readonly takeTokens: (request: TokenRequest) => Promise<TokenGrant>
  readonly down: () => boolean
}

/**
 * In requests; `lease` is what one machine may overshoot, once. A burst that recovers within
 * `rateLeaseMs` would fill up between refills and lose the excess, so its bucket holds what comes
 * in that time, plus one.
 */
export function sharedBucketSizes({ perSecond, burst }: Rate) {
  const least = Math.ceil((perSecond * rateLeaseMs) / 1000)
  const capacity = Math.max(burst, least + 1)
  const ahead = Math.max(1, Math.ceil(burst / rateLeaseShare), least)
  return { capacity, credit: ahead, ahead, lease: 2 * ahead + capacity - burst }
}
