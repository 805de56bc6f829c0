// The table of one run: the same file for the program and all of its threads, which open it when
// they start and again where one has died, though a build may put another in its place meanwhile.
// Not for the server, whose tables have names of their own (src/supervisor/tables/table-copies.ts).

import { closeSync, openSync } from 'node:fs'
import { type OpenTable, openTable } from '../../table/open-table.ts'

export interface PinnedTable {
  readonly table: OpenTable
  /** What threads open: the descriptor, in the place of the name. */
  readonly path: string
  readonly close: () => void
}

/** Throws what `openTable` throws. */
export function pinTable(name: string): PinnedTable {
  // What is wrong with it is said with its name.
  openTable(name).close()
  const descriptor = openSync(name, 'r')
  const path = `/proc/self/fd/${descriptor}`
  const table = openTable(path)
  return {
    table,
    path,
    close: () => {
      table.close()
      closeSync(descriptor)
    },
  }
}
