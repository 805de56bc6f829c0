// The published tables that a server keeps, and the place of the table.

import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
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

it('puts a table in place also where a server was killed while it did so', () => {
  const path = newTable()
  const folder = dirname(path)
  writeFileSync(join(folder, `.${basename(path)}.pulled-1.tmp`), 'left')
  const pulled = openPulledTables(path)
  mkdirSync(pulled.folder)
  copyFileSync(otherTable('2026-08-23'), join(pulled.folder, pulled.nameOf('next')))
  pulled.putInPlace('next')
  expect(idOf(path)).toMatch(/^20260823-/)
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
})
