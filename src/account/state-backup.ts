// A copy of what a state folder keeps (keys, own lists, counters of quotas and uses), taken and put
// back while servers run. A file of JSON lines, the last of which has the hash of all before it, so
// that a file that was cut off is refused whole. It has hashes of secrets, never a secret.
//
// What restoring promises: no key that is revoked now works again, and no secret that was rotated
// out; no quota is granted twice (of two counts the higher one stays), keys that were made since
// stay as they are; the lists are those of the file.
//
// With a store for many machines the counters stay there, for no other process may be asked to
// stand still: its own copies have them.

import { createHash } from 'node:crypto'
import { IpriskError } from '../base/coded-error.ts'
import { chunkIdsOf, parseCatalogue } from '../lists/list-catalogue.ts'
import type { ListStore } from '../lists/list-store.ts'
import type { KeyRecord } from './keys/key-record.ts'
import type { Stores } from './stores/open-stores.ts'

const format = 'iprisk-state'
const version = 1

/** How much of each there is. */
export interface StateCounts {
  readonly keys: number
  readonly lists: number
  readonly counters: number
}

type StateLine =
  | { readonly format: string; readonly version: number; readonly created_at: string }
  | { readonly key: KeyRecord }
  | { readonly chunk: string; readonly text: string }
  | { readonly catalogue: string }
  | { readonly counter: string; readonly value: number }
  | { readonly sha256: string }

/** The text of a copy. */
export async function backUpState(
  stores: Stores,
  now: number,
): Promise<{ readonly text: string; readonly counts: StateCounts }> {
  const lines: StateLine[] = [{ format, version, created_at: new Date(now).toISOString() }]
  const keys = await stores.keyStore.list()
  for (const key of keys) lines.push({ key })
  const { catalogue, chunks } = await readLists(await stores.openLists())
  for (const [chunk, text] of chunks) lines.push({ chunk, text })
  lines.push({ catalogue })
  const counters = stores.counters?.list('') ?? []
  for (const [counter, value] of counters) lines.push({ counter, value })
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const text = `${body}${JSON.stringify({ sha256: hashOf(body) })}\n`
  const { length } = parseCatalogue(catalogue).lists
  return { text, counts: { keys: keys.length, lists: length, counters: counters.length } }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A catalogue, and all chunks that it refers to. */
async function readLists(store: ListStore): Promise<{
  readonly catalogue: string
  readonly chunks: readonly (readonly [string, string])[]
}> {
  for (;;) {
    const { text: catalogue } = await store.catalogue()
    const ids = [...chunkIdsOf(parseCatalogue(catalogue))]
    const texts = await store.chunks(ids)
    const chunks = ids.flatMap((id, i) => {
      const text = texts[i]
      return text === undefined ? [] : [[id, text] as const]
    })
    // Else the lists were changed meanwhile, and are other ones by now.
    if (chunks.length === ids.length) return { catalogue, chunks }
  }
}

/** What a copy holds. Throws `state_file` for what is none, or not whole. */
export function readStateFile(text: string, path: string): readonly StateLine[] {
  const end = text.lastIndexOf('\n', text.length - 2) + 1
  const [body, last] = [text.slice(0, end), text.slice(end)]
  const refuse = (why: string): IpriskError => {
    const message = `Nothing was restored: ${path} ${why}.`
    return new IpriskError({ code: 'state_file', message, fault: 'input' })
  }
  if (last.trim() !== JSON.stringify({ sha256: hashOf(body) })) {
    throw refuse('is not whole, or no file of "iprisk state backup"')
  }
  const lines = body.trimEnd().split('\n')
  const parsed = lines.map((line) => JSON.parse(line) as StateLine)
  const [head] = parsed
  if (head === undefined || !('format' in head) || head.format !== format) {
    throw refuse('is no file of "iprisk state backup"')
  }
  if (head.version !== version) throw refuse(`has version ${head.version}, not ${version}`)
  return parsed
}

/** Puts back what a copy holds; doing it again changes nothing more. */
export async function restoreState(
  stores: Stores,
  lines: readonly StateLine[],
): Promise<StateCounts> {
  const counts = { keys: 0, lists: 0, counters: 0 }
  const chunks: { readonly id: string; readonly text: string }[] = []
  for (const line of lines) {
    if ('key' in line) {
      await restoreKey(stores, line.key)
      counts.keys += 1
    } else if ('chunk' in line) chunks.push({ id: line.chunk, text: line.text })
    else if ('catalogue' in line) {
      counts.lists = await restoreLists(await stores.openLists(), chunks, line.catalogue)
    } else if ('counter' in line && stores.counters !== undefined) {
      await raiseCounter(stores.counters, line.counter, line.value)
      counts.counters += 1
    }
  }
  return counts
}

async function restoreKey({ keyStore }: Stores, record: KeyRecord): Promise<void> {
  const found = await keyStore.update(record.id, (now) =>
    now.revokedAt === undefined ? { ...record, secrets: now.secrets } : now,
  )
  if (found === undefined) await keyStore.create(record)
}

async function restoreLists(
  store: ListStore,
  chunks: readonly { readonly id: string; readonly text: string }[],
  catalogue: string,
): Promise<number> {
  for (;;) {
    const { tag, text } = await store.catalogue()
    await store.putChunks(chunks)
    if (text !== catalogue && (await store.replace(tag, catalogue)) === undefined) continue
    const kept = parseCatalogue(catalogue)
    const wanted = chunkIdsOf(kept)
    const gone = [...chunkIdsOf(parseCatalogue(text))].filter((id) => !wanted.has(id))
    await store.removeChunks(gone)
    return kept.lists.length
  }
}

async function raiseCounter(
  counters: NonNullable<Stores['counters']>,
  name: string,
  value: number,
): Promise<void> {
  for (;;) {
    const before = counters.read(name)
    if (before.value >= value) return
    if (await counters.compareAndSwap(name, before, value)) return
  }
}
