// Table files that a test may do anything to: the small table, of any day, at a place of its own.

import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { writeTable } from '../../build/write/write-table.ts'
import { parseDay } from '../../src/base/day.ts'
import { type listed, smallContent, writeSmallTable } from '../table/small-table.ts'
import { newState } from './server.ts'

const template = writeSmallTable()

/** The small table, as of 2026-08-22. */
export function newTable(): string {
  const file = join(newState(), 'small.iprisk')
  copyFileSync(template, file)
  return file
}

/** The small table as of another day, with other entries where they are given, under a new name. */
export function otherTable(day: string, entries?: typeof listed): string {
  const file = `${newTable()}.${day}`
  writeTable(file, { ...smallContent(entries), asOf: parseDay(day)! })
  return file
}

/** Renames such a table into the place of `table`. */
export function replaceTable(table: string, day: string, entries?: typeof listed): void {
  const file = otherTable(day, entries)
  // Beside it first: a rename from another file system would be a copy.
  copyFileSync(file, `${table}.new`)
  renameSync(`${table}.new`, table)
}
