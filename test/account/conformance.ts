// What every key store must do, as a function: the embedded store runs it today, a store for many
// machines can run it later. `openStore` is called with a place; two calls with one place give two
// handles to the same keys.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { randomId, randomSecret } from '../../src/account/key.ts'
import type { KeyRecord } from '../../src/account/record.ts'
import { newRecord, revokedRecord } from '../../src/account/record.ts'
import type { KeyStore } from '../../src/account/store.ts'

export function record(now = 1000, name = 'a key'): KeyRecord {
  const made = { id: randomId(), secret: randomSecret(), now }
  return newRecord({ name, plan: 'team', apis: ['ip-risk'] }, made)
}

export function keyStoreConformance(
  name: string,
  openStore: (place: string) => Promise<KeyStore>,
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
      expect(await store.version()).toBe(0)
      expect(await store.list()).toEqual([])
      expect(await store.get('000000000000')).toBeUndefined()
      expect(await store.changes(0)).toEqual({ version: 0, records: [] })
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
      expect(await store.list()).toEqual([full])
    })

    it('refuses an id that is taken, and changes nothing', async () => {
      const store = await open()
      const first = record()
      await store.create(first)
      const again = { ...first, name: 'another' }
      await expect(store.create(again)).rejects.toMatchObject({ code: 'key_exists' })
      expect(await store.get(first.id)).toEqual(first)
      expect(await store.version()).toBe(1)
    })

    it('lists oldest first', async () => {
      const store = await open()
      for (const now of [3000, 1000, 2000]) await store.create(record(now))
      expect((await store.list()).map((key) => key.createdAt)).toEqual([1000, 2000, 3000])
    })

    it('updates, or says that there is nothing to update', async () => {
      const store = await open()
      const key = record()
      await store.create(key)
      const revoked = await store.update(key.id, (before) => revokedRecord(before, 7000))
      expect(revoked).toEqual({ ...key, revokedAt: 7000 })
      expect(await store.get(key.id)).toEqual(revoked)
      expect(await store.update('000000000000', (before) => before)).toBeUndefined()
      expect(await store.version()).toBe(2)
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
      expect(await store.version()).toBe(1)
    })

    it('tells what changed since a version, each key once, in its newest state', async () => {
      const store = await open()
      const [a, b, c] = [record(1), record(2), record(3)]
      for (const key of [a, b, c]) await store.create(key)
      await store.update(a.id, (before) => revokedRecord(before, 10))
      await store.update(a.id, (before) => ({ ...before, name: 'twice' }))
      const ids = async (since: number): Promise<string[]> =>
        (await store.changes(since)).records.map((key) => key.id).sort()
      expect(await store.version()).toBe(5)
      expect(await ids(0)).toEqual([a.id, b.id, c.id].sort())
      expect(await ids(2)).toEqual([a.id, c.id].sort())
      expect(await ids(4)).toEqual([a.id])
      expect((await store.changes(4)).records[0]).toMatchObject({ name: 'twice', revokedAt: 10 })
      expect(await store.changes(5)).toEqual({ version: 5, records: [] })
    })

    it('survives being closed and opened', async () => {
      const key = record()
      const store = await openStore(place)
      await store.create(key)
      await store.close()
      const again = await open()
      expect(await again.list()).toEqual([key])
      expect(await again.version()).toBe(1)
    })

    it('counts every one of many changes made at once through two handles', async () => {
      const [left, right] = [await open(), await open()]
      const keys = Array.from({ length: 40 }, (_, i) => record(i))
      await Promise.all(keys.map((key, i) => (i % 2 === 0 ? left : right).create(key)))
      await sleep(20)
      expect(await left.version()).toBe(40)
      expect(await right.version()).toBe(40)
      expect((await right.changes(0)).records).toHaveLength(40)
    })
  })
}
