// Backs up a state folder (keys, own lists, counters) and restores it while servers run. A backup
// is JSON lines with hashes of secrets; the last line has the hash of all before it, so that a
// truncated file is refused.
//
// After a restore no revoked key and no rotated secret works again; no quota is granted twice (the
// higher count stays); newer keys stay; the lists are the file's. An unreadable record is replaced,
// but stays revoked if it has `revokedAt`.
//
// Invariants: if a row cannot be read, no file is written. A restore validates every line before it
// writes. Repeating an interrupted restore finishes it; until then the lists are entirely the old
// or the new ones. A store for many machines keeps its own counters.

import { createHash } from 'node:crypto'
import { type IpriskError, environmentError, inputError } from '../base/coded-error.ts'
import { isJsonObject, isWhole, parseJson } from '../base/json-object.ts'
import { fewLines } from '../base/text/shortened-list.ts'
import { type ListCatalogue, chunkIdsOf, parseCatalogue } from '../lists/list-catalogue.ts'
import { chunkFault, isChunkId } from '../lists/list-chunk.ts'
import { readListTexts } from '../lists/read-sources.ts'
import type { ListStore } from '../lists/list-store.ts'
import { type KeyRecord, revokedRecord } from './keys/key-record.ts'
import { isKeyId } from './keys/key-text.ts'
import { type SkippedKey, isSkipped, readRecord, shownId, skippedText } from './keys/read-record.ts'
import { raiseCounter } from './limits/quota-ledger.ts'
import type { Stores } from './stores/open-stores.ts'

const format = 'iprisk-state'
const version = 1

const shownMax = 20

export type StateCounts = Awaited<ReturnType<typeof restoreState>>

type StateContent = ReturnType<typeof readStateFile>

/** Throws `state_unreadable`, and the errors of reading lists. */
export async function backUpState(stores: Stores, now: number) {
  const { records: keys, skipped } = await stores.keyStore.list()
  // A row with an impossible id opens nothing and cannot be revoked, so it is skipped.
  const problems = skipped.filter(({ id }) => isKeyId(id)).map(skippedText)
  const counters = stores.counters?.list('') ?? []
  for (const [name, value] of counters) {
    if (!isWhole(value)) problems.push(`The counter ${JSON.stringify(name)} is not a whole number.`)
  }
  if (problems.length > 0) {
    // A backup without them could replace one that has them.
    const message = 'No backup was written, because these cannot be read:'
    const end =
      'Restore them from an older backup, or revoke such a key with "iprisk keys revoke ID".'
    throw environmentError('state_unreadable', message, { details: [...shownLines(problems), end] })
  }
  const { catalogue, chunks } = await readLists(await stores.openLists())
  const lines = [
    { format, version, created_at: new Date(now).toISOString() },
    ...keys.map((key) => ({ key })),
    ...chunks.map(([chunk, text]) => ({ chunk, text })),
    { catalogue },
    ...counters.map(([counter, value]) => ({ counter, value })),
  ]
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const text = `${body}${JSON.stringify({ sha256: hashOf(body) })}\n`
  const { length } = parseCatalogue(catalogue).lists
  return { text, counts: { keys: keys.length, lists: length, counters: counters.length } }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function shownLines(problems: readonly string[]): readonly string[] {
  const indented = problems.map((problem) => `  ${problem}`)
  return fewLines(indented, shownMax)
}

/** Acts whose chunks are lost are left out: they cannot be undone. */
async function readLists(store: ListStore) {
  const { catalogue, texts } = await readListTexts(store)
  const chunks = new Map(texts)
  const more = [...chunkIdsOf(catalogue)].filter((id) => !chunks.has(id))
  const read = await store.chunks(more)
  for (const [i, id] of more.entries()) {
    const text = read[i]
    if (text !== undefined) chunks.set(id, text)
  }
  const acts = catalogue.acts.filter(({ before }) =>
    (before?.chunks ?? []).every((chunk) => chunkFault(chunk, chunks.get(chunk.id)) === undefined),
  )
  const kept: ListCatalogue = { ...catalogue, acts }
  const wanted = chunkIdsOf(kept)
  const isEmpty = kept.lists.length === 0 && acts.length === 0
  return {
    catalogue: isEmpty ? '' : JSON.stringify(kept),
    chunks: [...chunks].filter(([id]) => wanted.has(id)),
  }
}

export function readStateFile(text: string, path: string) {
  const end = text.lastIndexOf('\n', text.length - 2) + 1
  const [body, last] = [text.slice(0, end), text.slice(end)]
  const refuse = (why: string, details: readonly string[] = []): IpriskError => {
    const message = `Nothing was restored: ${path} ${why}${details.length > 0 ? ':' : '.'}`
    return inputError('state_file', message, { details })
  }
  if (last.trim() !== JSON.stringify({ sha256: hashOf(body) })) {
    throw refuse('is incomplete, or not a file of "iprisk state backup"')
  }
  const [head, ...lines] = body.trimEnd().split('\n').map(parseJson)
  if (!isJsonObject(head) || head['format'] !== format) {
    throw refuse('is not a file of "iprisk state backup"')
  }
  if (head['version'] !== version) {
    throw refuse(`has version ${JSON.stringify(head['version'])}, not ${version}`)
  }
  const { content, problems } = readLines(lines)
  if (problems.length === 0) return content
  throw refuse('has invalid lines', shownLines(problems))
}

function readLines(lines: readonly unknown[]) {
  const keys = new Map<string, KeyRecord>()
  const chunks = new Map<string, string>()
  const counters = new Map<string, number>()
  const catalogues: string[] = []
  const take = (line: unknown): string | undefined => {
    if (!isJsonObject(line)) return 'it is not a JSON object'
    const { key, chunk, text, catalogue, counter, value } = line
    if (isJsonObject(key)) {
      const row = readRecord(String(key['id']), key)
      if (isSkipped(row)) return `the key ${shownId(row.id)}: ${row.why}`
      if (keys.has(row.id)) return `the key ${row.id} appears twice`
      keys.set(row.id, row)
    } else if (isChunkId(chunk)) {
      if (typeof text !== 'string') return `the chunk ${chunk} has no text`
      if (chunks.has(chunk)) return `the chunk ${chunk} appears twice`
      chunks.set(chunk, text)
    } else if (typeof catalogue === 'string') catalogues.push(catalogue)
    else if (typeof counter === 'string' && counterForm.test(counter)) {
      if (!isWhole(value)) return `the counter ${counter} is not a whole number`
      counters.set(counter, Math.max(value, counters.get(counter) ?? 0))
    } else return 'this version does not know its kind'
    return undefined
  }
  const problems = lines.flatMap((line, i) => {
    const problem = take(line)
    // Line 1 is the header.
    return problem === undefined ? [] : [`line ${i + 2}: ${problem}`]
  })
  problems.push(...catalogueProblems(catalogues, chunks))
  const content = {
    keys: [...keys.values()],
    chunks: [...chunks].map(([id, text]) => ({ id, text })),
    catalogue: catalogues[0] ?? '',
    counters: [...counters],
  }
  return { content, problems }
}

/** A key's units of a month, or the day of its last use. */
const counterForm = /^(\d{4}-\d\d|used) [0-9A-Za-z]{1,64}$/

function catalogueProblems(
  catalogues: readonly string[],
  chunks: ReadonlyMap<string, string>,
): readonly string[] {
  const [text = '', ...more] = catalogues
  if (catalogues.length === 0) return ['it has no catalogue of lists']
  if (more.length > 0) return ['it has more than one catalogue of lists']
  let catalogue: ListCatalogue
  try {
    catalogue = parseCatalogue(text)
  } catch (error) {
    return [(error as IpriskError).message]
  }
  const lists = [...catalogue.lists, ...catalogue.acts.flatMap(({ before }) => before ?? [])]
  return lists.flatMap(({ name, chunks: wanted }) =>
    wanted.flatMap((chunk) => {
      const fault = chunkFault(chunk, chunks.get(chunk.id))
      return fault === undefined ? [] : [`the list ${name}: its chunk ${fault}`]
    }),
  )
}

/** Idempotent. */
export async function restoreState(
  stores: Stores,
  { keys, chunks, catalogue, counters }: StateContent,
  onMended: (skipped: SkippedKey) => void,
) {
  const lists = await stores.openLists()
  // An unreachable store fails here, before any write.
  await lists.catalogue()
  // Counters first: a restored key must not find its quota unspent.
  if (stores.counters !== undefined) {
    for (const [name, value] of counters) {
      const isRaised = await raiseCounter(stores.counters, { name, value, triesMax })
      if (!isRaised) throw busyError(`The counter ${name}`)
    }
  }
  for (const record of keys) await restoreKey(stores, record, onMended)
  await restoreLists(lists, chunks, catalogue)
  return {
    keys: keys.length,
    lists: parseCatalogue(catalogue).lists.length,
    counters: stores.counters === undefined ? 0 : counters.length,
  }
}

async function restoreKey(
  { keyStore }: Stores,
  record: KeyRecord,
  onMended: (skipped: SkippedKey) => void,
): Promise<void> {
  let mended: SkippedKey | undefined
  const found = await keyStore.update(
    record.id,
    (now) => (now.revokedAt === undefined ? { ...record, secrets: now.secrets } : now),
    (skipped) => {
      mended = skipped
      // The original time is unreadable.
      return skipped.isRevoked ? revokedRecord(record, Date.now()) : record
    },
  )
  if (mended !== undefined) onMended(mended)
  if (found === undefined) await keyStore.create(record)
}

/** Each failed try means that another writer succeeded. */
const triesMax = 1000

function busyError(what: string): IpriskError {
  const message = `${what} changed ${triesMax} times during the restore. Run it again.`
  return environmentError('state_busy', message, { retryable: true })
}

async function restoreLists(
  store: ListStore,
  chunks: StateContent['chunks'],
  catalogue: string,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { tag, text } = await store.catalogue()
    await store.putChunks(chunks)
    if (text !== catalogue && (await store.replace(tag, catalogue)) === undefined) continue
    const wanted = chunkIdsOf(parseCatalogue(catalogue))
    await store.removeChunks(chunkIdsIn(text).filter((id) => !wanted.has(id)))
    return
  }
  throw busyError('The lists')
}

/** Chunks of an unreadable catalogue stay. */
function chunkIdsIn(catalogue: string): readonly string[] {
  try {
    return [...chunkIdsOf(parseCatalogue(catalogue))]
  } catch {
    return []
  }
}
