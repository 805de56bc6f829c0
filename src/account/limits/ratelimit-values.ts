// The values of RateLimit-Policy, RateLimit and Retry-After: structured fields (RFC 9651) by
// draft-ietf-httpapi-ratelimit-headers-10.
//
//   RateLimit-Policy: "rate";q=100;w=2, "quota";q=1000000;w=2678400
//   RateLimit:        "rate";r=99;t=1, "quota";r=999999;t=864000
//
// q is what a window allows, w its seconds: for a rate the burst and its recovery, rounded up; for
// a quota the month. r is what is left, t the seconds until all is back.

import type { EffectiveLimits } from '../keys/key-limits.ts'
import { type Month, monthSeconds } from './quota-period.ts'

/** The largest structured-field integer. */
const integerMax = 999_999_999_999_999

/** Indexes of what `remaining` writes; -1 for a missing limit. */
export const remainingIndex = { rate: 0, rateReset: 1, quota: 2, quotaReset: 3 } as const
export const remainingLength = 4

/** `''` for a key without limits, which gets no such header. */
export function rateLimitPolicyValue(
  { rate, quotaPerMonth }: EffectiveLimits,
  month: Month,
): string {
  const policies: string[] = []
  if (rate !== undefined) {
    policies.push(`"rate";q=${rate.burst};w=${Math.ceil(rate.burst / rate.perSecond)}`)
  }
  if (quotaPerMonth !== undefined) {
    policies.push(`"quota";q=${Math.min(quotaPerMonth, integerMax)};w=${monthSeconds(month)}`)
  }
  return policies.join(', ')
}

export function rateLimitValue(remaining: Float64Array): string {
  const rate = remaining[remainingIndex.rate]!
  const quota = remaining[remainingIndex.quota]!
  const first = rate < 0 ? '' : `"rate";r=${rate};t=${remaining[remainingIndex.rateReset]!}`
  if (quota < 0) return first
  const second = `"quota";r=${quota};t=${remaining[remainingIndex.quotaReset]!}`
  return first === '' ? second : `${first}, ${second}`
}

export const ceilSeconds = (ms: number): number => Math.ceil(ms / 1000)

/** At least 1: a client that waits 0 retries at once. */
export const retryAfterSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))
