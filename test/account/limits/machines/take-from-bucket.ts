// The slow twin of the script `take` (src/account/stores/redis/lua-scripts.ts), for simulations.

import type { TokenGrant } from '../../../../src/account/limits/shared-bucket.ts'

/** A bucket as the store keeps it. */
export interface BucketState {
  readonly level: number
  readonly atUs: number
}

export function takeFromBucket(
  bucket: BucketState,
  nowUs: number,
  asked: {
    readonly perSecond: number
    readonly capacity: number
    readonly want: number
    readonly need: number
  },
): { readonly bucket: BucketState; readonly taking: TokenGrant } {
  const { perSecond, capacity, want, need } = asked
  const passedUs = Math.max(0, nowUs - bucket.atUs)
  const level = Math.max(0, bucket.level - (passedUs * perSecond) / 1_000_000)
  const free = Math.floor(capacity - level)
  const some = want >= 0 ? Math.max(0, Math.min(want, free)) : Math.max(want, -level)
  const granted = want >= 0 && some < need ? 0 : some
  const after = level + granted
  const kept = granted === 0 && nowUs >= bucket.atUs ? bucket : { level: after, atUs: nowUs }
  return { bucket: kept, taking: { granted, level: after } }
}
