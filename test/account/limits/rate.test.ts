// The rate limit on one machine's memory: against an exact token bucket as its slow twin, at the
// edges of its 32 bits, and with clocks that are a little old.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rateBurstMax, ratePerSecondMax } from '../../../src/base/limits.ts'
import type { Rate } from '../../../src/config/plan.ts'
import * as rate from '../../../src/account/limits/rate.ts'

const never = (): number => {
  throw new Error('The clock was read for nothing.')
}

interface Bucket {
  readonly take: (atMs: number, count?: number, clock?: () => number) => boolean
  readonly pace: rate.Pace
  readonly words: Int32Array
}

/** A bucket that is full at `fromMs`. */
function bucket(limit: Rate, fromMs = 0): Bucket {
  const pace = rate.paceOf(limit)
  const words = Int32Array.of(rate.ticksAt(fromMs, pace))
  const take: Bucket['take'] = (atMs, count = 1, clock = never) =>
    rate.takeRate(words, 0, pace, rate.ticksAt(atMs, pace), count, clock)
  return { take, pace, words }
}

const limits: readonly Rate[] = [
  { perSecond: 50, burst: 100 },
  { perSecond: 1, burst: 1 },
  { perSecond: 3, burst: 7 },
  { perSecond: 5000, burst: 10_000 },
  { perSecond: ratePerSecondMax, burst: 1 },
  { perSecond: ratePerSecondMax, burst: rateBurstMax },
  { perSecond: 1, burst: rateBurstMax },
]

describe('a rate limit', () => {
  it('grants exactly the burst at once, then one for each interval', () => {
    const { take } = bucket({ perSecond: 50, burst: 100 }, 1000)
    for (let i = 0; i < 100; i += 1) expect(take(1000)).toBe(true)
    expect(take(1000)).toBe(false)
    expect(take(1019.9)).toBe(false)
    expect(take(1020.1)).toBe(true)
    expect(take(1020.1)).toBe(false)
    expect(take(1100, 5)).toBe(false)
    expect(take(1100.1, 4)).toBe(true)
  })

  it('grants all of several requests or none, and never more than a burst', () => {
    const { take } = bucket({ perSecond: 50, burst: 100 })
    expect(take(0, 101)).toBe(false)
    expect(take(0, 99)).toBe(true)
    expect(take(0, 2)).toBe(false)
    expect(take(0, 1)).toBe(true)
  })

  it.each(limits)('grants no more than $burst + $perSecond a second in any window', (limit) => {
    const gap = fc.double({ min: 0, max: (2000 * limit.burst) / limit.perSecond / 7, noNaN: true })
    const requests = fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 1000 })), { maxLength: 200 })
    const start = fc.double({ min: 0, max: 1e11, noNaN: true })
    fc.assert(
      fc.property(start, requests, (startMs, list) => {
        const { take, pace } = bucket(limit, startMs)
        const tick = 1 / pace.requestTicks + 1e-3
        let atMs = startMs
        let level = 0
        for (const [gapMs, count] of list) {
          atMs += gapMs
          level = Math.max(0, level - (gapMs * limit.perSecond) / 1000)
          const granted = take(atMs, count, () => atMs)
          const over = level + count - limit.burst
          if (granted) level += count
          expect(granted ? over <= tick : over > -tick).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })

  it.each(limits)('grants 95 % and more of $perSecond/s under steady demand', (limit) => {
    const { take } = bucket(limit, 5e8)
    while (take(5e8, Math.max(1, Math.floor(limit.burst / 10)), () => 5e8));
    while (take(5e8, 1, () => 5e8));
    let granted = 0
    // A hundred times the limit: with a burst of 1, what comes later than it could is lost for
    // good.
    const stepMs = 10 / limit.perSecond
    for (let i = 1; i <= 100_000; i += 1) if (take(5e8 + i * stepMs)) granted += 1
    expect(granted / 1000).toBeGreaterThan(0.98)
    expect(granted / 1000).toBeLessThanOrEqual(1.001)
  })

  it('is full after any idle time, but for the moment in which old time looks like the future', () => {
    const limit = { perSecond: 50, burst: 100 }
    const { take, pace, words } = bucket(limit, 0)
    const roundMs = 2 ** 32 / pace.ticksPerMs
    let partly = 0
    for (let i = 1; i <= 10_000; i += 1) {
      const atMs = (i * roundMs) / 3137
      words[0] = 0
      // Granted for sure unless it seems ahead by less than a burst.
      if (!take(atMs, 100, () => atMs)) partly += 1
    }
    // One of 42,000 instants: here none or a few of 10,000.
    expect(partly).toBeLessThanOrEqual(3)
    words[0] = 0
    expect(take(roundMs - 500, 100, never)).toBe(false)
    expect(take(roundMs - 500, 50, never)).toBe(true)
  })

  it('denies to a process that was stopped after it read the clock', () => {
    const { take } = bucket({ perSecond: 50, burst: 100 }, 0)
    const beforeMs = 1000
    for (let i = 0; i < 100; i += 1) take(60_000)
    // The slot lies 61 s ahead of the old reading; a new one shows that it is in use.
    expect(take(beforeMs, 1, () => 60_000)).toBe(false)
    // With the same picture and a new reading that says the same, the slot is an old one.
    expect(take(beforeMs, 1, () => beforeMs)).toBe(true)
  })

  // As bodies that come long after their headers were: why a batch reads the clock anew.
  it('grants more by what has come back since an old instant, and by no more', () => {
    const limit = { perSecond: 50, burst: 100 }
    for (const ageMs of [0, 100, 1000]) {
      const { take } = bucket(limit, 0)
      const nowMs = 60_000
      let granted = 0
      while (take(nowMs - ageMs)) granted += 1
      while (take(nowMs)) granted += 1
      expect(granted).toBe(limit.burst + (limit.perSecond * ageMs) / 1000)
    }
  })

  it('says what is left and when', () => {
    const limit = { perSecond: 50, burst: 100 }
    const { take, pace, words } = bucket(limit, 2000)
    for (let i = 0; i < 100; i += 1) take(2000)
    const ahead = rate.aheadTicks(words, 0, pace, rate.ticksAt(2000, pace))
    expect(rate.rateRemaining(ahead, pace)).toBe(0)
    expect(rate.rateResetMs(ahead, pace)).toBeCloseTo(2000, 0)
    expect(rate.rateRetryMs(ahead, pace, 1)).toBeCloseTo(20, 0)
    expect(rate.rateRetryMs(ahead, pace, 50)).toBeCloseTo(1000, 0)
    const later = rate.aheadTicks(words, 0, pace, rate.ticksAt(3000, pace))
    expect(rate.rateRemaining(later, pace)).toBe(50)
    expect(rate.rateRetryMs(later, pace, 50)).toBe(0)
    expect(rate.rateRetryMs(1, pace, 100)).toBe(1 / pace.ticksPerMs)
    expect(rate.aheadTicks(words, 0, pace, rate.ticksAt(9000, pace))).toBe(0)
  })
})
