// Old parts of a place stay while it is not known which of them are still in use.

import { existsSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createSigningKey, readSigningKey } from '../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../src/publish/places/folder-place.ts'
import { publishTable } from '../../src/publish/publish-table.ts'
import { newTable, otherTable } from '../serve/small-tables.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-prune-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('removes no part, and reports none, while the index of a release is missing', async () => {
  createSigningKey(join(folder, 'key.pem'))
  const at = join(folder, 'place')
  const publish = (table: string) =>
    publishTable(table, {
      place: openFolderPlace(at),
      key: readSigningKey(join(folder, 'key.pem')),
      stages: [],
      keepMs: 86_400_000,
      force: false,
      now: Date.now(),
    })
  const { release } = await publish(newTable())
  const unnamed = join(at, 'parts', 'f'.repeat(64))
  writeFileSync(unnamed, 'x')
  utimesSync(unnamed, 1, 1)
  const index = join(at, 'parts', release.index.sha256)
  renameSync(index, join(folder, 'index'))
  const second = otherTable('2026-08-23')
  expect((await publish(second)).pruned).toBe(0)
  expect(existsSync(unnamed)).toBe(true)
  renameSync(join(folder, 'index'), index)
  expect((await publish(second)).pruned).toBe(1)
  expect(existsSync(unnamed)).toBe(false)
})
