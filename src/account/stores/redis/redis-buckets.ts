// The buckets of rate limits in the store for many machines: the script `take` on one hash a key
// and limit. The store's own clock drains them. Should it jump ahead, a bucket drains too early, by
// at most a burst; should it jump back, nothing drains for that jump, and on from there.

import type { SharedBuckets } from '../../limits/shared-bucket.ts'
import { sharedBucketSizes } from '../../limits/shared-bucket.ts'
import type { StoreCircuitBreaker } from './store-circuit-breaker.ts'
import { takeTokensScript } from './lua-scripts.ts'

/**
 * The buckets behind a circuit breaker. What the store grants to an asker that has given up drains
 * away.
 */
export function createRedisBuckets(breaker: StoreCircuitBreaker): SharedBuckets {
  return {
    takeTokens: async ({ keyId, rate, want, need }) => {
      const name = `iprisk:{${keyId}}:rate:${rate.perSecond}:${rate.burst}`
      const args = [rate.perSecond, sharedBucketSizes(rate).capacity, want, need]
      const [granted, level] = (await breaker.runScript(takeTokensScript, [name], args)) as [
        number,
        string,
      ]
      return { granted, level: Number(level) }
    },
    down: breaker.down,
  }
}
