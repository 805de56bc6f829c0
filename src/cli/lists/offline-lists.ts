// Own lists for offline commands (`--lists`): from a state folder, or from a file by `iprisk lists
// export`. Compiled into a temporary file that program and threads map.

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stores } from '../../account/stores/open-stores.ts'
import { inputError } from '../../base/coded-error.ts'
import { type ListSource, compileLists } from '../../lists/compile/compile-lists.ts'
import { readEntryRows } from '../../lists/compile/entry-rows.ts'
import { encodeChunk } from '../../lists/list-chunk.ts'
import { listFileBytesMax } from '../../lists/list-limits.ts'
import { checkListFile, readListFile } from '../../lists/import/read-list-file.ts'
import { mapLists } from '../../lists/open-lists.ts'
import { readListSources } from '../../lists/read-sources.ts'
import { withStores } from '../keys/key-session.ts'
import { readInputFile } from '../terminal/input-file.ts'

export type OfflineLists = Awaited<ReturnType<typeof openOfflineLists>>

/** Throws `lists_file`, `no_state_folder`, and what the store of a state folder throws. */
export async function openOfflineLists(place: string) {
  const sources = await readSources(place)
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
    return { version, path, matcher, close }
  } catch (error) {
    remove()
    throw error
  }
}

async function readSources(place: string): Promise<readonly ListSource[]> {
  const stat = statSync(place, { throwIfNoEntry: false })
  if (stat?.isDirectory() !== true) return sourcesOfFile(place)
  const policy = { policy: 'refuse', timeoutMs: 0, replicas: 0 } as const
  const read = async ({ openLists }: Pick<Stores, 'openLists'>) =>
    (await readListSources(await openLists())).sources
  return withStores({ state: place, store: policy }, read, 'refuse')
}

async function sourcesOfFile(path: string): Promise<readonly ListSource[]> {
  const text = await readInputFile(path, {
    bytesMax: listFileBytesMax,
    code: 'lists_file',
    what: `The lists ${path}`,
    advice: '; name a state folder or a file of "iprisk lists export"',
  })
  const file = readListFile(text, Date.now(), path)
  checkListFile(file, { strict: true })
  const { lists } = file
  if (lists.has('')) {
    const message = `The lines of ${path} name no list; use a file written by "iprisk lists export".`
    throw inputError('lists_file', message)
  }
  return [...lists].map(([name, { effect = 'none', entries }]) => {
    const unique = new Map(entries.map((entry) => [entry.key, entry]))
    const rows = unique.size === 0 ? [] : [readEntryRows(encodeChunk([...unique.values()]))]
    return { name, effect, rows }
  })
}
