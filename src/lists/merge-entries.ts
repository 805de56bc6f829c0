// Adds and removes a list's entries. Reads only chunks whose keys change, and a few that hold much
// of what has expired.

import { environmentError } from '../base/coded-error.ts'
import { splitEnds } from './compile/entry-rows.ts'
import type { StoredList } from './list-catalogue.ts'
import type { ListChunk, MadeChunk } from './list-chunk.ts'
import { chunkFault, damagedListError, decodeChunk, makeChunks } from './list-chunk.ts'
import type { ListEntry } from './list-entry.ts'
import type { ListStore } from './list-store.ts'

export interface EntryChanges {
  readonly put: readonly ListEntry[]
  readonly remove: readonly string[]
  readonly replace?: boolean
}

export interface ListState {
  readonly list: StoredList
  readonly made: readonly MadeChunk[]
}

/** Chunks with expired entries that one act also cleans up. */
const cleanedMax = 4

interface Moment {
  readonly store: Pick<ListStore, 'chunks'>
  readonly now: number
}

/** Expired entries of rewritten chunks are dropped, uncounted. */
export async function mergeEntries(
  { store, now }: Moment,
  before: StoredList,
  { put, remove, replace = false }: EntryChanges,
) {
  const puts = new Map(put.map((entry) => [entry.key, entry]))
  const nowSeconds = Math.floor(now / 1000)
  const touched = touchedChunks(before.chunks, [...puts.keys(), ...remove], nowSeconds, replace)
  const old = await readEntries(
    store,
    [...touched].map((i) => before.chunks[i]!),
  )
  const kept = new Map(old.map((entry) => [entry.key, entry]))
  const counts = { added: 0, changed: 0, removed: 0 }
  for (const [key, { expires }] of kept) {
    if (expires !== 0 && expires <= nowSeconds) kept.delete(key)
    else if (replace && !puts.has(key)) counts.removed += Number(kept.delete(key))
  }
  for (const key of remove) counts.removed += Number(kept.delete(key))
  for (const [key, entry] of puts) {
    const known = kept.get(key)
    if (known === undefined) counts.added += 1
    else if (isOther(known, entry)) counts.changed += 1
    else continue
    kept.set(key, entry)
  }
  const entries = [...kept.keys()].sort().map((key) => kept.get(key)!)
  const chunks = before.chunks.filter((_, i) => !touched.has(i))
  const made = makeBetween(entries, chunks, now)
  const all = [...chunks, ...made.map(({ chunk }) => chunk)]
  all.sort((a, b) => (a.first < b.first ? -1 : 1))
  const list = {
    ...before,
    entries: all.reduce((sum, chunk) => sum + chunk.entries, 0),
    prefixes: before.prefixes - prefixCount(old) + prefixCount(entries),
    chunks: all,
  }
  return { list, made, counts }
}

/** Chunks never change, so common ones are alike. */
export async function countChanges(
  store: Pick<ListStore, 'chunks'>,
  before: StoredList | undefined,
  after: StoredList | undefined,
) {
  if (before === undefined || after === undefined) {
    return { added: after?.entries ?? 0, changed: 0, removed: before?.entries ?? 0 }
  }
  const old = await readEntries(store, chunksOnlyIn(before, after))
  const known = new Map(old.map((entry) => [entry.key, entry]))
  const counts = { added: 0, changed: 0, removed: 0 }
  for (const entry of await readEntries(store, chunksOnlyIn(after, before))) {
    const one = known.get(entry.key)
    if (one === undefined) counts.added += 1
    else if (isOther(one, entry)) counts.changed += 1
    known.delete(entry.key)
  }
  return { ...counts, removed: known.size }
}

function chunksOnlyIn({ chunks }: StoredList, other: StoredList): readonly ListChunk[] {
  const ids = new Set(other.chunks.map(({ id }) => id))
  return chunks.filter(({ id }) => !ids.has(id))
}

function isOther(one: ListEntry, other: ListEntry): boolean {
  return one.expires !== other.expires || one.note !== other.note
}

function touchedChunks(
  chunks: readonly ListChunk[],
  keys: readonly string[],
  nowSeconds: number,
  all: boolean,
): Set<number> {
  if (all) return new Set(chunks.keys())
  const touched = new Set<number>()
  if (chunks.length > 0) for (const key of keys) touched.add(placeOf(chunks, key))
  const expired = [...chunks.keys()].filter((i) => {
    const { soonest } = chunks[i]!
    return soonest !== 0 && soonest <= nowSeconds && !touched.has(i)
  })
  for (const i of expired.slice(0, cleanedMax)) touched.add(i)
  return touched
}

/** The last that begins at or below the key, otherwise the first. */
function placeOf(chunks: readonly ListChunk[], key: string): number {
  let low = 0
  let high = chunks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (chunks[middle]!.first <= key) low = middle
    else high = middle - 1
  }
  return low
}

/** None extends into a chunk that stays. */
function makeBetween(
  entries: readonly ListEntry[],
  stay: readonly ListChunk[],
  now: number,
): MadeChunk[] {
  const made: MadeChunk[] = []
  let at = 0
  for (const { first } of stay) {
    const from = at
    while (at < entries.length && entries[at]!.key < first) at += 1
    made.push(...makeChunks(entries.slice(from, at), now))
  }
  made.push(...makeChunks(entries.slice(at), now))
  return made
}

/**
 * Throws `lists_changed` if a chunk is missing: the catalogue may have changed; `lists_damaged` if
 * one is malformed.
 */
export async function readEntries(
  store: Pick<ListStore, 'chunks'>,
  chunks: readonly ListChunk[],
): Promise<ListEntry[]> {
  const texts = await store.chunks(chunks.map(({ id }) => id))
  return texts.flatMap((text, i) => {
    const fault = chunkFault(chunks[i]!, text)
    if (fault === undefined) return decodeChunk(text!)
    if (text !== undefined) throw damagedListError('', fault)
    throw environmentError(
      'lists_changed',
      `The chunk ${fault}: the list changed during the read. Try again; if that fails, it is ` +
        'damaged: restore a backup with "iprisk state restore FILE", or delete the list.',
      { retryable: true },
    )
  })
}

function prefixCount(entries: readonly ListEntry[]): number {
  let count = 0
  for (const { key } of entries) count += isPrefixKey(key) ? 1 : oddPrefixes(key)
  return count
}

/** Most ranges are single addresses or prefixes of whole digits. */
function isPrefixKey(key: string): boolean {
  const half = (key.length - 1) / 2
  return key.startsWith('a') || key.slice(1, 1 + half) === key.slice(1 + half)
}

const ends = new Uint32Array(8)

function oddPrefixes(key: string): number {
  for (let at = 1, i = 0; at < key.length; at += 8) ends[i++] = parseInt(key.slice(at, at + 8), 16)
  let count = 0
  splitEnds(ends, 0, key.startsWith('4') ? 1 : 4, () => (count += 1))
  return count
}
