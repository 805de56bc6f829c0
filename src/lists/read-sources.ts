// Reads the lists of a store for the compiler and for backups. Invariant: a missing or malformed
// chunk fails the read with its name, because without it a list would let through what it blocks.
// Only a server without any lists asks for the readable parts.

import { type IpriskError, environmentError } from '../base/coded-error.ts'
import type { ListSource } from './compile/compile-lists.ts'
import { type EntryRows, readEntryRows } from './compile/entry-rows.ts'
import { parseCatalogue } from './list-catalogue.ts'
import { chunkFault, damagedListError } from './list-chunk.ts'
import type { ListStore } from './list-store.ts'

type Store = Pick<ListStore, 'catalogue' | 'chunks'>

/** Acts may change lists during a read. */
const triesMax = 10

/** Called for each chunk left out; without it the first error is thrown. */
type OnDamaged = (error: IpriskError) => void

/** `rows` holds decoded chunks by id, afterwards those of the lists. */
export async function readListSources(
  store: Store,
  rows: Map<string, EntryRows> = new Map<string, EntryRows>(),
  onDamaged?: OnDamaged,
) {
  const { tag, catalogue, texts } = await readListTexts(store, (id) => rows.has(id), onDamaged)
  const { lists } = catalogue
  const wanted = new Set(lists.flatMap(({ chunks }) => chunks.map(({ id }) => id)))
  for (const id of rows.keys()) if (!wanted.has(id)) rows.delete(id)
  for (const [id, text] of texts) rows.set(id, readEntryRows(text))
  const sources: readonly ListSource[] = lists.map(({ name, effect, chunks }) => ({
    name,
    effect,
    rows: chunks.flatMap(({ id }) => rows.get(id) ?? []),
  }))
  const all = sources.flatMap((source) => source.rows)
  return { tag, entries: all.reduce((sum, { count }) => sum + count, 0), sources }
}

/** The chunks' texts, except those that the caller holds. Throws `lists_damaged`, `lists_unusable`, and `lists_changed` if they keep changing. */
export async function readListTexts(
  store: Store,
  isHeld: (id: string) => boolean = () => false,
  onDamaged?: OnDamaged,
) {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { tag, text } = await store.catalogue()
    const catalogue = parseCatalogue(text)
    const wanted = catalogue.lists
      .flatMap(({ name, chunks }) => chunks.map((chunk) => ({ name, chunk })))
      .filter(({ chunk }) => !isHeld(chunk.id))
    const read = await store.chunks(wanted.map(({ chunk }) => chunk.id))
    const texts = new Map<string, string>()
    const errors: IpriskError[] = []
    for (const [i, { name, chunk }] of wanted.entries()) {
      const fault = chunkFault(chunk, read[i])
      if (fault === undefined) texts.set(chunk.id, read[i]!)
      else errors.push(damagedListError(name, fault))
    }
    const [first] = errors
    // If an act removed the chunk meanwhile, the catalogue has changed, too.
    if (first !== undefined && (await store.catalogue()).tag !== tag) continue
    if (first !== undefined && onDamaged === undefined) throw first
    if (onDamaged !== undefined) errors.forEach(onDamaged)
    return { tag, catalogue, texts }
  }
  throw environmentError(
    'lists_changed',
    `The lists changed ${triesMax} times while they were read. Try again.`,
    { retryable: true },
  )
}
