// The values of the rate limit headers, read by a parser of structured fields (RFC 9651) that knows
// nothing of ours.

import * as fc from 'fast-check'
import { parseList } from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { quotaPerMonthMax, rateBurstMax, ratePerSecondMax } from '../../../src/base/limits.ts'
import {
  rateLimitPolicyValue,
  rateLimitValue,
  retryAfterSeconds,
} from '../../../src/account/limits/ratelimit-values.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'

const august = monthOf(Date.UTC(2026, 7, 22))

/** Items as [name, parameters]. */
const read = (text: string) =>
  parseList(text).map(([value, parameters]) => [value, Object.fromEntries(parameters)])

describe('RateLimit-Policy', () => {
  it('has both policies: 50/s with burst 100 is q=100;w=2', () => {
    const rate = { perSecond: 50, burst: 100 }
    const text = rateLimitPolicyValue({ rate, quotaPerMonth: 1_000_000 }, august)
    expect(text).toBe('"rate";q=100;w=2, "quota";q=1000000;w=2678400')
    expect(read(text)).toEqual([
      ['rate', { q: 100, w: 2 }],
      ['quota', { q: 1_000_000, w: 2_678_400 }],
    ])
  })

  it('has the limits that exist', () => {
    expect(rateLimitPolicyValue({}, august)).toBe('')
    expect(rateLimitPolicyValue({ quotaPerMonth: 5 }, august)).toBe('"quota";q=5;w=2678400')
    expect(rateLimitPolicyValue({ rate: { perSecond: 3, burst: 7 } }, august)).toBe(
      '"rate";q=7;w=3',
    )
    expect(rateLimitPolicyValue({ rate: { perSecond: 9, burst: 1 } }, august)).toBe(
      '"rate";q=1;w=1',
    )
  })

  it('is a list of structured fields for every limit', () => {
    const positive = (max: number) => fc.integer({ min: 1, max })
    const rate = fc.record({
      perSecond: positive(ratePerSecondMax),
      burst: positive(rateBurstMax),
    })
    fc.assert(
      fc.property(rate, fc.maxSafeInteger(), (rate, big) => {
        const quotaPerMonth = 1 + (Math.abs(big) % quotaPerMonthMax)
        const [first, second] = read(rateLimitPolicyValue({ rate, quotaPerMonth }, august))
        expect(first).toEqual(['rate', { q: rate.burst, w: expect.any(Number) as number }])
        // 15 digits are the most that a structured field has.
        expect(second).toMatchObject(['quota', { q: Math.min(quotaPerMonth, 999_999_999_999_999) }])
      }),
    )
    expect(read(rateLimitPolicyValue({ quotaPerMonth: quotaPerMonthMax }, august))).toHaveLength(1)
  })
})

describe('RateLimit', () => {
  it('has what is left and when all of it is back', () => {
    expect(read(rateLimitValue(Float64Array.of(99, 1, 999_999, 864_000)))).toEqual([
      ['rate', { r: 99, t: 1 }],
      ['quota', { r: 999_999, t: 864_000 }],
    ])
    expect(rateLimitValue(Float64Array.of(0, 2, -1, -1))).toBe('"rate";r=0;t=2')
    expect(rateLimitValue(Float64Array.of(-1, -1, 0, 5))).toBe('"quota";r=0;t=5')
    expect(rateLimitValue(Float64Array.of(-1, -1, -1, -1))).toBe('')
  })
})

describe('Retry-After', () => {
  it('is whole seconds, at least one', () => {
    expect([0, 1, 1000, 1001, 86_400_000].map(retryAfterSeconds)).toEqual([1, 1, 1, 2, 86_400])
  })
})
