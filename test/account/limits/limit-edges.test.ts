// What a limiter does at the edges that simulations rarely meet: a full rate file is reported once,
// a store that is back is asked at once, and a closed limiter grants nothing that nobody would charge.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createLimiter, type LimiterOptions } from '../../../src/account/limits/limiter.ts'
import { noLeaseFile } from '../../../src/account/limits/lease-file.ts'
import { quotaResults } from '../../../src/account/limits/quota.ts'
import { rateResults } from '../../../src/account/limits/rate.ts'
import { openRateFile } from '../../../src/account/limits/rate-file.ts'
import { createSharedLimiter } from '../../../src/account/limits/shared-limiter.ts'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { quotaRecheckMs } from '../../../src/base/limits.ts'

const state = mkdtempSync(join(tmpdir(), 'iprisk-limit-edges-'))
afterAll(() => rmSync(state, { recursive: true }))

const rate = { perSecond: 10, burst: 20 }

/** A store that a test takes away, and the troubles that were reported. */
function newParts(name: string) {
  const store = { down: false, nowMs: 1000, leases: 0 }
  const troubles: unknown[] = []
  const away = (): never => {
    const message = 'The store is away.'
    throw new IpriskError({ code: 'store_unreachable', message, fault: 'environment' })
  }
  const options: LimiterOptions = {
    rateFile: openRateFile(join(state, name), { boot: 'boot', size: { slots: 8, keysMax: 1 } }),
    leaseFile: noLeaseFile(),
    ledger: {
      lease: async ({ want }) => {
        store.leases += 1
        return store.down ? away() : { granted: want, remaining: 1000 }
      },
      returnUnits: async () => undefined,
      charge: async () => undefined,
      usage: async () => new Map(),
      down: () => store.down,
      close: async () => undefined,
    },
    machineOffsetMs: 0,
    now: () => store.nowMs,
    wall: () => Date.UTC(2026, 8, 2) + store.nowMs,
    onTrouble: (error) => troubles.push((error as IpriskError).code),
    onRecovery: () => undefined,
  }
  const buckets = {
    takeTokens: async () => ({ granted: 0, level: 0 }),
    down: () => store.down,
  }
  return { store, troubles, options, buckets }
}

describe('a full rate file', () => {
  it('refuses the keys that are not in it, and is reported once', () => {
    const { options, troubles } = newParts('full')
    const limiter = createLimiter(options)
    const [known, other] = ['known', 'other'].map((id) => limiter.bind(id, { rate }))
    expect(limiter.spendRate(known!, 1, 1000)).toBe(rateResults.granted)
    expect(troubles).toEqual([])
    for (let tries = 0; tries < 3; tries += 1) {
      expect(limiter.spendRate(other!, 1, 1000)).toBe(rateResults.unavailable)
      expect(troubles).toEqual(['rates_full'])
    }
    expect(limiter.spendRate(known!, 1, 1000)).toBe(rateResults.granted)
  })

  it('is reported once of machines that share their limits, too', () => {
    const { options, troubles, buckets } = newParts('full-shared')
    const limiter = createSharedLimiter({ ...options, buckets, policy: 'refuse' })
    const spent = ['a', 'b', 'c', 'd'].map((id) =>
      limiter.spendRate(limiter.bind(id, { rate }), 1, 1000),
    )
    expect(spent.at(-1)).toBe(rateResults.unavailable)
    expect(troubles).toEqual(['rates_full'])
  })
})

describe('a store for many machines', () => {
  it('is asked at once when it is back, though the last lease failed just before', async () => {
    const { store, options, buckets } = newParts('back')
    const limiter = createSharedLimiter({ ...options, buckets, policy: 'refuse' })
    const key = limiter.bind('k', { quotaPerMonth: 1000 })
    store.down = true
    const spend = (): number => limiter.spendQuota(key, 1, store.nowMs)
    expect(spend()).toBe(quotaResults.pending)
    await new Promise<void>((resolve) => limiter.whenLeased(key, resolve))
    expect(spend()).toBe(quotaResults.unavailable)
    store.down = false
    store.nowMs += quotaRecheckMs / 10
    expect(spend()).toBe(quotaResults.pending)
    await new Promise<void>((resolve) => limiter.whenLeased(key, resolve))
    expect([spend(), store.leases]).toEqual([quotaResults.granted, 2])
  })

  it('is owed nothing by a limiter that is closed, for nobody would charge it', async () => {
    const { store, options, buckets } = newParts('closed')
    const limiter = createSharedLimiter({ ...options, buckets, policy: 'serve' })
    const key = limiter.bind('k', { quotaPerMonth: 1000 })
    store.down = true
    expect(limiter.spendQuota(key, 1, store.nowMs)).toBe(quotaResults.pending)
    await new Promise<void>((resolve) => limiter.whenLeased(key, resolve))
    expect(limiter.spendQuota(key, 1, store.nowMs)).toBe(quotaResults.granted)
    await limiter.close()
    expect(limiter.spendQuota(key, 1, store.nowMs)).toBe(quotaResults.unavailable)
  })
})
