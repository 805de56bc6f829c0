// The table of one run: the program and all threads open the same file, even if a build replaces it
// meanwhile. Servers use src/supervisor/tables/table-copies.ts.

import { closeSync, openSync } from 'node:fs'
import type { OfflineLists } from '../lists/offline-lists.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'

export interface PinnedTable {
  readonly table: OpenTable
  /** Threads open the descriptor by its path in /proc. */
  readonly path: string
  readonly lists: Pick<OfflineLists, 'version' | 'path'> | undefined
  readonly close: () => void
}

/** Pins a private copy, because a run may take minutes; `inPlace`: the file itself, for a run of
 * milliseconds. */
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
      // Only plain data crosses to threads.
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
  // Makes errors name the file.
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

/** The lists of `--lists`; their code, stores included, is loaded on demand. */
export async function offlineListsOf(place: string | undefined): Promise<OfflineLists | undefined> {
  if (place === undefined) return undefined
  return (await import('../lists/offline-lists.ts')).openOfflineLists(place)
}
