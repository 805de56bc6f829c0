// The published tables that a server keeps: `<folder of the table>/pulled/<id>.iprisk`. The file in
// the table's place is a second name of one of them, so a bad table never gets the place.

import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { checkOutput, namesIn, outputTarget } from '../../base/system/atomic-file.ts'

/** Tables kept beside those that are in use. */
const keptTables = 2

const ending = '.iprisk'

export type PulledTables = ReturnType<typeof openPulledTables>

export function openPulledTables(tablePath: string) {
  // If the table's place is a link, beside its target: a rename must stay in one file system.
  checkOutput('--table', tablePath, 'table_unwritable')
  const place = outputTarget(tablePath)
  const home = dirname(place)
  const folder = join(home, 'pulled')
  const draft = `.${basename(place)}.pulled-`
  // Of servers that were killed while they gave a table its place.
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
      // Where both names are of one file already, rename leaves both.
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
