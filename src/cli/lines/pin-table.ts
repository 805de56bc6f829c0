// The table of one run: the program and all of its threads open the same file, also a thread that
// starts late, when a build may have put another file in its place.
// Not for the server, whose tables have names of their own (src/supervisor/tables/table-copies.ts).

import { closeSync, openSync } from 'node:fs'
import { optionalMember } from '../../base/optional-member.ts'
import type { OfflineLists } from '../lists/offline-lists.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'

export interface PinnedTable {
  readonly table: OpenTable
  /** What threads open: the descriptor's path in /proc. */
  readonly path: string
  /** The own lists that it answers with. */
  readonly lists?: Pick<OfflineLists, 'version' | 'path'>
  readonly close: () => void
}

/** Throws what `openTable` and `openOfflineLists` throw. */
export async function pinTable(name: string, listsAt?: string): Promise<PinnedTable> {
  // Errors of this call have the file's name.
  openTable(name).close()
  const lists = await offlineListsOf(listsAt)
  // What crosses to threads is plain data.
  const file = lists === undefined ? undefined : { version: lists.version, path: lists.path }
  const descriptor = openSync(name, 'r')
  const path = `/proc/self/fd/${descriptor}`
  const table = openTable(path)
  table.useLists(lists?.matcher)
  return {
    table,
    path,
    ...optionalMember('lists', file),
    close: () => {
      table.close()
      lists?.close()
      closeSync(descriptor)
    },
  }
}

/** The own lists of the option `--lists`. What opens them, stores too, is loaded with it. */
export async function offlineListsOf(place: string | undefined): Promise<OfflineLists | undefined> {
  if (place === undefined) return undefined
  return (await import('../lists/offline-lists.ts')).openOfflineLists(place)
}
