// The table of one run: the program and all of its threads open the same file, also a thread that
// starts late, when a build may have put another file in its place.
// Not for the server, whose tables have names of their own (src/supervisor/tables/table-copies.ts).

import { closeSync, openSync } from 'node:fs'
import { type OpenTable, openTable } from '../../table/open-table.ts'

export interface PinnedTable {
  readonly table: OpenTable
  /** What threads open: the descriptor's path in /proc. */
  readonly path: string
  readonly close: () => void
}

/** Throws what `openTable` throws. */
export function pinTable(name: string): PinnedTable {
  // Errors of this call have the file's name.
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
