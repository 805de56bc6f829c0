// What is left of sets that nobody pulls: removed by age, and what is pulled stays.

import { existsSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { msPerDay } from '../../src/base/day.ts'
import { readCursor, removeUnused, setFolder, writeCursor } from '../../src/sets/set-folder.ts'
import { atEndOfFile } from '../ends.ts'
import { removeFolder } from '../remove-folder.ts'

const state = mkdtempSync(join(tmpdir(), 'iprisk-sets-'))
atEndOfFile(() => removeFolder(state))
const nowMs = Date.now()
const age = (path: string, days: number): void =>
  utimesSync(path, new Date(), new Date(nowMs - days * msPerDay))
const made = (port: number): { readonly folder: string; readonly cursors: string } => {
  const folder = setFolder(state, 'bouncer', { host: '127.0.0.1', port })
  const cursors = join(folder, 'cursors')
  mkdirSync(cursors, { recursive: true })
  writeFileSync(join(folder, 'current.json'), '{}')
  for (const key of ['old', 'new']) writeFileSync(join(cursors, key), '{}')
  age(join(cursors, 'old'), 61)
  return { folder, cursors }
}

it('no key has pulled for 60 days is removed, with its cursors', () => {
  removeUnused(join(state, 'missing'), nowMs)
  const [unused, quiet, used] = [made(1), made(2), made(3)]
  for (const path of [unused.cursors, unused.folder, quiet.folder]) age(path, 61)
  removeUnused(state, nowMs)
  expect([unused, quiet, used].map(({ folder }) => existsSync(folder))).toEqual([false, true, true])
  for (const { cursors } of [quiet, used]) {
    const left = ['old', 'new'].filter((key) => existsSync(join(cursors, key)))
    expect(left).toEqual(['new'])
  }
})

it('is another folder for another address or port', () => {
  const listeners = ['127.0.0.1', '::1'].flatMap((host) => [1, 2].map((port) => ({ host, port })))
  const folders = listeners.map((one) => setFolder(state, 'bouncer', one))
  expect(new Set(folders).size).toBe(4)
})

it('takes cursors of one key that are written at once', async () => {
  const { folder } = made(4)
  const cursors = Array.from({ length: 20 }, (_, generation) => ({
    series: 's',
    generation,
    fullMs: 1,
  }))
  await Promise.all(cursors.map((cursor) => writeCursor(folder, 'key', cursor)))
  expect(cursors).toContainEqual(await readCursor(folder, 'key'))
})
