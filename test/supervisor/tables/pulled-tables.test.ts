// The published tables that a server keeps, and the place of the table.

import { copyFileSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
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

it('removes the oldest tables, but none in use, and nothing that is no table', () => {
  const { folder, nameOf, removeOld } = openPulledTables(newTable())
  mkdirSync(join(folder, 'parts'), { recursive: true })
  // In the order of their age, of which the names say nothing.
  const files = ['notes.txt', 'x.iprisk.tmp', ...['e', 'a', 'd', 'b', 'c', 'f'].map(nameOf)]
  for (const [at, name] of files.entries()) {
    writeFileSync(join(folder, name), '')
    utimesSync(join(folder, name), 1000 + at, 1000 + at)
  }
  const foreign = ['notes.txt', 'parts', 'x.iprisk.tmp']
  const tables = (): readonly string[] => {
    const names = readdirSync(folder).toSorted()
    expect(names).toEqual(expect.arrayContaining(foreign))
    return names.filter((name) => !foreign.includes(name))
  }
  // `e` is the oldest and answers; `c` and `f` are the last two beside it.
  removeOld(['e'])
  expect(tables()).toEqual(['c.iprisk', 'e.iprisk', 'f.iprisk'])
  removeOld(['e', 'gone'])
  expect(tables()).toEqual(['c.iprisk', 'e.iprisk', 'f.iprisk'])
  removeOld([])
  expect(tables()).toEqual(['c.iprisk', 'f.iprisk'])
})
