// The ledger on LMDB, and what a lease gets. Many processes at once: limiter.world.test.ts.

import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type QuotaLedger,
  createQuotaLedger,
  leaseGrantUnits,
} from '../../../src/account/limits/quota-ledger.ts'
import { openLmdbCounterStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import { ledgerConformance } from '../stores/conformance.ts'
import { writeCounter } from '../stores/write-row.ts'

const august = monthOf(Date.UTC(2026, 7, 22))
let state = ''
let ledgers: QuotaLedger[] = []
const open = async (): Promise<QuotaLedger> => {
  const ledger = createQuotaLedger(await openLmdbCounterStore(state))
  ledgers.push(ledger)
  return ledger
}

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-ledger-'))
})
afterEach(async () => {
  for (const ledger of ledgers) await ledger.close()
  ledgers = []
  rmSync(state, { recursive: true })
})

ledgerConformance('the ledger on LMDB', async (place) =>
  createQuotaLedger(await openLmdbCounterStore(place)),
)

describe('the ledger', () => {
  it('has a folder that nobody else may read', async () => {
    await open()
    expect(statSync(join(state, 'quota')).mode & 0o777).toBe(0o700)
  })

  it.each([
    ['of something else', (path: string) => writeFileSync(path, 'x'.repeat(20_000))],
    ['cut off', (path: string) => truncateSync(path, 8192)],
  ])('refuses a file that is %s', async (_name, harm) => {
    const ledger = await open()
    await ledger.lease({ keyId: 'k', month: august, limit: 100, want: 9, need: 9 })
    await ledger.close()
    ledgers = []
    harm(join(state, 'quota', 'data.mdb'))
    await expect(open()).rejects.toThrow(/The store in .*quota cannot be opened: .*damaged/)
  })
})

describe('a counter that is not a whole number', () => {
  it.each(['x', '-1', '1.5', '1e300', 'null', ''])(
    '(%j) grants nothing, and others go on',
    async (text) => {
      const ledger = await open()
      const ask = { month: august, limit: 100, want: 9, need: 9 }
      await ledger.lease({ ...ask, keyId: 'other' })
      await writeCounter(state, '2026-08 k', text)
      const error = { code: 'counter_unreadable', message: expect.stringContaining('of key k') }
      await expect(ledger.lease({ ...ask, keyId: 'k' })).rejects.toMatchObject(error)
      await expect(ledger.charge('k', august, 1)).rejects.toMatchObject(error)
      expect(await ledger.lease({ ...ask, keyId: 'other' })).toMatchObject({ granted: 9 })
      expect(await ledger.usage(august)).toEqual(new Map([['other', 18]]))
    },
  )
})

describe('a lease', () => {
  it('is within the limit, has what is needed where there is so much, shrinks at the end', () => {
    const units = fc.integer({ min: 0, max: 1e9 })
    fc.assert(
      fc.property(units, units, units, units, (taken, limit, a, b) => {
        const [need, want] = [Math.min(a, b), Math.max(a, b)]
        const granted = leaseGrantUnits(taken, { limit, want, need })
        const rest = Math.max(0, limit - taken)
        expect(granted).toBeLessThanOrEqual(Math.min(rest, want))
        expect(granted).toBeGreaterThanOrEqual(need <= rest ? need : 0)
        expect(granted > 0).toBe(rest > 0 && want > 0)
        expect(granted).toBeLessThanOrEqual(Math.max(need, Math.ceil(rest / 8)))
      }),
    )
  })
})
