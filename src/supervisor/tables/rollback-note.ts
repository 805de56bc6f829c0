// The record of a rollback for servers that start later: the table that is held back, and a second
// name of the copy that answers instead.
//
//   <state>/rollback-<the table's place>.json, .iprisk

import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeMark } from './kept-tables.ts'

export interface RollbackNote {
  /** The table that is held back. */
  readonly held: string
}

interface Place {
  /** The operator's file. */
  readonly path: string
  readonly stateFolder: string
}

/** The copy that answers instead of the held table. */
export function rollbackTable(place: Place): string {
  return `${nameOf(place)}.iprisk`
}

export function readRollbackNote(place: Place): RollbackNote | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(`${nameOf(place)}.json`, 'utf8'))
    const { held } = note as Partial<RollbackNote>
    return typeof held === 'string' ? { held } : undefined
  } catch {
    return undefined
  }
}

/** Throws what the disk says. */
export function writeRollbackNote(place: Place, note: RollbackNote, copy: string): void {
  const table = rollbackTable(place)
  rmSync(table, { force: true })
  linkSync(copy, table)
  writeFileSync(`${nameOf(place)}.json`, `${JSON.stringify(note)}\n`, { mode: 0o600 })
}

export function removeRollbackNote(place: Place): void {
  try {
    rmSync(`${nameOf(place)}.json`, { force: true })
    rmSync(rollbackTable(place), { force: true })
  } catch {
    // A note that stays names a table that is no longer at the path, so it holds nothing back.
  }
}

function nameOf({ path, stateFolder }: Place): string {
  return join(stateFolder, `rollback-${placeMark(path)}`)
}
