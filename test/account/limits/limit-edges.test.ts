// What a limiter does at the edges that simulations rarely meet: a full rate file is reported once,
// a limit that changes starts over, a store that is back is asked at once, a batch asks no more often
// than it must, and a closed limiter grants nothing that nobody would charge.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createLimiter, type LimiterOptions } from '../../../src/account/limits/limiter.ts'
import { noLeaseFile } from './no-lease-file.ts'
import { quotaResults } from '../../../src/account/limits/quota.ts'
import { rateResults } from '../../../src/account/limits/rate.ts'
import { openRateFile } from '../../../src/account/limits/rate-file.ts'
import type { TokenGrant, TokenRequest } from '../../../src/account/limits/shared-bucket.ts'
import { createSharedLimiter } from '../../../src/account/limits/shared-limiter.ts'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { leaseUnitsMin, quotaRecheckMs } from '../../../src/base/limits.ts'
import { turn } from './limiter-simulator.ts'

const state = mkdtempSync(join(tmpdir(), 'iprisk-limit-edges-'))
afterAll(() => rmSync(state, { recursive: true }))

const rate = { perSecond: 10, burst: 20 }

/** A store that a test takes away, what its buckets were asked for, and what was reported. */
function newParts(name: string, keysMax = 1) {
  const take = (_asked: TokenRequest): TokenGrant => ({ granted: 0, level: 0 })
  const wanted: number[] = []
  const needs: number[] = []
  /** One that fails is not known to be down. */
  const counts = { leases: 0, needs, wanted, charged: 0 }
  const store = { down: false, fails: false, nowMs: 1000, ...counts, take }
  const troubles: unknown[] = []
  const away = (): never => {
    const message = 'The store is away.'
    throw new IpriskError({ code: 'store_unreachable', message, fault: 'environment' })
  }
  const options: LimiterOptions = {
    rateFile: openRateFile(join(state, name), { boot: 'boot', size: { slots: 8, keysMax } }),
    leaseFile: noLeaseFile(),
    ledger: {
      lease: async ({ want, need }) => {
        store.leases += 1
        store.needs.push(need)
        return store.down || store.fails ? away() : { granted: want, remaining: 1000 }
      },
      returnUnits: async () => undefined,
      charge: async (_keyId, _month, units) => void (store.charged += units),
      usage: async () => new Map(),
      down: () => store.down,
      close: async () => undefined,
    },
    machineOffsetMs: 0,
    now: () => store.nowMs,
    wall: () => Date.UTC(2026, 8, 2) + store.nowMs,
    onTrouble: (error) => troubles.push((error as IpriskError).code),
    onRecovery: () => troubles.push('recovery'),
  }
  const buckets = {
    takeTokens: async (asked: TokenRequest) => {
      store.wanted.push(asked.want)
      return store.take(asked)
    },
    down: () => store.down,
  }
  return { store, troubles, options, buckets, away }
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

describe('a rate limit that changes', () => {
  it('begins with a full burst, though its pace alone is another', () => {
    const limiter = createLimiter(newParts('changed', 8).options)
    const key = limiter.bind('k', { rate })
    expect(limiter.spendRate(key, rate.burst, 1000)).toBe(rateResults.granted)
    limiter.bind('k', { rate: { ...rate } })
    expect(limiter.spendRate(key, 1, 1000)).toBe(rateResults.exceeded)
    limiter.bind('k', { rate: { ...rate, perSecond: 1000 } })
    expect(limiter.spendRate(key, rate.burst, 1000)).toBe(rateResults.granted)
    expect(limiter.spendRate(key, 9, 1010)).toBe(rateResults.granted)
  })
})

describe('a quota', () => {
  it('lets a request for no units pass at once, and leases none for it', () => {
    const { store, options } = newParts('none')
    const limiter = createLimiter(options)
    const key = limiter.bind('k', { quotaPerMonth: 1000 })
    expect(limiter.spendQuota(key, 0, store.nowMs)).toBe(quotaResults.granted)
    expect(store.leases).toBe(0)
  })

  it('of a ledger that failed is asked for again by a tick, and the recovery is told', async () => {
    const { store, options, troubles } = newParts('recovery')
    const limiter = createLimiter(options)
    const key = limiter.bind('k', { quotaPerMonth: 1000 })
    const spend = (): number => limiter.spendQuota(key, 1, store.nowMs)
    expect(spend()).toBe(quotaResults.pending)
    await turn()
    expect(troubles).toEqual([])
    store.down = true
    for (let i = 0; i < leaseUnitsMin; i += 1) expect(spend()).toBe(quotaResults.granted)
    await turn()
    expect([troubles, store.leases]).toEqual([['store_unreachable'], 2])
    store.down = false
    store.nowMs += quotaRecheckMs
    limiter.tick()
    await turn()
    expect([troubles, store.leases]).toEqual([['store_unreachable', 'recovery'], 3])
    // Leases ahead of need leave the last units to whoever needs them.
    expect(store.needs).toEqual([1, 0, 0])
    expect(spend()).toBe(quotaResults.granted)
  })
})

describe('buckets in a store', () => {
  const open = (name: string) => {
    const parts = newParts(name, 8)
    const { options, buckets } = parts
    const limiter = createSharedLimiter({ ...options, buckets, policy: 'refuse' })
    const batchOf = (requests: number): Promise<number> => {
      const key = limiter.bind('k', { rate })
      expect(limiter.spendRate(key, requests, 1000)).toBe(rateResults.pending)
      return new Promise((resolve) => limiter.spendRateLater(key, requests, resolve))
    }
    return { ...parts, limiter, batchOf }
  }

  it('are asked by a batch once, and nothing goes back where there is nothing', async () => {
    const { store, batchOf } = open('batch')
    expect(await batchOf(10)).toBe(rateResults.exceeded)
    expect(store.wanted).toEqual([10])
  })

  it('are asked once more, and no more, where a refill came meanwhile', async () => {
    const { store, options, batchOf } = open('refill')
    const balance = options.rateFile.slotOf('k', rate)
    store.take = ({ want }) => {
      if (want > 0) options.rateFile.words[balance] = 1
      return { granted: 0, level: 0 }
    }
    expect(await batchOf(10)).toBe(rateResults.exceeded)
    expect(store.wanted).toEqual([10, -1, 10])
  })

  it('that are empty mean 429, and 503 once they failed', async () => {
    const { store, limiter, away } = open('empty')
    const spend = (): number => limiter.spendRate(limiter.bind('k', { rate }), 1, store.nowMs)
    for (let credit = 5; credit > 0; credit -= 1) expect(spend()).toBe(rateResults.granted)
    expect(spend()).toBe(rateResults.exceeded)
    await turn()
    store.take = away
    store.nowMs += 1000
    expect(spend()).toBe(rateResults.exceeded)
    await turn()
    expect(spend()).toBe(rateResults.unavailable)
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

  it.each([
    ['refuse', quotaResults.unavailable],
    ['serve', quotaResults.granted],
  ] as const)(
    'that is back, and fails, is asked once a second; policy %s',
    async (policy, then) => {
      const { store, options, buckets } = newParts(`fails-${policy}`)
      const limiter = createSharedLimiter({ ...options, buckets, policy })
      const key = limiter.bind('k', { quotaPerMonth: 1000 })
      const spend = (): number => limiter.spendQuota(key, 1, store.nowMs)
      store.down = true
      expect(spend()).toBe(quotaResults.pending)
      await turn()
      expect(spend()).toBe(then)
      Object.assign(store, { down: false, fails: true })
      store.nowMs += 100
      expect(spend()).toBe(quotaResults.pending)
      await turn()
      for (const passedMs of [0, 1, 1]) {
        store.nowMs += passedMs
        expect([spend(), store.leases]).toEqual([then, 2])
      }
      store.nowMs += quotaRecheckMs
      expect(spend()).toBe(quotaResults.pending)
    },
  )

  /** Of one unit, granted while the store was away. */
  const indebted = async (name: string) => {
    const { store, options, buckets } = newParts(name)
    const limiter = createSharedLimiter({ ...options, buckets, policy: 'serve' })
    const key = limiter.bind('k', { quotaPerMonth: 1000 })
    const spend = (): number => limiter.spendQuota(key, 1, store.nowMs)
    store.down = true
    expect(spend()).toBe(quotaResults.pending)
    await new Promise<void>((resolve) => limiter.whenLeased(key, resolve))
    expect(spend()).toBe(quotaResults.granted)
    return { store, limiter, key, spend }
  }

  it('is owed nothing by a limiter that is closed, for nobody would charge it', async () => {
    const { store, limiter, spend } = await indebted('closed')
    await limiter.close()
    expect([spend(), store.charged]).toEqual([quotaResults.unavailable, 0])
  })

  it('that is back is paid what a limiter owes when it is closed', async () => {
    const { store, limiter, key } = await indebted('paid')
    // A refund of another month takes nothing off it.
    const month = limiter.spentMonth(key) - 1
    limiter.refund(key, { units: 1, month, arrivedMs: store.nowMs })
    store.down = false
    await limiter.close()
    expect(store.charged).toBe(1)
  })
})
