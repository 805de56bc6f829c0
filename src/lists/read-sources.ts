// Reads the lists of a store as the compiler takes them. Chunks never change, so whoever compiles
// often keeps those that are decoded.

import { IpriskError } from '../base/coded-error.ts'
import type { ListSource } from './compile/compile-lists.ts'
import { type EntryRows, readEntryRows } from './compile/entry-rows.ts'
import { type ListCatalogue, parseCatalogue } from './list-catalogue.ts'
import type { ListStore } from './list-store.ts'

/** An act may change the lists while they are read. */
const triesMax = 10

export interface ReadLists {
  /** That of the catalogue. */
  readonly tag: string
  readonly entries: number
  readonly sources: readonly ListSource[]
}

/** `rows` holds decoded chunks by id: those of the lists and no others, afterwards. */
export async function readListSources(
  store: Pick<ListStore, 'catalogue' | 'chunks'>,
  rows: Map<string, EntryRows> = new Map<string, EntryRows>(),
): Promise<ReadLists> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { tag, text } = await store.catalogue()
    const catalogue = parseCatalogue(text)
    if (!(await readChunks(store, catalogue, rows))) continue
    const { lists } = catalogue
    return {
      tag,
      entries: lists.reduce((sum, list) => sum + list.entries, 0),
      sources: lists.map(({ name, effect, chunks }) => ({
        name,
        effect,
        rows: chunks.map(({ id }) => rows.get(id)!),
      })),
    }
  }
  throw new IpriskError({
    code: 'lists_changed',
    message: `The lists were changed ${triesMax} times while they were read.`,
    fault: 'environment',
    retryable: true,
  })
}

/** Whether all chunks were there. */
async function readChunks(
  store: Pick<ListStore, 'chunks'>,
  { lists }: ListCatalogue,
  rows: Map<string, EntryRows>,
): Promise<boolean> {
  const wanted = new Set(lists.flatMap(({ chunks }) => chunks.map(({ id }) => id)))
  for (const id of rows.keys()) if (!wanted.has(id)) rows.delete(id)
  const missing = [...wanted].filter((id) => !rows.has(id))
  const texts = await store.chunks(missing)
  missing.forEach((id, i) => {
    const text = texts[i]
    if (text !== undefined) rows.set(id, readEntryRows(text))
  })
  return texts.every((text) => text !== undefined)
}
