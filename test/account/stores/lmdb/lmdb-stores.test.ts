// The embedded key store: the conformance suite, and what is LMDB's own: files, modes, refusals.

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createKey, rotateKey } from '../../../../src/account/keys/issue-key.ts'
import { parseKeyText } from '../../../../src/account/keys/key-text.ts'
import {
  openLmdbKeyStore,
  openLmdbListStore,
} from '../../../../src/account/stores/lmdb/lmdb-stores.ts'
import { keyStoreConformance, record } from '../conformance.ts'
import { listStoreConformance } from '../list-conformance.ts'
import { openFiles } from '../open-files.ts'
import { writeRecord } from '../write-row.ts'

keyStoreConformance('the LMDB store', openLmdbKeyStore, writeRecord)
listStoreConformance('the LMDB store', openLmdbListStore)

let state = ''
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-state-'))
})
afterEach(() => {
  rmSync(state, { recursive: true })
})

const modes = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      (statSync(join(folder, name)).mode & 0o777).toString(8),
    ]),
  )

it('makes a folder and files that only their owner reads, whatever the umask', async () => {
  // A worker thread may not change the umask; a folder with loose permissions stands for it.
  mkdirSync(join(state, 'keys'))
  chmodSync(join(state, 'keys'), 0o777)
  const store = await openLmdbKeyStore(state)
  await createKey(store, { name: '', plan: 'team', apis: [] }, 1)
  expect((statSync(join(state, 'keys')).mode & 0o777).toString(8)).toBe('700')
  expect(modes(join(state, 'keys'))).toEqual({ 'data.mdb': '600', 'lock.mdb': '600' })
  await store.close()
})

it('never writes a secret to disk, but does write its hash', async () => {
  const store = await openLmdbKeyStore(state)
  const made = await createKey(store, { name: 'n', plan: 'team', apis: ['ip-risk'] }, 1)
  const rotated = await rotateKey(store, made.record.id, { now: 2, graceMs: 1000 })
  await store.close()
  const bytes = readdirSync(join(state, 'keys')).map((name) =>
    readFileSync(join(state, 'keys', name)).toString('latin1'),
  )
  const disk = bytes.join('')
  for (const text of [made.text, rotated.text]) {
    const secret = parseKeyText(text)?.secret ?? ''
    expect(secret).toHaveLength(32)
    expect(disk).not.toContain(secret)
    expect(disk).not.toContain(secret.slice(0, 16))
  }
  for (const { hash } of rotated.record.secrets) expect(disk).toContain(hash)
})

it('refuses a folder that cannot be one, and says which and what to do', async () => {
  writeFileSync(join(state, 'keys'), 'a file')
  await expect(openLmdbKeyStore(state)).rejects.toMatchObject({
    code: 'keys_unusable',
    message: expect.stringMatching(
      /keys cannot be opened: .*name another state folder with --state/,
    ),
  })
})

it('takes an empty data file for a store that is just being made', async () => {
  mkdirSync(join(state, 'keys'))
  writeFileSync(join(state, 'keys', 'data.mdb'), '')
  const store = await openLmdbKeyStore(state)
  expect((await store.changes(0)).version).toBe(0)
  await store.close()
})

// lmdb itself ends the process on each of these files; the store must refuse them.
it.each([
  ['text', () => Buffer.from('x'.repeat(20_000)), 'first page is not LMDB'],
  ['zeros', () => Buffer.alloc(20_000), 'first page is not LMDB'],
  ['100 bytes of a good one', (good: Buffer) => good.subarray(0, 100), 'ends inside its first'],
  ['one page of a good one', (good: Buffer) => good.subarray(0, 4096), 'ends inside its second'],
  ['two pages of a good one', (good: Buffer) => good.subarray(0, 8192), 'it is cut off'],
  [
    'a good one of another LMDB version',
    (good: Buffer) => {
      const bytes = Buffer.from(good)
      bytes.writeUInt32LE(1, 28)
      return bytes
    },
    'LMDB version is 1',
  ],
])('refuses a data file that holds %s', async (_, damaged, words) => {
  const store = await openLmdbKeyStore(state)
  await createKey(store, { name: '', plan: 'team', apis: [] }, 1)
  await store.close()
  const data = join(state, 'keys', 'data.mdb')
  const good = readFileSync(data)
  writeFileSync(data, damaged(good))
  await expect(openLmdbKeyStore(state)).rejects.toMatchObject({
    code: 'keys_unusable',
    message: expect.stringContaining(words),
  })
  writeFileSync(data, good)
  const again = await openLmdbKeyStore(state)
  expect((await again.changes(0)).version).toBe(1)
  await again.close()
})

it('refuses the store of a later format', async () => {
  const root = open({ path: join(state, 'keys'), encoding: 'json', overlappingSync: false })
  await root.openDB<number, string>({ name: 'meta', encoding: 'json' }).put('format', 2)
  await root.close()
  await expect(openLmdbKeyStore(state)).rejects.toMatchObject({
    code: 'keys_unusable',
    message: expect.stringContaining('format 2'),
  })
  // It was let go of: this process has no file of it open any more.
  expect(openFiles().filter((path) => path.startsWith(state))).toEqual([])
})

it('lists thousands of keys while its loop goes on', async () => {
  await (await openLmdbKeyStore(state)).close()
  const root = open({ path: join(state, 'keys'), encoding: 'json', overlappingSync: false })
  const keys = root.openDB<object, string>({ name: 'keys', encoding: 'json' })
  const count = 6000
  const idOf = (i: number): string => `k${String(i).padStart(11, '0')}`
  root.transactionSync(() => {
    for (let i = 0; i < count; i += 1) {
      const id = idOf(i)
      keys.putSync(id, { changed: i + 1, record: { ...record(count - i), id } })
    }
  })
  await root.close()
  const store = await openLmdbKeyStore(state)
  let turns = 0
  const turning = setInterval(() => (turns += 1), 0)
  const { records: listed } = await store.list()
  clearInterval(turning)
  expect(listed.map(({ id }) => id)).toEqual(Array.from(listed, (_, i) => idOf(count - 1 - i)))
  expect(listed).toHaveLength(count)
  expect(turns).toBeGreaterThan(0)
  await store.close()
})
