// The bucket of a rate limit that many machines share, at its edges: its sizes for slow and quick
// limits, and a clock that stands still or goes back.

import { describe, expect, it } from 'vitest'
import { sharedBucketSizes } from '../../../../src/account/limits/shared-bucket.ts'
import { takeFromBucket } from './take-from-bucket.ts'

describe('a shared bucket', () => {
  it.each([
    // A quarter of the burst ahead, and as much on credit.
    [
      { perSecond: 50, burst: 100 },
      { capacity: 100, credit: 25, ahead: 25, lease: 50 },
    ],
    [
      { perSecond: 1, burst: 1 },
      { capacity: 2, credit: 1, ahead: 1, lease: 3 },
    ],
    // What comes back in 100 ms where that is more.
    [
      { perSecond: 1000, burst: 1 },
      { capacity: 101, credit: 100, ahead: 100, lease: 300 },
    ],
  ])('of %j has these sizes', (rate, sizes) => {
    expect(sharedBucketSizes(rate)).toEqual(sizes)
  })

  it('drains by the time that has passed, and by none where the clock went back', () => {
    const asked = { perSecond: 1_000_000, capacity: 100, want: 100, need: 0 }
    const full = { level: 100, atUs: 1000 }
    const grantedAt = (nowUs: number): number => takeFromBucket(full, nowUs, asked).taking.granted
    expect([1010, 1001, 1000, 999, 0].map(grantedAt)).toEqual([10, 1, 0, 0, 0])
  })
})
