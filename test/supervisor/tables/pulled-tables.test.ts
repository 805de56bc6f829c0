// The published tables that a server keeps: the one in use gets a second name, and nothing else does.

import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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

it('puts a table in place also where a server was killed while it did so', () => {
  const path = newTable()
  const pulled = openPulledTables(path)
  mkdirSync(pulled.folder)
  copyFileSync(otherTable('2026-08-23'), join(pulled.folder, pulled.nameOf('next')))
  const folder = dirname(path)
  writeFileSync(join(folder, `.${basename(path)}.pulled.tmp`), 'left')
  pulled.putInPlace('next')
  expect(idOf(path)).toMatch(/^20260823-/)
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
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
