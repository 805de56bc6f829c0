// The published tables that a server keeps: the one in use gets a second name, and nothing else does.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openPulledTables } from '../../../src/supervisor/tables/pulled-tables.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'

function idOf(path: string): string {
  const table = openTable(path)
  table.close()
  return table.id
}

it('keeps the table in use that came otherwise', () => {
  const path = newTable()
  const id = idOf(path)
  const pulled = openPulledTables(path)
  mkdirSync(pulled.folder)
  pulled.adopt(id)
  expect(pulled.has(id)).toBe(true)
  expect(readFileSync(join(pulled.folder, pulled.nameOf(id))).equals(readFileSync(path))).toBe(true)
})

it('keeps nothing under the name of the table in use that is another table, or none', () => {
  const path = newTable()
  const id = idOf(path)
  const pulled = openPulledTables(path)
  mkdirSync(pulled.folder)
  copyFileSync(otherTable('2026-08-23'), path)
  pulled.adopt(id)
  expect(pulled.has(id)).toBe(false)
  writeFileSync(path, 'no table')
  pulled.adopt(id)
  expect(pulled.has(id)).toBe(false)
})
