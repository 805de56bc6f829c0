// The table in use gets a second name before another one takes its place, and nothing else does.

import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { adoptTable } from '../../../src/publish/pull/join-table-parts.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { newTable, otherTable } from '../../serve/small-tables.ts'

function idOf(path: string): string {
  const table = openTable(path)
  table.close()
  return table.id
}

it('is the table in use that came otherwise', () => {
  const from = newTable()
  const path = `${from}.kept`
  adoptTable({ id: idOf(from), from, path })
  expect(readFileSync(path).equals(readFileSync(from))).toBe(true)
})

it('is nothing that is another table, or none', () => {
  const from = newTable()
  const [id, path] = [idOf(from), `${from}.kept`]
  copyFileSync(otherTable('2026-08-23'), from)
  adoptTable({ id, from, path })
  expect(existsSync(path)).toBe(false)
  writeFileSync(from, 'no table')
  adoptTable({ id, from, path })
  expect(existsSync(path)).toBe(false)
  adoptTable({ id, from: '/nowhere', path })
  expect(existsSync(path)).toBe(false)
})
