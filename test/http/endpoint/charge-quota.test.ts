// What an exchange owes of its key's quota, and of which month: with a real limiter on a real ledger,
// and a clock that the test moves.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpResponse } from 'uWebSockets.js'
import { expect, it } from 'vitest'
import type { Authenticated } from '../../../src/account/keyring.ts'
import { createQuotaLedger } from '../../../src/account/limits/quota-ledger.ts'
import { createLimiter } from '../../../src/account/limits/limiter.ts'
import { openLmdbCounterStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import { openRateFile } from '../../../src/account/limits/rate-file.ts'
import { chargeQuota } from '../../../src/http/endpoint/charge-quota.ts'
import {
  type Exchange,
  type Service,
  closeExchange,
  newExchange,
} from '../../../src/http/exchange/exchange.ts'

it('costs nothing where it fails, whether its month has turned before or after the charge', async () => {
  const state = mkdtempSync(join(tmpdir(), 'iprisk-charge-'))
  const september = Date.UTC(2026, 8, 1)
  const months = [monthOf(september - 1), monthOf(september)] as const
  let nowMs = 1000
  const rateFile = openRateFile(state, { boot: 'boot', size: { slots: 4, keysMax: 1 } })
  const ledger = createQuotaLedger(await openLmdbCounterStore(state))
  const limiter = createLimiter({
    rates: rateFile,
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
    new Promise((resolve) => chargeQuota(exchange, key, () => resolve()))
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
