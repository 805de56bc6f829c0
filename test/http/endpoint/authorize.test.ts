// What a batch spends of its key's rate, at the exact sizes: a batch of the whole burst is let in,
// one address more is refused for good, before anything of it is spent.

import { expect, it } from 'vitest'
import type { HttpResponse } from 'uWebSockets.js'
import type { Authenticated } from '../../../src/account/keyring.ts'
import { rateResults } from '../../../src/account/limits/rate.ts'
import { addressesPerRequest } from '../../../src/api/public-port.ts'
import { spendBatchRate } from '../../../src/http/endpoint/authorize.ts'
import { newExchange, type Service } from '../../../src/http/exchange/exchange.ts'

it.each([
  [1, []],
  [addressesPerRequest, []],
  [addressesPerRequest + 1, [1]],
  [3 * addressesPerRequest, [2]],
])('lets a batch of %i in for the rate that it costs', (count, expected) => {
  const spent: number[] = []
  const limiter = {
    spendRate: (_key: object, requests: number) => {
      spent.push(requests)
      return rateResults.granted
    },
  }
  const exchange = newExchange({ limiter } as unknown as Service, {} as HttpResponse)
  const key = { limits: { rate: { perSecond: 3, burst: 3 } } } as Authenticated
  let isDone = false
  spendBatchRate(exchange, key, { count, param: 'ips' }, () => (isDone = true))
  expect([isDone, spent]).toEqual([true, expected])
})

it('refuses a batch of one address more than the burst covers, and spends nothing', () => {
  const service = { limiter: { spendRate: () => expect.unreachable() } } as unknown as Service
  const exchange = newExchange(service, {} as HttpResponse)
  const key = { limits: { rate: { perSecond: 3, burst: 3 } } } as Authenticated
  exchange.key = key
  // The answer needs a socket, which there is not; what it says is in batch-endpoint.server.test.ts.
  const spend = (): void =>
    spendBatchRate(exchange, key, { count: 3 * addressesPerRequest + 1, param: 'ips' }, () =>
      expect.unreachable(),
    )
  expect(spend).toThrow(TypeError)
  expect(exchange.rateCost).toBe(4)
})
