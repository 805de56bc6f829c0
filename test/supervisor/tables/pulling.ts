// A publisher in a folder, and what pulls from it with a table manager that a test plays.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../../src/base/package-root.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { openTable } from '../../../src/table/open-table.ts'
import type * as tablePull from '../../../src/supervisor/tables/table-pull.ts'
import { newState } from '../../serve/server.ts'

// Compiled, for it starts a process.
const compiled = pathToFileURL(join(packageRoot, 'dist/src/supervisor/tables/table-pull.js')).href
const { startTablePull } = (await import(compiled)) as typeof tablePull

const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never

/** `how`: what publishing takes. `place` is its folder, `tablePath` where the pulled table goes. */
export function newPublisher(options: { readonly keepMs: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-pulling-'))
  createSigningKey(join(folder, 'key.pem'))
  const key = readSigningKey(join(folder, 'key.pem'))
  const place = join(folder, 'place')
  const how = {
    ...options,
    place: openFolderPlace(place),
    key,
    stages: [],
    force: false,
    now: Date.now(),
  }
  return { how, folder, place, tablePath: join(folder, 'world.iprisk') }
}

/** Plays a table manager that takes whatever it is given; `before` is in use at first. */
export function playTables(before?: { readonly id: string; readonly asOf: number }) {
  let used = before
  const taken: string[] = []
  const tables: tablePull.TablePullParts['tables'] = {
    take: (file) => {
      const table = openTable(file)
      table.close()
      used = { id: table.id, asOf: table.asOf }
      taken.push(table.id)
      return Promise.resolve({ kind: 'unchanged', table: table.id })
    },
  }
  const inUse = () => used
  return { taken, inUse, played: { tables, current: inUse } }
}

/** Looks every 50 ms. */
export function pullFrom(
  { how, tablePath }: Pick<ReturnType<typeof newPublisher>, 'how' | 'tablePath'>,
  played: Pick<tablePull.TablePullParts, 'url' | 'current' | 'tables'> &
    Partial<tablePull.TablePullParts>,
): tablePull.TablePull {
  const own = { stateFolder: newState(), machine: 'one', everyMs: 50, log }
  return startTablePull({ ...own, trusted: [how.key.trusted], tablePath, ...played })
}
