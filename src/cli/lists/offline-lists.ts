// Own lists for offline commands (`--lists`): from a state folder, or from a file by `iprisk lists
// export`. Compiled into a temporary file that program and threads map.

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inputError } from '../../base/coded-error.ts'
import { compileLists } from '../../lists/compile/compile-lists.ts'
import { encodeChunk } from '../../lists/list-chunk.ts'
import { listFileBytesMax } from '../../lists/list-limits.ts'
import { checkListFile, readListFile } from '../../lists/import/read-list-file.ts'
import { mapLists } from '../../lists/open-lists.ts'
import { readListSources } from '../../lists/read-sources.ts'
import type { ReadableLists } from '../../table/explain/matching-entries.ts'
import { withStores } from '../keys/key-session.ts'
import { readInputFile } from '../terminal/input-file.ts'

export type OfflineLists = Awaited<ReturnType<typeof openOfflineLists>>

/** Throws `lists_file`, `no_state_folder`, and what the store of a state folder throws. */
export async function openOfflineLists(place: string) {
  const read = readerOf(place)
  const { sources } = await read((store) => readListSources(store))
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-lists-'))
  const path = join(folder, 'lists.iprisk')
  const version = 1
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    writeFileSync(path, compileLists(sources, Math.floor(Date.now() / 1000)), { mode: 0o600 })
    const { matcher, unmap } = mapLists(path, version)
    const close = (): void => {
      unmap()
      remove()
    }
    return { version, path, matcher, read, close }
  } catch (error) {
    remove()
    throw error
  }
}

function readerOf(place: string) {
  const stat = statSync(place, { throwIfNoEntry: false })
  const file = stat?.isDirectory() === true ? undefined : listsOfFile(place)
  const policy = { policy: 'refuse', timeoutMs: 0, replicas: 0 } as const
  const settings = { state: place, store: policy }
  return async <T>(read: (store: ReadableLists) => Promise<T>): Promise<T> =>
    file === undefined
      ? withStores(settings, async ({ openLists }) => read(await openLists()), 'refuse')
      : read(await file)
}

/** As a store would have them, each list in one chunk. */
async function listsOfFile(path: string): Promise<ReadableLists> {
  const text = await readInputFile(path, {
    bytesMax: listFileBytesMax,
    code: 'lists_file',
    what: `The lists ${path}`,
    advice: '; name a state folder or a file of "iprisk lists export"',
  })
  const file = readListFile(text, Date.now(), path)
  checkListFile(file, { strict: true })
  if (file.lists.has('')) {
    const message = `The lines of ${path} name no list; use a file written by "iprisk lists export".`
    throw inputError('lists_file', message)
  }
  const chunks = new Map<string, string>()
  const lists = [...file.lists].map(([name, { effect = 'none', entries: read }]) => {
    const unique = [...new Map(read.map((entry) => [entry.key, entry])).values()]
    chunks.set(name, encodeChunk(unique))
    const counts = { created: 0, entries: unique.length, prefixes: 0 }
    const chunk = { id: name, first: '', entries: unique.length, soonest: 0 }
    return { name, effect, ...counts, chunks: unique.length === 0 ? [] : [chunk] }
  })
  const catalogue = JSON.stringify({ format: 1, lists, acts: [] })
  return {
    catalogue: async () => ({ tag: '', text: catalogue }),
    chunks: async (ids) => ids.map((id) => chunks.get(id)),
  }
}
