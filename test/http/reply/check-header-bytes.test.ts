// The headers of an answer as bytes (src/http/reply/check-header-bytes.ts) against those as text,
// whatever remains.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { remainingIndex } from '../../../src/account/limits/ratelimit-values.ts'
import type { Limiter } from '../../../src/account/limits/limiter.ts'
import { type Service, newExchange } from '../../../src/http/exchange/exchange.ts'
import {
  contentHeaders,
  keepAliveHeader,
  checkHeaderBytes,
} from '../../../src/http/reply/check-header-bytes.ts'
import { ratelimitHeaders } from '../../../src/http/reply/ratelimit-and-retry-after.ts'
import { createRequestIds } from '../../../src/http/exchange/request-id.ts'
import { keyOf } from '../../serve/key.ts'

/** What the limiter says. */
const left = { policy: '', values: [-1, -1, -1, -1] }
const limiter = {
  policy: () => left.policy,
  remaining: (_key: unknown, _nowMs: number, out: Float64Array) => out.set(left.values),
} as unknown as Limiter
const service = { limiter, requestIds: createRequestIds() } as unknown as Service
const key = keyOf('test')

describe('headers as bytes', () => {
  const amount = fc.oneof(fc.constant(0), fc.nat(2000), fc.nat({ max: 999_999_999_999_999 }))
  const limit = fc.option(fc.tuple(amount, amount), { nil: [-1, -1] as const })

  it('say what the text says', () => {
    const exchange = newExchange(service, undefined as never)
    const number = fc.nat({ max: 36 ** 8 - 1 })
    const policy = fc.constantFrom(
      '"rate";q=100;w=2',
      '"quota";q=5;w=60',
      '"rate";q=1;w=1, "quota"',
    )
    const run = fc.record({ rate: limit, quota: limit, policy, number, own: fc.boolean() })
    fc.assert(
      fc.property(run, ({ rate, quota, policy, number, own }) => {
        const limited = rate[0] >= 0 || quota[0] >= 0
        left.policy = limited ? policy : ''
        left.values[remainingIndex.rate] = rate[0]
        left.values[remainingIndex.rateReset] = rate[1]
        left.values[remainingIndex.quota] = quota[0]
        left.values[remainingIndex.quotaReset] = quota[1]
        exchange.key = key
        exchange.clientRequestId = own ? '' : 'theirs'
        exchange.requestIdNumber = number
        const id = own ? `\r\nx-request-id: ${service.requestIds.text(number)}` : ''
        const text = Buffer.from(checkHeaderBytes(exchange, 1)).toString('latin1')
        expect(text).toBe(contentHeaders + keepAliveHeader + id + ratelimitHeaders(exchange, 1))
      }),
      { numRuns: 2000 },
    )
  })

  it('say it while they count down, through every change of length', () => {
    const exchange = newExchange(service, undefined as never)
    exchange.key = key
    exchange.clientRequestId = 'theirs'
    left.policy = '"rate";q=1000;w=2, "quota";q=1000000;w=60'
    for (let step = 0; step <= 1200; step++) {
      left.values = [1000 - (step % 7), step % 3, 1101 - step, 100 - (step >> 4)]
      if (step === 600) left.values = [-1, -1, 501, 63]
      const text = Buffer.from(checkHeaderBytes(exchange, 1)).toString('latin1')
      expect(text).toBe(contentHeaders + keepAliveHeader + ratelimitHeaders(exchange, 1))
    }
  })
})
