// The check of an LMDB data file, byte by byte: which single change of a real file is damage, and
// which is not. Random damage, and what lmdb makes of it, is damaged-store.server.test.ts.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKey } from '../../../../src/account/keys/issue-key.ts'
import { checkLmdbFile } from '../../../../src/account/stores/lmdb/check-lmdb-file.ts'
import { openLmdbKeyStore } from '../../../../src/account/stores/lmdb/lmdb-stores.ts'

const state = mkdtempSync(join(tmpdir(), 'iprisk-check-lmdb-'))
const path = join(state, 'data.mdb')
const pageBytes = 4096
let good = Buffer.alloc(0)
afterAll(() => rmSync(state, { recursive: true }))

beforeAll(async () => {
  const store = await openLmdbKeyStore(state)
  // Each commit frees pages of the one before.
  for (let i = 0; i < 5; i += 1) await createKey(store, { name: '', plan: 'team', apis: [] }, i)
  await store.close()
  good = readFileSync(join(state, 'keys', 'data.mdb'))
})

/** The current meta page, and where the roots of its trees are, in bytes. */
function metaOf(bytes: Buffer) {
  const transactions = [0, pageBytes].map((at) => Number(bytes.readBigUInt64LE(at + 152)))
  const transaction = Math.max(...transactions)
  const at = transactions.indexOf(transaction) * pageBytes
  const rootAt = (tree: number): number => Number(bytes.readBigUInt64LE(at + tree + 40)) * pageBytes
  return { transaction, free: rootAt(48), main: rootAt(96) }
}

function damageBy(change: (bytes: Buffer) => void): string | undefined {
  const bytes = Buffer.from(good)
  change(bytes)
  writeFileSync(path, bytes)
  return checkLmdbFile(path)
}

it('finds no damage in a file as lmdb wrote it', () => {
  expect(damageBy(() => undefined)).toBeUndefined()
})

it('finds a page of a later transaction than that of the file', () => {
  const { main, transaction } = metaOf(good)
  const written = (by: number) => (bytes: Buffer) => void bytes.writeUIntLE(by, main + 8, 6)
  expect(damageBy(written(transaction))).toBeUndefined()
  const damage = `page ${main / pageBytes} is overwritten`
  for (const later of [1, 2 ** 20]) expect(damageBy(written(transaction + later))).toBe(damage)
})

it('takes a list of no free pages for what it is, and finds one that counts below none', () => {
  const { free } = metaOf(good)
  const node = free + 24 + good.readUInt16LE(free + 24)
  const list = node + 8 + good.readUInt16LE(node + 6)
  expect(good.readBigInt64LE(list)).toBeGreaterThan(0n)
  const counted = (count: bigint) => (bytes: Buffer) => void bytes.writeBigInt64LE(count, list)
  expect(damageBy(counted(0n))).toBeUndefined()
  for (const count of [-1n, 2n ** 40n]) {
    expect(damageBy(counted(count))).toBe('a list of free pages is damaged')
  }
})
