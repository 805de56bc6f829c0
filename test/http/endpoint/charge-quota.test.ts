// What an exchange owes of its key's quota, and of which month: with a real limiter on a real
// ledger, and a clock that the test moves.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpResponse } from 'uWebSockets.js'
import { describe, expect, it } from 'vitest'
import type { Authenticated } from '../../../src/account/keyring.ts'
import { createQuotaLedger } from '../../../src/account/limits/quota-ledger.ts'
import { type Limiter, createLimiter } from '../../../src/account/limits/limiter.ts'
import { openLmdbCounterStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { quotaResults } from '../../../src/account/limits/quota.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import { noLeaseFile } from '../../account/limits/no-lease-file.ts'
import { openRateFile } from '../../../src/account/limits/rate-file.ts'
import { chargeQuota, chargeThen } from '../../../src/http/endpoint/charge-quota.ts'
import {
  type Exchange,
  type Service,
  closeExchange,
  newExchange,
} from '../../../src/http/exchange/exchange.ts'
import {
  counterSnapshot,
  counterTotals,
  newRequestCounters,
} from '../../../src/observe/request-counters.ts'
import { createRequestIds } from '../../../src/http/exchange/request-id.ts'

it('costs nothing where it fails, whether its month has turned before or after the charge', async () => {
  const state = mkdtempSync(join(tmpdir(), 'iprisk-charge-'))
  const september = Date.UTC(2026, 8, 1)
  const months = [monthOf(september - 1), monthOf(september)] as const
  let nowMs = 1000
  const rateFile = openRateFile(state, { boot: 'boot', size: { slots: 4, keysMax: 1 } })
  const ledger = createQuotaLedger(await openLmdbCounterStore(state))
  const limiter = createLimiter({
    rateFile,
    leaseFile: noLeaseFile(),
    ledger,
    machineOffsetMs: 0,
    now: () => nowMs,
    wall: () => september - 10_000 + nowMs,
    onTrouble: (error) => expect(error).toBeUndefined(),
    onRecovery: () => undefined,
  })
  const allowance = limiter.bind('k', { quotaPerMonth: 100 })
  const key = { allowance } as Authenticated
  const begin = (units: number): Exchange => {
    const service = { limiter, pending: 1 } as unknown as Service
    const res = { cork: (work: () => void) => work() } as unknown as HttpResponse
    return Object.assign(newExchange(service, res), { key, units, startedMs: nowMs })
  }
  const charged = (exchange: Exchange): Promise<void> =>
    new Promise((resolve) => chargeThen(exchange, key, () => resolve()))
  const usage = async (): Promise<(number | undefined)[]> =>
    Promise.all(months.map(async (month) => (await ledger.usage(month)).get('k')))

  // Both arrive in August.
  const [early, late] = [begin(70), begin(100)]
  await charged(early)
  nowMs = 10_001
  limiter.tick()
  await charged(late)
  expect([early.refundableMonth, late.refundableMonth]).toEqual(months)
  expect(await usage()).toEqual([70, 100])
  for (const exchange of [early, late]) closeExchange(exchange)
  await expect.poll(usage).toEqual([0, 100])
  await charged(begin(100))
  expect(await usage()).toEqual([0, 100])
  await limiter.close()
  rateFile.close()
  rmSync(state, { recursive: true })
})

describe('a charge', () => {
  const ends = { granted: [], pending: [], exceeded: [429], unavailable: [503] } as const

  it.each(Object.entries(quotaResults))('says %s and calls nothing back', (name, result) => {
    const statuses: string[] = []
    const key = { allowance: undefined } as unknown as Authenticated
    const limiter = {
      spendQuota: () => result,
      spentMonth: () => 7,
      refund: () => expect.unreachable('nothing was charged'),
      policy: () => '',
      retryMs: () => 1000,
    } as unknown as Limiter
    const counters = newRequestCounters()
    const requestIds = createRequestIds()
    const service = { limiter, counters, requestIds, pending: 1 } as unknown as Service
    const res = {
      writeStatus: (status: string) => statuses.push(status),
      writeHeader: () => res,
      end: () => res,
    } as unknown as HttpResponse
    const exchange = Object.assign(newExchange(service, res), { key, units: 3, keepAlive: true })
    Object.assign(exchange, { startedMs: 0 })
    expect(chargeQuota(exchange, key)).toBe(result)
    expect(statuses.map((status) => Number.parseInt(status, 10))).toEqual(
      ends[name as keyof typeof ends],
    )
    const granted = name === 'granted'
    expect([exchange.refundableUnits, exchange.refundableMonth === 7]).toEqual([
      granted ? 3 : 0,
      granted,
    ])
    expect(counterTotals(counterSnapshot(counters)).quotaLimited).toBe(name === 'exceeded' ? 1 : 0)
  })

  it('that is pending calls back once, when a later turn is granted it', () => {
    const results = [quotaResults.pending, quotaResults.pending, quotaResults.granted]
    const waiting: (() => void)[] = []
    let done = 0
    let corks = 0
    const key = { allowance: undefined } as unknown as Authenticated
    const limiter = {
      spendQuota: () => results.shift(),
      spentMonth: () => 7,
      whenLeased: (_key: unknown, callback: () => void) => waiting.push(callback),
    } as unknown as Limiter
    const res = {
      cork: (work: () => void) => {
        corks += 1
        work()
      },
    } as unknown as HttpResponse
    const exchange = newExchange({ limiter } as unknown as Service, res)
    chargeThen(exchange, key, () => {
      done += 1
    })
    expect([done, waiting.length]).toEqual([0, 1])
    waiting[0]?.()
    expect([done, waiting.length]).toEqual([0, 2])
    waiting[1]?.()
    expect([done, waiting.length, corks]).toEqual([1, 2, 2])
  })
})
