// Keeps the table in use that came otherwise, in an image or by a build, beside those that were
// fetched, before a fetched one takes its place.

import { existsSync, linkSync } from 'node:fs'
import { mapFile } from '../../base/system/memory-map.ts'
import { readTableView } from '../../table/file/table-view.ts'

export interface AdoptedTable {
  readonly id: string
  /** Where it lies. */
  readonly from: string
  /** Its second name. */
  readonly path: string
}

/** Nothing where another table, or none, lies there by now. */
export function adoptTable({ id, from, path }: AdoptedTable): void {
  if (!existsSync(from) || existsSync(path)) return
  try {
    if (idOf(from) === id) linkSync(from, path)
  } catch {
    // No table, or another user's, which may not be linked: there is one fewer to go back to.
  }
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
