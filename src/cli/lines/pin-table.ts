// The table of one run: the program and all of its threads open the same file, also a thread that
// starts late, when a build may have put another file in its place.
// Not for the server, whose tables have names of their own (src/supervisor/tables/table-copies.ts).

import { closeSync, openSync } from 'node:fs'
import type { OfflineLists } from '../lists/offline-lists.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'

export interface PinnedTable {
  readonly table: OpenTable
  /** What threads open: the descriptor's path in /proc. */
  readonly path: string
  readonly lists: Pick<OfflineLists, 'version' | 'path'> | undefined
  readonly close: () => void
}

/**
 * Pins a private copy (open-copied-table.ts), because a run may take minutes; with `inPlace` the
 * file itself, for a run of milliseconds. Throws what `openTable` and `openOfflineLists` throw.
 */
export async function pinTable(
  name: string,
  listsAt?: string,
  inPlace = false,
): Promise<PinnedTable> {
  const pinned = inPlace ? pinInPlace(name) : await pinCopy(name)
  try {
    const lists = await offlineListsOf(listsAt)
    pinned.table.useLists(lists?.matcher)
    return {
      ...pinned,
      // What crosses to threads is plain data.
      lists: lists && { version: lists.version, path: lists.path },
      close: () => {
        pinned.close()
        lists?.close()
      },
    }
  } catch (error) {
    pinned.close()
    throw error
  }
}

type PinnedFile = Omit<PinnedTable, 'lists'>

async function pinCopy(name: string): Promise<PinnedFile> {
  const { openCopiedTable } = await import('../../table/open-copied-table.ts')
  const table = openCopiedTable(name)
  if (table.mapped !== name) return { table, path: table.mapped, close: () => table.close() }
  // No copy could be made.
  table.close()
  return pinInPlace(name)
}

function pinInPlace(name: string): PinnedFile {
  // Errors of this call have the file's name.
  openTable(name).close()
  const descriptor = openSync(name, 'r')
  const path = `/proc/self/fd/${descriptor}`
  const table = openTable(name, { mapped: path })
  return {
    table,
    path,
    close: () => {
      table.close()
      closeSync(descriptor)
    },
  }
}

/** The own lists of the option `--lists`. What opens them, stores too, is loaded with it. */
export async function offlineListsOf(place: string | undefined): Promise<OfflineLists | undefined> {
  if (place === undefined) return undefined
  return (await import('../lists/offline-lists.ts')).openOfflineLists(place)
}
