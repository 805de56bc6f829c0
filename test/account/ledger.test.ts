// The ledger on LMDB, and what a lease gets. Many processes at once: quota.process.test.ts.

import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type QuotaLedger, createLedger, grantOf } from '../../src/account/ledger.ts'
import { openLmdbCounters } from '../../src/account/lmdb.ts'
import { monthOf } from '../../src/account/period.ts'

const august = monthOf(Date.UTC(2026, 7, 22))
const july = monthOf(Date.UTC(2026, 6, 22))
let state = ''
let ledgers: QuotaLedger[] = []
const open = async (): Promise<QuotaLedger> => {
  const ledger = createLedger(await openLmdbCounters(state))
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

describe('the ledger', () => {
  it('gives leases until the limit, counts what comes back, by month and key', async () => {
    const ledger = await open()
    const request = { keyId: 'k', month: august, limit: 100, want: 60, need: 60 }
    expect(await ledger.lease(request)).toEqual({ granted: 60, remaining: 40 })
    expect(await ledger.lease(request)).toEqual({ granted: 5, remaining: 35 })
    expect(await ledger.lease({ ...request, month: july })).toMatchObject({ granted: 60 })
    expect(await ledger.lease({ ...request, keyId: 'other' })).toMatchObject({ granted: 60 })
    await ledger.giveBack('k', august, 20)
    expect(await ledger.usage(august)).toEqual(
      new Map([
        ['k', 45],
        ['other', 60],
      ]),
    )
    expect(await ledger.lease({ ...request, limit: 40 })).toEqual({ granted: 0, remaining: 0 })
  })

  it('loses no lease of two hundred at once, on two handles', async () => {
    const [one, other] = [await open(), await open()]
    const grants = await Promise.all(
      Array.from({ length: 200 }, (_, i) => {
        const keyId = `key${i % 3}`
        const ledger = i % 2 === 0 ? one : other
        return ledger.lease({ keyId, month: august, limit: 1e6, want: 7, need: 7 })
      }),
    )
    expect(grants.every((grant) => grant.granted === 7)).toBe(true)
    const usage = await one.usage(august)
    expect([...usage.values()].reduce((sum, units) => sum + units, 0)).toBe(1400)
  })

  it('keeps its counts when it is closed and opened', async () => {
    const before = await open()
    await before.lease({ keyId: 'k', month: august, limit: 100, want: 9, need: 9 })
    await before.close()
    ledgers = []
    expect(await (await open()).usage(august)).toEqual(new Map([['k', 9]]))
    expect(statSync(join(state, 'quota')).mode & 0o777).toBe(0o700)
  })

  it('never counts below zero', async () => {
    const ledger = await open()
    await expect(ledger.giveBack('k', august, 1)).rejects.toThrow('below zero')
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

describe('a lease', () => {
  it('is within the limit, has what is needed where there is so much, shrinks at the end', () => {
    const units = fc.integer({ min: 0, max: 1e9 })
    fc.assert(
      fc.property(units, units, units, units, (taken, limit, a, b) => {
        const [need, want] = [Math.min(a, b), Math.max(a, b)]
        const granted = grantOf(taken, { limit, want, need })
        const rest = Math.max(0, limit - taken)
        expect(granted).toBeLessThanOrEqual(Math.min(rest, want))
        expect(granted).toBeGreaterThanOrEqual(need <= rest ? need : 0)
        expect(granted > 0).toBe(rest > 0 && want > 0)
        expect(granted).toBeLessThanOrEqual(Math.max(need, Math.ceil(rest / 8)))
      }),
    )
  })
})
