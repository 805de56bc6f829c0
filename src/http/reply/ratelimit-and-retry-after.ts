// The rate limit headers of an answer (contract 3.12: order and headers): RateLimit-Policy and
// RateLimit on every answer to a known key, Retry-After if a limit was exceeded.

import { performance } from 'node:perf_hooks'
import {
  remainingLength,
  rateLimitValue,
  retryAfterSeconds,
} from '../../account/limits/ratelimit-values.ts'
import type { ApiErrorCode } from '../../api/api-error.ts'
import type { Exchange } from '../exchange/exchange.ts'

const remaining = new Float64Array(remainingLength)

/**
 * Header lines, each after a line end; `''` without limits or key. A rate without a slot in a full
 * rate file is left out: its remainder is unknown.
 */
export function ratelimitHeaders({ key, service }: Exchange, nowMs: number): string {
  if (key === undefined) return ''
  const { limiter } = service
  const policy = limiter.policy(key.allowance)
  if (policy === '') return ''
  limiter.remaining(key.allowance, nowMs, remaining)
  const left = rateLimitValue(remaining)
  return `\r\nratelimit-policy: ${policy}${left === '' ? '' : `\r\nratelimit: ${left}`}`
}

const unavailableSeconds = 5

/** In seconds; `undefined` where it has none. */
export function retryAfter(exchange: Exchange, code: ApiErrorCode): number | undefined {
  const { key, service, rateCost } = exchange
  if (code === 'upstream_unavailable') return unavailableSeconds
  if (key === undefined) return undefined
  const { limiter } = service
  const nowMs = performance.now()
  if (code === 'rate_limit_exceeded') {
    return retryAfterSeconds(limiter.retryMs(key.allowance, 'rate_exceeded', nowMs, rateCost))
  }
  if (code === 'api_quota_exceeded') {
    return retryAfterSeconds(limiter.retryMs(key.allowance, 'quota_exceeded', nowMs, 1))
  }
  return undefined
}
