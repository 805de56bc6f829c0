// The second names of a server's tables in its state folder: of the one in use, and of the one before
// it. They outlive the server, so that the next one can roll back, and a copy in `serving/` that is
// removed.
//
//   <state>/current-<the table's place>-<id>.iprisk     previous-…
//
// Each is a hard link, so the table in use takes no room twice. A name says nothing of what the file
// holds by now: whoever takes it from here verifies it.
//
// Invariant: one name a role, once `keep` has returned; what had it before is removed off the loop,
// for freeing a large file takes a tenth of a second.

import { createHash, randomUUID } from 'node:crypto'
import { linkSync, renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { namesIn } from '../../base/system/atomic-file.ts'
import { inodeIdentity } from './file-watch.ts'

export type KeptRole = 'current' | 'previous'

export interface KeptTable {
  readonly id: string
  readonly path: string
}

export interface KeptTables {
  readonly find: (role: KeptRole) => KeptTable | undefined
  /** Gives a file the name of a role, which another one loses; gives that name. */
  readonly keep: (role: KeptRole, table: KeptTable) => KeptTable
  readonly drop: (role: KeptRole) => void
}

/** Names the tables that come to one place: servers of one state folder may have several. */
export function placeMark(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 8)
}

export function openKeptTables(stateFolder: string, path: string): KeptTables {
  const mark = placeMark(path)
  const namesOf = (role: KeptRole | 'dropped'): readonly string[] =>
    namesIn(stateFolder).filter((name) => name.startsWith(`${role}-${mark}-`))
  const remove = (name: string): void =>
    void rm(join(stateFolder, name), { force: true }).catch(() => undefined)
  const drop = (role: KeptRole): void => {
    for (const name of namesOf(role)) {
      // A name of its own: a rename to another name of the same file leaves both.
      renameSync(join(stateFolder, name), join(stateFolder, `dropped-${mark}-${randomUUID()}`))
    }
    // Also what a server that was killed had no time for.
    for (const name of namesOf('dropped')) remove(name)
  }
  return {
    find: (role) => {
      const name = namesOf(role)[0]
      if (name === undefined) return undefined
      return { id: /-([^-]+-[^-]+)\.iprisk$/.exec(name)?.[1] ?? '', path: join(stateFolder, name) }
    },
    keep: (role, { id, path: from }) => {
      const path = join(stateFolder, `${role}-${mark}-${id}.iprisk`)
      const kept = inodeIdentity(path)
      // It has the name, or there is nothing better to give it to.
      if (kept !== '' && ['', kept].includes(inodeIdentity(from))) return { id, path }
      drop(role)
      linkSync(from, path)
      return { id, path }
    },
    drop,
  }
}
