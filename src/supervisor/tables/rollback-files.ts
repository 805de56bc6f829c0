// Hard links, in the state folder, to the table in use and the previous one, for a rollback by the
// next server. They survive the removal of copies in `serving/`.
//
//   <state>/current-<the table's place>-<id>.iprisk     previous-…
//   <state>/rollback-<the table's place>.json, .iprisk  a rollback, for later servers: the id
//                                                       of the table held back, and the one in use
//
// The content may have changed: verify it before use. One name per role once `keep` has returned.
// Files are removed off the loop, because freeing a large one takes a tenth of a second.

import { createHash, randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject, parseJson } from '../../base/json-object.ts'
import { namesIn } from '../../base/system/atomic-file.ts'
import { inodeIdentity } from '../../base/system/file-watch.ts'
import { replaceOwnFileSync } from '../../base/system/own-files.ts'

type KeptRole = 'current' | 'previous'

interface KeptTable {
  readonly id: string
  readonly path: string
}

export type KeptTables = ReturnType<typeof openKeptTables>

export function openKeptTables(stateFolder: string, path: string) {
  // Servers with one state folder may serve several tables.
  const mark = createHash('sha256').update(path).digest('hex').slice(0, 8)
  const noteFile = join(stateFolder, `rollback-${mark}.json`)
  const rollbackTable = join(stateFolder, `rollback-${mark}.iprisk`)
  const namesOf = (role: KeptRole | 'dropped'): readonly string[] =>
    namesIn(stateFolder).filter((name) => name.startsWith(`${role}-${mark}-`))
  const remove = (name: string): void =>
    void rm(join(stateFolder, name), { force: true }).catch(() => undefined)
  const drop = (role: KeptRole): void => {
    for (const name of namesOf(role)) {
      // A unique name: renaming to another name of the same file does nothing.
      renameSync(join(stateFolder, name), join(stateFolder, `dropped-${mark}-${randomUUID()}`))
    }
    // Includes leftovers of killed servers.
    for (const name of namesOf('dropped')) remove(name)
  }
  return {
    find: (role: KeptRole): KeptTable | undefined => {
      const name = namesOf(role)[0]
      if (name === undefined) return undefined
      return { id: /-([^-]+-[^-]+)\.iprisk$/.exec(name)?.[1] ?? '', path: join(stateFolder, name) }
    },
    keep: (role: KeptRole, { id, path: from }: KeptTable): KeptTable => {
      const path = join(stateFolder, `${role}-${mark}-${id}.iprisk`)
      const kept = inodeIdentity(path)
      // Already named, or the new file is missing.
      if (kept !== '' && ['', kept].includes(inodeIdentity(from))) return { id, path }
      drop(role)
      linkSync(from, path)
      return { id, path }
    },
    drop,
    rollbackTable,
    readRollbackNote: (): string | undefined => {
      try {
        const note = parseJson(readFileSync(noteFile, 'utf8'))
        const held = isJsonObject(note) ? note['held'] : undefined
        return typeof held === 'string' ? held : undefined
      } catch {
        return undefined
      }
    },
    /** `copy`: of the table that answers. */
    writeRollbackNote: (held: string, copy: string): void => {
      rmSync(rollbackTable, { force: true })
      linkSync(copy, rollbackTable)
      replaceOwnFileSync(noteFile, `${JSON.stringify({ held })}\n`)
    },
    removeRollbackNote: (): void => {
      try {
        rmSync(noteFile, { force: true })
        rmSync(rollbackTable, { force: true })
      } catch {
        // Harmless: the note names a table that is no longer at the path.
      }
    },
  }
}
