// What an answer says of its key's limits (contract 3.12): RateLimit-Policy and RateLimit on every
// answer to a known key, Retry-After where one was exceeded. The values are ours, so that they may
// go out in the one `writeHeader` call of reply.ts.

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
 * Header lines, each behind a line end, as of `nowMs`; `''` for a key without limits, or no key.
 * A rate that has no place in a full rate file is left out, because its rest is unknown.
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

/** How long a client should wait after a 503 before it tries again. */
const unavailableSeconds = 5

/** The value of Retry-After in seconds for an error; `undefined` where it has none. */
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
