// Keys as a file: what is exported comes back as it was, doing it again changes nothing, conflicts
// and problems are told all at once, and a revoked key stays so.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { randomId, randomSecret } from '../../../src/account/keys/key-text.ts'
import { openLmdbKeyStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import type { KeyRecord } from '../../../src/account/keys/key-record.ts'
import { newRecord, revokedRecord, rotatedRecord } from '../../../src/account/keys/key-record.ts'
import type { KeyStore } from '../../../src/account/keys/key-store.ts'
import { exportKeys, importKeys, planImport } from '../../../src/account/keys/key-transfer.ts'
import type { Day } from '../../../src/base/day.ts'
import { type KeyFile, parseKeyFile } from '../../../src/config/key-file.ts'
import { readSettings } from '../../../src/config/settings.ts'
import { writeRecord } from '../stores/write-row.ts'

const { plans } = readSettings({ command: 'serve', flags: {}, environment: {}, cwd: tmpdir() })
const origin = 'the file x'
const judge = (content: unknown): ReturnType<typeof parseKeyFile> =>
  parseKeyFile(typeof content === 'string' ? content : JSON.stringify(content), { plans, origin })
/** As it comes back from a disk. */
const read = (file: unknown): KeyFile => {
  const judged = judge(file)
  if ('length' in judged) throw new Error(JSON.stringify(judged))
  return judged
}

const folders: string[] = []
const stores: KeyStore[] = []
const newStore = async (): Promise<KeyStore> => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-transfer-'))
  folders.push(folder)
  const store = await openLmdbKeyStore(folder)
  stores.push(store)
  return store
}
let from: KeyStore
let to: KeyStore
beforeEach(async () => {
  from = await newStore()
  to = await newStore()
})
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const made = (now = 1_700_000_000_123): KeyRecord =>
  newRecord(
    { name: 'näme', plan: 'team', apis: ['ip-risk'] },
    { id: randomId(), secret: randomSecret(), now },
  )
const take = async (file: KeyFile, replace = false): Promise<unknown> => {
  const plan = await planImport(to, file)
  await importKeys(to, plan, replace)
  return { fresh: plan.fresh.length, unchanged: plan.unchanged, conflicts: plan.conflicts }
}

describe('a file of keys', () => {
  it('brings back every record as it was, and again changes nothing', async () => {
    const limits = { perSecond: 3, burst: 4, quotaPerMonth: 5 }
    const rotation = {
      secret: randomSecret(),
      now: 1_700_000_000_500,
      oldExpiresAt: 1_800_000_000_001,
    }
    const records = [
      made(),
      { ...made(), expires: 30_000 as Day, limits, apis: [] },
      { ...made(), limits: { quotaPerMonth: 9 } },
      revokedRecord(made(), 1_700_000_000_999),
      rotatedRecord(made(), rotation),
    ]
    for (const record of records) await from.create(record)
    const file = exportKeys(await from.list(), 1_750_000_000_000)
    expect(await take(read(file))).toEqual({ fresh: 5, unchanged: 0, conflicts: [] })
    expect(await to.list()).toEqual(await from.list())
    const version = (await to.changes(0)).version
    expect(await take(read(file), true)).toEqual({ fresh: 0, unchanged: 5, conflicts: [] })
    expect((await to.changes(0)).version).toBe(version)
  })

  it('is taken in whatever the order of its members', async () => {
    await from.create({ ...made(), limits: { perSecond: 3, burst: 4 } })
    const file = exportKeys(await from.list(), 0)
    await take(read(file))
    const reversed = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(reversed)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([name, inner]) => [name, reversed(inner)]),
            )
          : value
    expect(await take(read(reversed(file)))).toEqual({ fresh: 0, unchanged: 1, conflicts: [] })
  })

  it('that differs is a conflict by members, and replaces only where told', async () => {
    const record = made()
    await from.create({ ...record, name: 'other', secrets: made().secrets })
    await to.create(record)
    const file = read(exportKeys(await from.list(), 0))
    const conflicts = [{ id: record.id, members: ['name', 'secrets'], revoked: false }]
    expect(await take(file)).toEqual({ fresh: 0, unchanged: 0, conflicts })
    expect(await to.get(record.id)).toEqual(record)
    await take(file, true)
    expect(await to.list()).toEqual(await from.list())
  })

  it('never brings a revoked key back', async () => {
    const record = made()
    await from.create(record)
    await to.create(revokedRecord(record, 5))
    const file = read(exportKeys(await from.list(), 0))
    expect((await planImport(to, file)).conflicts).toEqual([
      { id: record.id, members: ['revoked_at'], revoked: true },
    ])
    await take(file, true)
    expect((await to.get(record.id))?.revokedAt).toBe(5)
  })
})

describe('a bad file', () => {
  it('is told with all its problems at once, and without what may be a secret', async () => {
    await from.create(made())
    const file = exportKeys(await from.list(), 0)
    const [key] = file.keys
    const secret = randomSecret()
    const bad = {
      ...file,
      version: 2,
      keys: [
        { ...key, id: 'short', extra: 1, expires: '2026-02-31' },
        { ...key, name: 5, secrets: [{ sha256: secret, created_at: 'now' }] },
        { ...key, plan: undefined, limits: { perSecond: 0 }, secrets: [] },
      ],
    }
    const judged = judge(bad)
    expect('length' in judged && judged.map(({ name }) => name).sort()).toEqual([
      'keys.0.expires',
      'keys.0.extra',
      'keys.0.id',
      'keys.1.name',
      'keys.1.secrets.0.created_at',
      'keys.1.secrets.0.sha256',
      'keys.2.limits.perSecond',
      'keys.2.plan',
      'keys.2.secrets',
      'version',
    ])
    expect(JSON.stringify(judged)).not.toContain(secret)
  })

  it('replaces an unreadable record only with `replace`', async () => {
    const [key, revoked] = [made(1000), made(2000)]
    for (const one of [key, revoked]) await from.create(one)
    const file = exportKeys(await from.list(), 0)
    const [, place = ''] = folders
    await writeRecord(place, key.id, '{')
    await writeRecord(place, revoked.id, JSON.stringify({ id: revoked.id, revokedAt: 5 }))
    expect(await take(file)).toMatchObject({
      fresh: 0,
      conflicts: [
        { id: key.id, members: [expect.stringContaining('cannot be read')], revoked: false },
        { id: revoked.id, revoked: true },
      ],
    })
    await expect(to.get(key.id)).rejects.toMatchObject({ code: 'key_unreadable' })
    await take({ ...file, keys: file.keys.filter(({ id }) => id === key.id) }, true)
    expect(await to.get(key.id)).toEqual(key)
  })

  it('may name no key twice and no plan that is not there', async () => {
    await from.create({ ...made(), plan: 'gone' })
    const file = exportKeys(await from.list(), 0)
    expect(judge({ ...file, keys: [...file.keys, ...file.keys] })).toMatchObject([
      { name: 'keys.0.plan', allowed: expect.stringContaining('unknown plan') as string },
      { name: 'keys.1.id' },
      { name: 'keys.1.plan' },
    ])
  })

  it('is refused, never thrown about, whatever it holds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(judge(text)).toHaveProperty('length')
      }),
    )
  })
})
