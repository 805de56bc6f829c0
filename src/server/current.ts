// The tables that a worker has open: the one that answers, and while a swap is under way the one
// that will. Opening and swapping are two steps, so that all workers swap only after all could open.
// An opened table is tried: one that answers otherwise than it is known to is none to swap in.
//
// Invariant: a table is closed in a later turn of the loop than the one that swapped it out; every
// answer is built within one turn, so nothing reads an unmapped page.

import { IpriskError } from '../base/error.ts'
import type { Table } from '../table/table.ts'
import { firstUnlike } from '../table/trial.ts'
import type { TableFile, TableInfo } from './message.ts'

export interface Current {
  /** The table that answers; `undefined` until the first swap. */
  readonly table: () => Table | undefined
  /** Its file; `undefined` until the first swap. */
  readonly file: () => TableFile | undefined
  /** Maps a table beside the current one; throws what opening throws, and `table_differs`. */
  readonly open: (file: TableFile) => TableInfo
  /** Answers from the opened table; `undefined` where that one is not open. */
  readonly swap: (number: number) => TableInfo | undefined
  /** The longest step of the newest swap, for which the loop had to wait. */
  readonly stallMs: () => number
}

export function createCurrent(openTable: (path: string) => Table): Current {
  let current: { readonly file: TableFile; readonly table: Table } | undefined
  let next: { readonly file: TableFile; readonly table: Table } | undefined
  let stallMs = 0
  const timed = <T>(step: () => T): T => {
    const from = performance.now()
    const result = step()
    stallMs = Math.max(stallMs, performance.now() - from)
    return result
  }
  const openTried = (file: TableFile): Table => {
    const table = openTable(file.path)
    const unlike = firstUnlike(table, file.known ?? [])
    if (unlike === undefined) return table
    table.close()
    throw new IpriskError({
      code: 'table_differs',
      message: `${file.path} answers otherwise for ${unlike} here than where it was verified`,
      fault: 'environment',
    })
  }
  return {
    stallMs: () => stallMs,
    table: () => current?.table,
    file: () => current?.file,
    open: (file) => {
      // A table that was opened and never swapped in: the primary gave it up.
      next?.table.close()
      next = undefined
      stallMs = 0
      const table = timed(() => openTried(file))
      next = { file, table }
      return infoOf(table)
    },
    swap: (number) => {
      if (next === undefined || next.file.table !== number) return undefined
      const old = current
      current = next
      next = undefined
      if (old !== undefined) setImmediate(() => timed(() => old.table.close()))
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
