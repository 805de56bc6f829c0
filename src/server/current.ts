// The tables that a worker has open: the one that answers, and while a swap is under way the one
// that will. Opening and swapping are two steps, so that all workers swap only after all could open.
//
// Invariant: a table is closed in a later turn of the loop than the one that swapped it out; every
// answer is built within one turn, so nothing reads an unmapped page.

import type { Table } from '../table/table.ts'
import type { TableFile, TableInfo } from './message.ts'

export interface Current {
  /** The table that answers; `undefined` until the first swap. */
  readonly table: () => Table | undefined
  /** Its file; `undefined` until the first swap. */
  readonly file: () => TableFile | undefined
  /** Maps a table beside the current one; throws what opening throws. */
  readonly open: (file: TableFile) => TableInfo
  /** Answers from the opened table; `undefined` where that one is not open. */
  readonly swap: (number: number) => TableInfo | undefined
}

export function createCurrent(openTable: (path: string) => Table): Current {
  let current: { readonly file: TableFile; readonly table: Table } | undefined
  let next: { readonly file: TableFile; readonly table: Table } | undefined
  return {
    table: () => current?.table,
    file: () => current?.file,
    open: (file) => {
      // A table that was opened and never swapped in: the primary gave it up.
      next?.table.close()
      next = undefined
      const table = openTable(file.path)
      next = { file, table }
      return infoOf(table)
    },
    swap: (number) => {
      if (next === undefined || next.file.table !== number) return undefined
      const old = current
      current = next
      next = undefined
      if (old !== undefined) setImmediate(() => old.table.close())
      return infoOf(current.table)
    },
  }
}

function infoOf(table: Table): TableInfo {
  const { id, asOf, bytes } = table
  const sources = table.sources.map(({ id, day, quarantined = false }) => ({
    id,
    day,
    quarantined,
  }))
  return { id, asOf, bytes, sources }
}
