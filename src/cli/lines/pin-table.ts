// The table of one run: the program and all threads open the same file, even if a build replaces it
// meanwhile. Servers use src/supervisor/tables/table-copies.ts.

import { closeSync, existsSync, openSync } from 'node:fs'
import { environmentError } from '../../base/coded-error.ts'
import type { OfflineLists } from '../lists/offline-lists.ts'
import { matchingEntries } from '../../table/explain/matching-entries.ts'
import { openTable } from '../../table/open-table.ts'

export type PinnedTable = Awaited<ReturnType<typeof pinTable>>

/** Pins a private copy, because a run may take minutes; `inPlace` uses the file itself, for a run
 * of milliseconds. */
export async function pinTable(name: string, listsAt?: string, inPlace = false) {
  if (!existsSync(name)) {
    const next = 'Build one with "iprisk build", or name another with --table.'
    throw environmentError('file_unreadable', `There is no table at ${name}. ${next}`)
  }
  const pinned = inPlace ? pinInPlace(name) : await pinCopy(name)
  try {
    const lists = await offlineListsOf(listsAt)
    pinned.table.useLists(lists?.matcher)
    return {
      ...pinned,
      // Only plain data crosses to threads.
      lists: lists && { version: lists.version, path: lists.path },
      /** The entries of these lists that match an address. */
      entriesOf: (ip: string) =>
        lists?.read((store) => matchingEntries(async () => store, pinned.table, ip)),
      close: (): void => {
        pinned.close()
        lists?.close()
      },
    }
  } catch (error) {
    pinned.close()
    throw error
  }
}

async function pinCopy(name: string) {
  const { openCopiedTable } = await import('../../table/open-copied-table.ts')
  const table = openCopiedTable(name)
  if (table.mapped !== name) return { table, path: table.mapped, close: () => table.close() }
  table.close()
  return pinInPlace(name)
}

function pinInPlace(name: string) {
  // Makes errors name the file.
  openTable(name).close()
  const descriptor = openSync(name, 'r')
  // Threads open it by this path, too.
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
