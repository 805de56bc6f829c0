// The published tables that a server keeps: `<folder of the table>/pulled/<id>.iprisk`, each under
// its own name. The one in the table's place is a second name of one of them, so it takes no room
// of its own, and a table that turns out badly gives its place back.

import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { mapFile } from '../../base/system/memory-map.ts'
import { readTableView } from '../../table/file/table-view.ts'

/** Tables kept beside those that are in use. */
const keptTables = 2

const ending = '.iprisk'

export interface PulledTables {
  readonly folder: string
  readonly nameOf: (id: string) => string
  readonly has: (id: string) => boolean
  /** Keeps what is in the table's place, which came otherwise: in an image, or by a build. */
  readonly adopt: (id: string) => void
  /** Moves a second name of that table over what is in the table's place. */
  readonly putInPlace: (id: string) => void
  /** Removes the oldest tables, but none of these. */
  readonly removeOld: (inUse: readonly string[]) => void
}

/** Throws `file_unreadable`, `table_corrupt`, `table_version`. */
function idOf(path: string): string {
  const map = mapFile(path)
  try {
    return readTableView(map.bytes, path).id
  } finally {
    map.unmap()
  }
}

export function openPulledTables(tablePath: string): PulledTables {
  const folder = join(dirname(tablePath), 'pulled')
  const nameOf = (id: string): string => `${id}${ending}`
  const pathOf = (id: string): string => join(folder, nameOf(id))
  const has = (id: string): boolean => existsSync(pathOf(id))
  return {
    folder,
    nameOf,
    has,
    adopt: (id) => {
      if (!existsSync(tablePath) || has(id)) return
      try {
        // Somebody may have put another one there since.
        if (idOf(tablePath) === id) linkSync(tablePath, pathOf(id))
      } catch {
        // No table, or another user's, which may not be linked: there is one fewer to go back to.
      }
    },
    putInPlace: (id) => {
      const temporary = join(dirname(tablePath), `.${basename(tablePath)}.pulled.tmp`)
      // Of a server that was killed just here.
      rmSync(temporary, { force: true })
      linkSync(pathOf(id), temporary)
      renameSync(temporary, tablePath)
      // Where both names are of one file already, rename leaves both.
      rmSync(temporary, { force: true })
    },
    removeOld: (inUse) => {
      const old = readdirSync(folder)
        .filter((name) => name.endsWith(ending) && !inUse.map(nameOf).includes(name))
        .map((name) => ({ path: join(folder, name), ms: statSync(join(folder, name)).mtimeMs }))
        .sort((a, b) => b.ms - a.ms)
      for (const { path } of old.slice(keptTables)) rmSync(path, { force: true })
    },
  }
}
