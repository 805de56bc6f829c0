// What an answer says of limits of which nothing can be known: a key that found no place in a full
// rate file. All else of the headers is limits.server.test.ts, on a real server.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLimiter } from '../../../src/account/limits/limiter.ts'
import { rateResults } from '../../../src/account/limits/rate.ts'
import { noLeaseFile } from '../../account/limits/no-lease-file.ts'
import { openRateFile } from '../../../src/account/limits/rate-file.ts'
import type { Exchange } from '../../../src/http/exchange/exchange.ts'
import { ratelimitHeaders } from '../../../src/http/reply/ratelimit-and-retry-after.ts'

it('states no empty RateLimit for a rate that is not kept', () => {
  const state = mkdtempSync(join(tmpdir(), 'iprisk-limit-'))
  const rateFile = openRateFile(state, { boot: 'boot', size: { slots: 4, keysMax: 1 } })
  const limiter = createLimiter({
    rateFile,
    leaseFile: noLeaseFile(),
    ledger: {
      lease: async () => ({ granted: 0, remaining: 0 }),
      returnUnits: async () => undefined,
      charge: async () => undefined,
      usage: async () => new Map(),
      down: () => false,
      close: async () => undefined,
    },
    machineOffsetMs: 0,
    now: () => 1000,
    wall: () => Date.UTC(2026, 7, 22),
    onTrouble: () => undefined,
    onRecovery: () => undefined,
  })
  const rate = { perSecond: 1, burst: 2 }
  const headersOf = (keyId: string, limits: object): readonly [number, string] => {
    const allowance = limiter.bind(keyId, { rate, ...limits })
    const admitted = limiter.spendRate(allowance, 1, 1000)
    const exchange = { key: { allowance }, service: { limiter } } as unknown as Exchange
    return [admitted, ratelimitHeaders(exchange, 1000)]
  }
  const rateAlone = '\r\nratelimit-policy: "rate";q=2;w=2'
  expect(headersOf('first', {})).toEqual([
    rateResults.granted,
    `${rateAlone}\r\nratelimit: "rate";r=1;t=1`,
  ])
  expect(headersOf('second', {})).toEqual([rateResults.unavailable, rateAlone])
  const [, both] = headersOf('third', { quotaPerMonth: 5 })
  expect(both).toMatch(/"quota";q=5;w=2678400\r\nratelimit: "quota";r=5;t=\d+$/)
  rateFile.close()
  rmSync(state, { recursive: true })
})
