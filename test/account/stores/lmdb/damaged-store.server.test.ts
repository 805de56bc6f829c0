// A data file of LMDB that is cut off, overwritten or has bits flipped: a process either works with
// it, or says which file is damaged. lmdb by itself ends the process at about one in six of these.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKey } from '../../../../src/account/keys/issue-key.ts'
import { checkLmdbFile } from '../../../../src/account/stores/lmdb/check-lmdb-file.ts'
import {
  openLmdbCounterStore,
  openLmdbKeyStore,
  openLmdbListStore,
} from '../../../../src/account/stores/lmdb/lmdb-stores.ts'
import { newRandom } from '../../../../bench/harness/random.ts'
import { runProgram } from '../../../cli/program.ts'
import { removeFolder } from '../../../remove-folder.ts'
import { record } from '../conformance.ts'

const child = fileURLToPath(
  new URL('../../../../dist/test/account/stores/lmdb/use-store-child.js', import.meta.url),
)
const folder = mkdtempSync(join(tmpdir(), 'iprisk-damaged-store-'))
const good = join(folder, 'good')
const dataOf = (state: string): string => join(state, 'keys', 'data.mdb')
const pageBytes = 4096
const damages = 56
afterAll(() => removeFolder(folder))

beforeAll(async () => {
  await (await openLmdbKeyStore(good)).close()
  const root = open({ path: join(good, 'keys'), encoding: 'json', overlappingSync: false })
  const keys = root.openDB<string, string>({ name: 'keys', encoding: 'string' })
  const changes = root.openDB<string, number>({ name: 'changes', encoding: 'string' })
  const meta = root.openDB<number, string>({ name: 'meta', encoding: 'json' })
  root.transactionSync(() => {
    for (let i = 1; i <= 600; i += 1) {
      const id = `k${String(i * 7919).padStart(11, '0')}`
      keys.putSync(id, JSON.stringify({ changed: i, record: { ...record(i), id } }))
      changes.putSync(i, JSON.stringify(id))
    }
    // A value longer than a page, in a row that is invalid.
    keys.putSync('long', 'x'.repeat(20_000))
    meta.putSync('version', 600)
  })
  await root.close()
  const store = await openLmdbKeyStore(good)
  for (let i = 0; i < 5; i += 1) await createKey(store, { name: '', plan: 'team', apis: [] }, i)
  await store.close()
})

it('is no damage that a long value was written shorter in its first transaction', async () => {
  const path = join(folder, 'shorter')
  const root = open({ path, encoding: 'json', overlappingSync: false })
  const rows = root.openDB<string, string>({ name: 'rows', encoding: 'string' })
  root.transactionSync(() => {
    rows.putSync('row', 'x'.repeat(20_000))
    rows.putSync('row', 'y'.repeat(9000))
  })
  await root.close()
  expect(checkLmdbFile(join(path, 'data.mdb'))).toBe(undefined)
})

it('is opened, or named as damaged, and no process ends without a word', () => {
  const bytes = readFileSync(dataOf(good))
  const names = new Map<string, string>()
  for (let seed = 0; seed < damages; seed += 1) {
    const state = join(folder, String(seed))
    const { what, damaged } = damage(bytes, seed)
    mkdirSync(join(state, 'keys'), { recursive: true })
    writeFileSync(dataOf(state), damaged)
    names.set(state, what)
  }
  const { stdout, signal } = spawnSync(process.execPath, [child, ...names.keys()], {
    encoding: 'utf8',
  })
  const lines = stdout.trimEnd().split('\n')
  const [last = ''] = (lines.at(-1) ?? '').split(' ')
  expect({ signal, at: signal === null ? '' : `${last} ${names.get(last)}` }).toEqual({
    signal: null,
    at: '',
  })
  const outcomes = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  )
  const odd = [...names].filter(
    ([state]) => !/^(works with \d+ keys|keys_unusable)$/.test(outcomes.get(state) ?? ''),
  )
  expect(odd.map(([state, what]) => `${what}: ${outcomes.get(state)}`)).toEqual([])
  const refused = [...outcomes.values()].filter((outcome) => outcome === 'keys_unusable').length
  expect(refused).toBeGreaterThan(damages / 3)
})

it('ends a command with code 1, the name of the file and what to do', async () => {
  const state = join(folder, 'for-command')
  mkdirSync(join(state, 'keys'), { recursive: true })
  const bytes = readFileSync(dataOf(good))
  // The root of all trees, by the newer meta page: its header is gone.
  const isFirst = bytes.readBigUInt64LE(152) > bytes.readBigUInt64LE(pageBytes + 152)
  const page = Number(bytes.readBigUInt64LE((isFirst ? 0 : pageBytes) + 136))
  bytes.fill(0, page * pageBytes, page * pageBytes + 64)
  writeFileSync(dataOf(state), bytes)
  const { code, err } = await runProgram(['keys', 'list', '--state', state], { cwd: folder })
  expect(code).toBe(1)
  expect(err).toContain(`${dataOf(state)} is damaged: page ${page} is overwritten.`)
  expect(err).toContain('iprisk state restore FILE')
})

it('is none where the file is good, whatever was written and while it is written', async () => {
  const state = join(folder, 'written')
  const stores = await Promise.all([
    openLmdbKeyStore(state),
    openLmdbCounterStore(state),
    openLmdbListStore(state),
  ])
  const [keyStore, counters, lists] = stores
  const { below } = newRandom(3)
  const textOf = (charsMax: number): string => 'x'.repeat(below(charsMax))
  const ids: string[] = []
  for (let round = 0; round < 25; round += 1) {
    const { record: made } = await createKey(keyStore, { name: '', plan: 'team', apis: [] }, round)
    ids.push(made.id)
    const id = ids[below(ids.length)] ?? ''
    await keyStore.update(id, (before) => ({ ...before, name: textOf(90) }))
    const names = Array.from({ length: 40 }, () => `2026-08 k${below(500)}`)
    const swaps = [...new Set(names)].map((name) => {
      const before = counters.read(name)
      return counters.compareAndSwap(name, before, before.value + 1)
    })
    await lists.putChunks([{ id: `c${below(9)}`, text: textOf(150_000) }])
    await lists.removeChunks([`c${below(9)}`])
    for (const name of ['keys', 'quota', 'lists']) {
      expect(checkLmdbFile(join(state, name, 'data.mdb'))).toBe(undefined)
    }
    await Promise.all(swaps)
  }
  for (const store of stores) await store.close()
})

const kindOf = (bytes: Buffer, page: number): number => bytes.readUInt16LE(page * pageBytes + 18)
const pagesOf = (bytes: Buffer): readonly number[] =>
  Array.from({ length: bytes.length / pageBytes - 2 }, (_, i) => i + 2)
const leavesOf = (bytes: Buffer): readonly number[] =>
  pagesOf(bytes).filter((page) => kindOf(bytes, page) === 2)

/** The same damage for the same seed. */
function damage(
  good: Buffer,
  seed: number,
): { readonly what: string; readonly damaged: Uint8Array } {
  const { below } = newRandom(seed)
  const bytes = Buffer.from(good)
  const flip = (at: number): void => void (bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8)))
  const pick = (pages: readonly number[]): number => pages[below(pages.length)] ?? 0
  const page = pick(pagesOf(bytes))
  switch (seed % 8) {
    case 0: {
      const length = below(bytes.length)
      return { what: `cut to ${length} bytes`, damaged: bytes.subarray(0, length) }
    }
    case 1: {
      const length = page * pageBytes
      return { what: `cut to ${page} pages`, damaged: bytes.subarray(0, length) }
    }
    case 2: {
      const at = below(2) * pageBytes + 24 + below(136)
      flip(at)
      return { what: `a bit flipped at ${at} of the meta pages`, damaged: bytes }
    }
    case 3: {
      const branch = pick(pagesOf(bytes).filter((one) => kindOf(bytes, one) === 1))
      const at = below(64)
      flip(branch * pageBytes + at)
      return { what: `a bit flipped at ${at} of branch ${branch}`, damaged: bytes }
    }
    case 4: {
      const leaf = pick(leavesOf(bytes))
      const at = below(64)
      flip(leaf * pageBytes + at)
      return { what: `a bit flipped at ${at} of leaf ${leaf}`, damaged: bytes }
    }
    case 5: {
      const leaf = pick(leavesOf(bytes))
      for (let flips = 0; flips < 20; flips += 1) flip(leaf * pageBytes + below(pageBytes))
      return { what: `20 bits flipped in leaf ${leaf}`, damaged: bytes }
    }
    case 6:
      bytes.fill(0, page * pageBytes, (page + 1) * pageBytes)
      return { what: `zeros in page ${page}`, damaged: bytes }
    default:
      for (let at = 0; at < pageBytes; at += 1) bytes[page * pageBytes + at] = below(256)
      return { what: `noise in page ${page}`, damaged: bytes }
  }
}
