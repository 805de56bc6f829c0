// A server's published tables: `<folder of the table>/pulled/<id>.iprisk`. The file in the table's
// place is a hard link to one of them, so a bad table never gets there.

import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { checkOutput, namesIn, outputTarget } from '../../base/system/atomic-file.ts'

/** Beside those in use. */
const keptTables = 2

const ending = '.iprisk'

export type PulledTables = ReturnType<typeof openPulledTables>

export function openPulledTables(tablePath: string) {
  // For a link, beside its target, because a rename must stay in one file system.
  checkOutput('--table', tablePath, 'table_unwritable')
  const place = outputTarget(tablePath)
  const home = dirname(place)
  const folder = join(home, 'pulled')
  const draft = `.${basename(place)}.pulled-`
  // Left by killed servers.
  for (const name of namesIn(home)) {
    if (name.startsWith(draft)) rmSync(join(home, name), { force: true })
  }
  const nameOf = (id: string): string => `${id}${ending}`
  const pathOf = (id: string): string => join(folder, nameOf(id))
  const has = (id: string): boolean => existsSync(pathOf(id))
  return {
    folder,
    nameOf,
    has,
    putInPlace: (id: string): void => {
      const temporary = join(home, `${draft}${randomUUID()}.tmp`)
      linkSync(pathOf(id), temporary)
      renameSync(temporary, outputTarget(place))
      // If both names are the same file, rename keeps both.
      rmSync(temporary, { force: true })
    },
    removeOld: (inUse: readonly string[]): void => {
      const old = readdirSync(folder)
        .filter((name) => name.endsWith(ending) && !inUse.map(nameOf).includes(name))
        .map((name) => ({ path: join(folder, name), ms: statSync(join(folder, name)).mtimeMs }))
        .sort((a, b) => b.ms - a.ms)
      for (const { path } of old.slice(keptTables)) rmSync(path, { force: true })
    },
  }
}
