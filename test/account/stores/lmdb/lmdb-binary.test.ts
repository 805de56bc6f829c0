// The limiter of one machine on its real files: what a caller sees of rates and of what is left.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { remainingLength } from '../../../../src/account/limits/ratelimit-values.ts'
import { createQuotaLedger } from '../../../../src/account/limits/quota-ledger.ts'
import { type Limiter, createLimiter } from '../../../../src/account/limits/limiter.ts'
import { openLmdbCounterStore } from '../../../../src/account/stores/lmdb/lmdb-stores.ts'
import { quotaResults } from '../../../../src/account/limits/quota.ts'
import { noLeaseFile } from '../../limits/no-lease-file.ts'
import { type RateFile, openRateFile } from '../../../../src/account/limits/rate-file.ts'

const rate = { perSecond: 50, burst: 100 }
const out = new Float64Array(remainingLength)
let state = ''
let rateFile: RateFile
let limiter: Limiter
let troubles: unknown[] = []
let nowMs = 0

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-limiter-'))
  rateFile = openRateFile(state, { boot: 'boot', size: { slots: 8, keysMax: 3 } })
  troubles = []
  nowMs = 1000
  limiter = createLimiter({
    leaseFile: noLeaseFile(),
    rateFile,
    ledger: createQuotaLedger(await openLmdbCounterStore(state)),
    machineOffsetMs: 70_000,
    now: () => nowMs,
    wall: () => Date.UTC(2026, 7, 31, 12) + nowMs,
    onTrouble: (error) => troubles.push(error),
    onRecovery: () => undefined,
  })
})
afterEach(async () => {
  await limiter.close()
  rateFile.close()
  rmSync(state, { recursive: true })
})

/** How many of so many requests at once are granted. */
function admitted(keyId: string, limits: Parameters<Limiter['bind']>[1], times: number): number {
  const key = limiter.bind(keyId, limits)
  let granted = 0
  for (let i = 0; i < times; i += 1) if (limiter.spendRate(key, 1, nowMs) === 0) granted += 1
  return granted
}

describe('the limiter of one machine', () => {
  it('starts with a full burst, also where limits change, and goes on where they change back', () => {
    expect(admitted('k', { rate }, 150)).toBe(100)
    expect(admitted('k', { rate: { ...rate, burst: 30 } }, 150)).toBe(30)
    expect(admitted('k', { rate }, 150)).toBe(0)
    expect(admitted('k', {}, 150)).toBe(150)
    nowMs += 1000
    expect(admitted('k', { rate }, 150)).toBe(50)
  })

  it('shares one allowance among keys without limits, for which nothing exists', () => {
    const free = limiter.bind('a', {})
    expect(limiter.bind('b', {})).toBe(free)
    expect(limiter.spendRate(free, 1000, nowMs)).toBe(0)
    expect(limiter.spendQuota(free, 1000, nowMs)).toBe(0)
    limiter.remaining(free, nowMs, out)
    expect([...out]).toEqual([-1, -1, -1, -1])
    expect(limiter.policy(free)).toBe('')
    expect(rateFile.counts().used).toBe(0)
  })

  it('says what is left, in how many seconds all is back, and when to ask again', async () => {
    const key = limiter.bind('k', { rate, quotaPerMonth: 1000 })
    limiter.spendRate(key, 100, nowMs)
    expect(limiter.spendRate(key, 1, nowMs)).toBe(1)
    limiter.remaining(key, nowMs, out)
    expect([...out]).toEqual([0, 2, 1000, 43_199])
    expect(limiter.retryMs(key, 'rate_exceeded', nowMs, 1)).toBeCloseTo(20, 0)
    expect(limiter.retryMs(key, 'quota_exceeded', nowMs, 1)).toBe(43_199_000)
    expect(limiter.retryMs(key, 'unavailable', nowMs, 1)).toBe(1000)
    expect(limiter.spendQuota(key, 7, nowMs)).toBe(quotaResults.pending)
    await new Promise<void>((resolve) => limiter.whenLeased(key, resolve))
    expect(limiter.spendQuota(key, 7, nowMs)).toBe(quotaResults.granted)
    limiter.remaining(key, nowMs + 500, out)
    expect([...out]).toEqual([25, 2, 993, 43_199])
    limiter.refund(key, { units: 7, month: limiter.spentMonth(key), arrivedMs: nowMs })
    limiter.remaining(key, nowMs + 500, out)
    expect(out[2]).toBe(1000)
    expect(limiter.policy(key)).toBe('"rate";q=100;w=2, "quota";q=1000;w=2678400')
    limiter.bind('k', { quotaPerMonth: 500 })
    expect(limiter.policy(key)).toBe('"quota";q=500;w=2678400')
    limiter.remaining(key, nowMs, out)
    expect([...out]).toEqual([-1, -1, 500, 43_199])
    nowMs += 43_199_000
    limiter.tick()
    expect(limiter.policy(key)).toBe('"quota";q=500;w=2592000')
  })

  it('refuses a key for which the rate file has no room, and says so once', () => {
    for (const keyId of ['a', 'b', 'c']) expect(admitted(keyId, { rate }, 1)).toBe(1)
    const late = limiter.bind('d', { rate })
    expect(limiter.spendRate(late, 1, nowMs)).toBe(2)
    expect(limiter.spendRate(late, 1, nowMs)).toBe(2)
    expect(troubles).toHaveLength(1)
    expect(String(troubles[0])).toContain('holds 3 of at most 3 keys and limits')
  })

  it('grants no quota after it is closed, and its ledger has everything back', async () => {
    const key = limiter.bind('k', { quotaPerMonth: 1000 })
    limiter.spendQuota(key, 1, nowMs)
    await new Promise<void>((resolve) => limiter.whenLeased(key, resolve))
    expect(limiter.spendQuota(key, 1, nowMs)).toBe(quotaResults.granted)
    await limiter.close()
    expect(limiter.spendQuota(key, 1, nowMs)).toBe(quotaResults.unavailable)
    const ledger = createQuotaLedger(await openLmdbCounterStore(state))
    expect([...(await ledger.usage(((2026 - 1970) * 12 + 7) as never))]).toEqual([['k', 1]])
    await ledger.close()
  })
})
