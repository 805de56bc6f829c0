// What every key store and every ledger must do, as functions: the embedded store and the store for
// many machines run them. `openStore` and `openLedger` are called with a place; two calls with one
// place give two handles to the same keys or counters.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { randomId, randomSecret } from '../../../src/account/keys/key-text.ts'
import { type QuotaLedger, leaseGrantUnits } from '../../../src/account/limits/quota-ledger.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import type { KeyRecord } from '../../../src/account/keys/key-record.ts'
import { newRecord, revokedRecord } from '../../../src/account/keys/key-record.ts'
import type { KeyStore } from '../../../src/account/keys/key-store.ts'

export function record(now = 1000, name = 'a key'): KeyRecord {
  const made = { id: randomId(), secret: randomSecret(), now }
  return newRecord({ name, plan: 'team', apis: ['ip-risk'] }, made)
}

/** Texts of records by the id of their row, each unsound in another way. */
function unsoundTexts(): Readonly<Record<string, string>> {
  const id = randomId()
  const good = record(5, 'good')
  const secret = good.secrets[0]!
  const changes: readonly object[] = [
    { name: 5 },
    { name: 'a\u001b[31m' },
    { plan: '' },
    { plan: ['team'] },
    { apis: 'ip-risk' },
    { apis: ['ip-risk', 'ip-risk'] },
    { createdAt: null },
    { createdAt: 1.5 },
    { createdAt: -1 },
    { expires: '2026-08-22' },
    { expires: 3_000_000 },
    { revokedAt: 'hunter2' },
    { secrets: [] },
    { secrets: [secret, secret, secret] },
    { secrets: [{ ...secret, hash: secret.hash.slice(1) }] },
    { secrets: [{ ...secret, hash: secret.hash.toUpperCase() }] },
    { secrets: [null] },
    { secrets: undefined },
    { limits: { perSecond: 0 } },
    { limits: { quotaPerMonth: 1e300 } },
    { limits: [] },
    { policies: [] },
    { policies: ['a', 'a'] },
    { test: false },
    { name: 'x'.repeat(20_000) },
    { more: 'x'.repeat(20_000) },
  ]
  const rows = changes.map((change) => {
    const own = randomId()
    return [own, JSON.stringify({ ...good, id: own, ...change })] as const
  })
  const texts = ['', '{', 'null', '[]', '5', '"text"', '{"createdAt":NaN}'].map(
    (text) => [randomId(), text] as const,
  )
  const named = ['__proto__', 'constructor', 'keys.0', 'irk_x'].map(
    (name) => [name, JSON.stringify({ ...good, id: name })] as const,
  )
  const other = [id, JSON.stringify(good)] as const
  return Object.fromEntries([...rows, ...texts, ...named, other])
}

export function keyStoreConformance(
  name: string,
  openStore: (place: string) => Promise<KeyStore>,
  /** Writes the text of a record in place of what is there, as a change that is counted. */
  writeRecord: (place: string, id: string, text: string) => Promise<void>,
): void {
  describe(`${name} keeps the contract of a key store`, () => {
    let place = ''
    let stores: KeyStore[] = []
    const open = async (): Promise<KeyStore> => {
      const store = await openStore(place)
      stores.push(store)
      return store
    }
    beforeEach(() => {
      place = mkdtempSync(join(tmpdir(), 'iprisk-keys-'))
    })
    afterEach(async () => {
      for (const store of stores) await store.close()
      stores = []
      rmSync(place, { recursive: true })
    })

    it('begins empty, at version 0', async () => {
      const store = await open()
      expect((await store.changes(0)).version).toBe(0)
      expect((await store.list()).records).toEqual([])
      expect(await store.get('000000000000')).toBeUndefined()
      expect(await store.changes(0)).toEqual({ version: 0, records: [], skipped: [] })
    })

    it('gives back exactly what it was given', async () => {
      const store = await open()
      const full: KeyRecord = {
        ...record(),
        expires: 30_000 as never,
        revokedAt: 5,
        limits: { perSecond: 1, burst: 2, quotaPerMonth: 3 },
        name: 'Grüße "quoted" \u{1F511}',
      }
      await store.create(full)
      expect(await store.get(full.id)).toEqual(full)
      expect((await store.list()).records).toEqual([full])
    })

    it('refuses an id that is taken, and changes nothing', async () => {
      const store = await open()
      const first = record()
      await store.create(first)
      const again = { ...first, name: 'another' }
      await expect(store.create(again)).rejects.toMatchObject({ code: 'key_exists' })
      expect(await store.get(first.id)).toEqual(first)
      expect((await store.changes(0)).version).toBe(1)
    })

    it('lists oldest first', async () => {
      const store = await open()
      for (const now of [3000, 1000, 2000]) await store.create(record(now))
      expect((await store.list()).records.map((key) => key.createdAt)).toEqual([1000, 2000, 3000])
    })

    it('updates, or says that there is nothing to update', async () => {
      const store = await open()
      const key = record()
      await store.create(key)
      const revoked = await store.update(key.id, (before) => revokedRecord(before, 7000))
      expect(revoked).toEqual({ ...key, revokedAt: 7000 })
      expect(await store.get(key.id)).toEqual(revoked)
      expect(await store.update('000000000000', (before) => before)).toBeUndefined()
      expect((await store.changes(0)).version).toBe(2)
    })

    it('keeps the old record and the version where the change throws', async () => {
      const store = await open()
      const key = record()
      await store.create(key)
      const change = (): KeyRecord => {
        throw new Error('no')
      }
      await expect(store.update(key.id, change)).rejects.toThrow('no')
      expect(await store.get(key.id)).toEqual(key)
      expect((await store.changes(0)).version).toBe(1)
    })

    it('tells what changed since a version, each key once, in its newest state', async () => {
      const store = await open()
      const [a, b, c] = [record(1), record(2), record(3)]
      for (const key of [a, b, c]) await store.create(key)
      await store.update(a.id, (before) => revokedRecord(before, 10))
      await store.update(a.id, (before) => ({ ...before, name: 'twice' }))
      const ids = async (since: number): Promise<string[]> =>
        (await store.changes(since)).records.map((key) => key.id).sort()
      expect((await store.changes(0)).version).toBe(5)
      expect(await ids(0)).toEqual([a.id, b.id, c.id].sort())
      expect(await ids(2)).toEqual([a.id, c.id].sort())
      expect(await ids(4)).toEqual([a.id])
      expect((await store.changes(4)).records[0]).toMatchObject({ name: 'twice', revokedAt: 10 })
      expect(await store.changes(5)).toEqual({ version: 5, records: [], skipped: [] })
    })

    it('skips each invalid record by name, and returns all others', async () => {
      const store = await open()
      const [first, last] = [record(1, 'first'), record(9, 'last')]
      await store.create(first)
      const bad = unsoundTexts()
      for (const [id, text] of Object.entries(bad)) await writeRecord(place, id, text)
      const { version } = await store.changes(0)
      await store.create(last)
      const { records, skipped } = await store.changes(0)
      expect(records.map((each) => each.name)).toEqual(['first', 'last'])
      expect(skipped.map(({ id }) => id).sort()).toEqual(Object.keys(bad).sort())
      for (const { why } of skipped) expect(why).not.toMatch(/[0-9a-f]{16}|hunter2/)
      // Only what has changed since is told again.
      expect(await store.changes(version)).toMatchObject({ records: [last], skipped: [] })
      const listed = await store.list()
      expect(listed.records).toHaveLength(2)
      expect(listed.skipped.map(({ id }) => id).sort()).toEqual(Object.keys(bad).sort())
      const [id = ''] = Object.keys(bad)
      await expect(store.get(id)).rejects.toMatchObject({ code: 'key_unreadable' })
      const change = (before: KeyRecord): KeyRecord => before
      await expect(store.update(id, change)).rejects.toMatchObject({ code: 'key_unreadable' })
      // And it can be mended.
      const mended = { ...record(3, 'mended'), id }
      const before = (await store.changes(0)).version
      expect(await store.update(id, change, () => mended)).toEqual(mended)
      expect(await store.changes(before)).toMatchObject({ records: [mended], skipped: [] })
    })

    it('reports a record that becomes invalid, and keeps unknown members', async () => {
      const store = await open()
      const key = { ...record(), id: 'Abcdefghijk1' }
      await store.create(key)
      const { version } = await store.changes(0)
      await writeRecord(place, key.id, JSON.stringify({ ...key, createdAt: 'now' }))
      await sleep(20)
      const { records, skipped } = await store.changes(version)
      expect(records).toEqual([])
      expect(skipped).toMatchObject([{ id: key.id, why: expect.stringContaining('createdAt') }])
      const later = { ...key, region: ['eu'], limits: { perSecond: 5, perMinute: 9 } }
      await writeRecord(place, key.id, JSON.stringify(later))
      await sleep(20)
      expect(await store.get(key.id)).toEqual(later)
    })

    it('survives being closed and opened', async () => {
      const key = record()
      const store = await openStore(place)
      await store.create(key)
      await store.close()
      const again = await open()
      expect((await again.list()).records).toEqual([key])
      expect((await again.changes(0)).version).toBe(1)
    })

    it('loses none of many changes that two handles make to one key at once', async () => {
      const [left, right] = [await open(), await open()]
      const key = record()
      await left.create(key)
      const add = (before: KeyRecord): KeyRecord => ({ ...before, name: `${before.name}.` })
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? left : right).update(key.id, add)),
      )
      await sleep(20)
      expect((await left.get(key.id))?.name).toBe(`a key${'.'.repeat(20)}`)
      expect((await right.changes(0)).version).toBe(21)
    })

    it('tells another handle of a thousand keys, and then only of what changed', async () => {
      const [left, right] = [await open(), await open()]
      const keys = Array.from({ length: 1100 }, (_, i) => record(i))
      for (const key of keys) await left.create(key)
      await sleep(20)
      const first = await right.changes(0)
      expect(first.version).toBe(1100)
      expect(new Set(first.records.map(({ id }) => id)).size).toBe(1100)
      const [one] = keys
      await left.update(one?.id ?? '', (before) => revokedRecord(before, 5))
      await sleep(20)
      const second = await right.changes(first.version)
      expect(second.records.map(({ id, revokedAt }) => [id, revokedAt])).toEqual([[one?.id, 5]])
      expect(await right.changes(second.version)).toEqual({
        version: 1101,
        records: [],
        skipped: [],
      })
    })

    it('counts every one of many changes made at once through two handles', async () => {
      const [left, right] = [await open(), await open()]
      const keys = Array.from({ length: 40 }, (_, i) => record(i))
      await Promise.all(keys.map((key, i) => (i % 2 === 0 ? left : right).create(key)))
      await sleep(20)
      expect((await left.changes(0)).version).toBe(40)
      expect((await right.changes(0)).version).toBe(40)
      expect((await right.changes(0)).records).toHaveLength(40)
    })
  })
}

const august = monthOf(Date.UTC(2026, 7, 22))
const july = monthOf(Date.UTC(2026, 6, 22))

export function ledgerConformance(
  name: string,
  openLedger: (place: string) => Promise<QuotaLedger>,
): void {
  describe(`${name} keeps the contract of a ledger`, () => {
    let place = ''
    let ledgers: QuotaLedger[] = []
    const open = async (): Promise<QuotaLedger> => {
      const ledger = await openLedger(place)
      ledgers.push(ledger)
      return ledger
    }
    beforeEach(() => {
      place = mkdtempSync(join(tmpdir(), 'iprisk-ledger-'))
    })
    afterEach(async () => {
      for (const ledger of ledgers) await ledger.close()
      ledgers = []
      rmSync(place, { recursive: true })
    })

    it('gives leases until the limit, counts what comes back, by month and key', async () => {
      const ledger = await open()
      expect(await ledger.usage(august)).toEqual(new Map())
      const request = { keyId: 'k', month: august, limit: 100, want: 60, need: 60 }
      expect(await ledger.lease(request)).toEqual({ granted: 60, remaining: 40 })
      expect(await ledger.lease(request)).toEqual({ granted: 5, remaining: 35 })
      expect(await ledger.lease({ ...request, month: july })).toMatchObject({ granted: 60 })
      expect(await ledger.lease({ ...request, keyId: 'other' })).toMatchObject({ granted: 60 })
      await ledger.returnUnits('k', august, 20)
      expect(await ledger.usage(august)).toEqual(
        new Map([
          ['k', 45],
          ['other', 60],
        ]),
      )
      expect(await ledger.lease({ ...request, limit: 40 })).toEqual({ granted: 0, remaining: 0 })
    })

    it('charges what was spent without a lease, above the limit too', async () => {
      const ledger = await open()
      const request = { keyId: 'k', month: august, limit: 100, want: 9, need: 9 }
      await ledger.charge('k', august, 95)
      expect(await ledger.lease(request)).toEqual({ granted: 1, remaining: 4 })
      await ledger.charge('k', august, 10)
      expect(await ledger.lease(request)).toEqual({ granted: 0, remaining: 0 })
      expect((await ledger.usage(august)).get('k')).toBe(106)
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

    it('never passes a limit, however many ask at once', async () => {
      const [one, other] = [await open(), await open()]
      const grants = await Promise.all(
        Array.from({ length: 100 }, (_, i) => {
          const request = { keyId: 'k', month: august, limit: 333, want: 9, need: 1 }
          return (i % 2 === 0 ? one : other).lease(request)
        }),
      )
      expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(333)
      expect((await other.usage(august)).get('k')).toBe(333)
    })

    it('keeps its counts when it is closed and opened', async () => {
      const before = await openLedger(place)
      await before.lease({ keyId: 'k', month: august, limit: 100, want: 9, need: 9 })
      await before.close()
      expect(await (await open()).usage(august)).toEqual(new Map([['k', 9]]))
    })

    it('never counts below zero', async () => {
      const ledger = await open()
      await ledger.lease({ keyId: 'k', month: august, limit: 100, want: 9, need: 9 })
      await expect(ledger.returnUnits('k', august, 10)).rejects.toThrow(/below zero|fewer units/)
      expect((await ledger.usage(august)).get('k')).toBe(9)
    })

    it('grants what its twin grants, also near the largest quotas', async () => {
      const ledger = await open()
      const units = fc.oneof(fc.nat({ max: 200 }), fc.nat({ max: 1e6 }))
      const limit = fc.constantFrom(0, 1, 7, 1000, 123_456_789, 1_000_000_000_000_000)
      const request = fc.tuple(limit, units, units)
      let key = 0
      const requests = fc.array(request, { maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(requests, async (list) => {
          const keyId = `twin${(key += 1)}`
          let taken = 0
          for (const [most, a, b] of list) {
            const asked = { limit: most, want: Math.max(a, b), need: Math.min(a, b) }
            const granted = leaseGrantUnits(taken, asked)
            taken += granted
            const remaining = Math.max(0, most - taken)
            const answer = await ledger.lease({ keyId, month: august, ...asked })
            expect(answer).toEqual({ granted, remaining })
          }
        }),
        { numRuns: 60 },
      )
    })
  })
}
