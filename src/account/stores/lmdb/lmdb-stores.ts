// One machine's stores in LMDB: `<state>/keys/`, `<state>/quota/` (counters) and `<state>/lists/`,
// shared by all workers and the command line. lmdb's only home. Not for network file systems:
// LMDB's locks need one kernel. Separate folders, so that leases never wait for keys.
//
// keys/
//   keys      id → {"changed": version, "record": …} (JSON)
//   changes   version → id, one row per key, of its latest change
//   meta      "format" → 1, "version" → the counter
// quota/
//   counters  name → whole number (JSON), with the version that `replace` compares
//   meta      "format" → 1
// lists/
//   chunks    id → text
//   catalogue "tag", "text"; a tag is a count and random letters, unique after a restore
//   meta      "format" → 1
//
// Invariants: a store changes in one transaction; readers see one snapshot per turn of the event
// loop; the folder is 0700, its files 0600, whatever the umask. Values are read as text and parsed
// here, because lmdb throws at invalid JSON and hides the rows after it.

import { chmodSync, existsSync } from 'node:fs'
import { makeOwnFolder, refuseLink } from '../../../base/system/own-files.ts'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { type Database, open, type RootDatabase } from 'lmdb'
import { IpriskError, messageOf, environmentError } from '../../../base/coded-error.ts'
import { isJsonObject, parseJson } from '../../../base/json-object.ts'
import { type ListStore, nextTag } from '../../../lists/list-store.ts'
import type { KeyRecord } from '../../keys/key-record.ts'
import { type KeyChanges, type KeyStore, keyExistsError } from '../../keys/key-store.ts'
import {
  type KeyRow,
  missingRecord,
  oldestFirst,
  parseRecord,
  recordOf,
  sortRows,
  updatedRecord,
} from '../../keys/read-record.ts'
import type { CounterStore } from '../../limits/quota-ledger.ts'
import { checkLmdbFile } from './check-lmdb-file.ts'

const format = 1

interface Meta {
  readonly root: RootDatabase
  readonly meta: Database<number, string>
}

interface Databases extends Meta {
  readonly keys: Database<string, string>
  readonly changes: Database<string, number>
}

function unusable(folder: string, cause: unknown): IpriskError {
  return environmentError(
    'keys_unusable',
    `The store in ${folder} cannot be opened: ${messageOf(cause)}. It must be on a local ` +
      'disk, writable by this user; name another state folder with --state.',
    { cause },
  )
}

/** lmdb would end the process. */
function damaged(folder: string, damage: string): IpriskError {
  return environmentError(
    'keys_unusable',
    `The store in ${folder} cannot be opened: ${dataFile(folder)} is damaged: ${damage}. Stop the ` +
      'server, move that folder away, and restore a backup with "iprisk state restore FILE".',
  )
}

/** For a missing store: create it; treat it as empty; or fail, in a worker whose server had it. */
export type AbsentStore = 'make' | 'empty' | 'fail'

const dataFile = (folder: string): string => join(folder, 'data.mdb')

export const hasLmdbStore = (state: string): boolean =>
  ['keys', 'quota', 'lists'].some((name) => existsSync(dataFile(join(state, name))))

function openFolder(folder: string, absent: AbsentStore): RootDatabase {
  if (absent === 'make') {
    makeOwnFolder(folder)
    // mkdir does not change an existing folder.
    chmodSync(folder, 0o700)
  }
  const data = dataFile(folder)
  for (const path of [folder, data, join(folder, 'lock.mdb')]) refuseLink(path)
  const isAbsent = !existsSync(data)
  if (isAbsent && absent === 'fail') {
    throw new Error(
      'data.mdb is missing; put it back, or restart the server to begin with an empty store',
    )
  }
  const damage = isAbsent ? undefined : checkLmdbFile(data)
  if (damage !== undefined) throw damaged(folder, damage)
  const options = {
    maxDbs: 3,
    // A commit is durable when it returns or its promise resolves.
    overlappingSync: false,
    // Batches would have a promise that cannot be awaited: `ignoreCommitError`.
    eventTurnBatching: false,
    // Readable in a dump, and independent of a codec's version.
    encoding: 'json',
    // Read by lmdb's native part, but missing from its types.
    permissionsMode: 0o600,
  } as const
  // Without a path: a temporary file, removed on close.
  return open(absent === 'empty' && isAbsent ? options : { ...options, path: folder })
}

function checkFormat({ root, meta }: Meta): void {
  const found = root.transactionSync(() => {
    const kept = meta.get('format')
    if (kept === undefined) meta.putSync('format', format)
    return kept ?? format
  })
  if (found !== format) {
    throw new Error(`it has format ${found}, and this version of iprisk reads format ${format}`)
  }
}

/** Throws `keys_unusable`, and closes everything. */
async function openStore<T>(
  folder: string,
  absent: AbsentStore,
  withDatabases: (store: Meta) => T,
): Promise<T> {
  let root: RootDatabase | undefined
  try {
    root = openFolder(folder, absent)
    const store = { root, meta: root.openDB<number, string>({ name: 'meta', encoding: 'json' }) }
    checkFormat(store)
    return withDatabases(store)
  } catch (cause) {
    await root?.close().catch(() => undefined)
    throw cause instanceof IpriskError ? cause : unusable(folder, cause)
  }
}

/** Throws if the change counter is invalid, because changes are then unknown. */
function versionOf({ meta }: Pick<Databases, 'meta'>): number {
  const version: unknown = meta.get('version') ?? 0
  if (Number.isSafeInteger(version)) return version as number
  throw new Error('the change counter of the key store is not a whole number')
}

/** Stores a record and counts the change, in a transaction. */
function putRecord(databases: Databases, record: KeyRecord, before?: string): void {
  const { keys, changes, meta } = databases
  const changed = versionOf(databases) + 1
  const old = before === undefined ? undefined : changedOf(before)
  if (old !== undefined) changes.removeSync(old)
  keys.putSync(record.id, JSON.stringify({ changed, record }))
  changes.putSync(changed, JSON.stringify(record.id))
  meta.putSync('version', changed)
}

function changedOf(text: string): number | undefined {
  const row = parseJson(text)
  const changed = isJsonObject(row) ? row['changed'] : undefined
  return Number.isSafeInteger(changed) ? (changed as number) : undefined
}

const rowOf = (id: string, text: string): KeyRow =>
  parseRecord(id, text, (row) => (isJsonObject(row) ? row['record'] : undefined))

function changesSince(databases: Databases, since: number): KeyChanges {
  const { root, keys, changes } = databases
  // Otherwise a turn of the event loop keeps its first snapshot.
  root.resetReadTxn()
  const version = versionOf(databases)
  if (version === since) return { version, records: [], skipped: [] }
  const rows = new Map<string, KeyRow>()
  for (const { value } of changes.getRange({ start: since + 1 })) {
    const id = parseJson(value)
    // Any key may have changed, so return all.
    if (typeof id !== 'string') return { version, ...sortRows(rowsOf(keys.getRange())) }
    const text = keys.get(id)
    rows.set(id, text === undefined ? missingRecord(id) : rowOf(id, text))
  }
  return { version, ...sortRows(rows.values()) }
}

function* rowsOf(
  // Another program may have written other key types.
  pairs: Iterable<{ readonly key: string | number; readonly value: string }>,
): Generator<KeyRow> {
  for (const { key, value } of pairs) yield rowOf(String(key), value)
}

/** A few milliseconds of reading; all keys at once would block a server for a second. */
const listedATurn = 2000

async function allRows({ root, keys }: Databases): Promise<KeyRow[]> {
  const all: KeyRow[] = []
  let after: string | undefined
  for (;;) {
    root.resetReadTxn()
    const from = after === undefined ? {} : { start: after, exclusiveStart: true }
    const rows = Array.from(keys.getRange({ ...from, limit: listedATurn }))
    all.push(...rowsOf(rows))
    if (rows.length < listedATurn) return all
    after = rows.at(-1)!.key
    await setImmediate()
  }
}

export async function openLmdbKeyStore(
  state: string,
  absent: AbsentStore = 'make',
): Promise<KeyStore> {
  const databases = await openStore(join(state, 'keys'), absent, (store): Databases => {
    const keys = store.root.openDB<string, string>({ name: 'keys', encoding: 'string' })
    const changes = store.root.openDB<string, number>({ name: 'changes', encoding: 'string' })
    return { ...store, keys, changes }
  })
  const { root, keys } = databases
  return {
    create: async (record) => {
      root.transactionSync(() => {
        if (keys.get(record.id) !== undefined) throw keyExistsError(record.id)
        putRecord(databases, record)
      })
    },
    get: async (id) => {
      const text = keys.get(id)
      return text === undefined ? undefined : recordOf(rowOf(id, text))
    },
    list: async () => oldestFirst(sortRows(await allRows(databases))),
    update: async (id, change, mend) =>
      root.transactionSync(() => {
        const before = keys.get(id)
        if (before === undefined) return undefined
        const record = updatedRecord(rowOf(id, before), change, mend)
        putRecord(databases, record, before)
        return record
      }),
    changes: async (since) => changesSince(databases, since),
    close: () => root.close(),
  }
}

/**
 * When a commit fails (a full disk), lmdb rejects each change and also a promise, `commitError`,
 * whose unhandled rejection would end the process.
 */
function ignoreCommitError(failure: unknown): void {
  void commitCause(failure)
}

const commitCauseMsMax = 100

async function commitCause(failure: unknown): Promise<unknown> {
  const { commitError } = failure as { readonly commitError?: Promise<unknown> }
  const cause = commitError?.then(
    () => failure,
    (error: unknown) => error,
  )
  return Promise.race([cause ?? failure, sleep(commitCauseMsMax, failure, { ref: false })])
}

function countOf(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(value) ? value : NaN
}

/**
 * lmdb's writing thread compares and swaps, so the event loop never waits for the disk. (In lmdb
 * 3.5.6 on Node 20, asynchronous transactions with a callback never resolve.)
 */
export async function openLmdbCounterStore(
  state: string,
  absent: AbsentStore = 'make',
): Promise<CounterStore> {
  const { root, counters } = await openStore(join(state, 'quota'), absent, ({ root }) => {
    const options = { name: 'counters', encoding: 'string', useVersions: true } as const
    return { root, counters: root.openDB<string, string>(options) }
  })
  return {
    read: (name) => {
      counters.resetReadTxn()
      const entry = counters.getEntry(name)
      return { value: countOf(entry?.value ?? '0'), version: entry?.version ?? 0 }
    },
    compareAndSwap: (name, before, value) => {
      const put = (): void => {
        // Covered by `whole`, which is awaited.
        counters.put(name, String(value), before.version + 1).catch(ignoreCommitError)
      }
      const whole =
        before.version === 0
          ? counters.ifNoExists(name, put)
          : counters.ifVersion(name, before.version, put)
      return whole.catch(async (error: unknown) => {
        throw await commitCause(error)
      })
    },
    list: (prefix) => {
      counters.resetReadTxn()
      const rows = counters.getRange({ start: prefix, end: `${prefix}\uffff` })
      return Array.from(rows, ({ key, value }) => [key, countOf(value)] as const)
    },
    close: () => root.close(),
  }
}

export async function openLmdbListStore(
  state: string,
  absent: AbsentStore = 'make',
): Promise<ListStore> {
  const { root, chunks, catalogue } = await openStore(join(state, 'lists'), absent, ({ root }) => ({
    root,
    chunks: root.openDB<string, string>({ name: 'chunks', encoding: 'string' }),
    catalogue: root.openDB<string, string>({ name: 'catalogue', encoding: 'string' }),
  }))
  const tagNow = (): string => catalogue.get('tag') ?? ''
  return {
    catalogue: async () => {
      root.resetReadTxn()
      return { tag: tagNow(), text: catalogue.get('text') ?? '' }
    },
    tag: async () => {
      root.resetReadTxn()
      return tagNow()
    },
    chunks: async (ids) => {
      root.resetReadTxn()
      return ids.map((id) => chunks.get(id))
    },
    putChunks: async (made) => {
      root.transactionSync(() => {
        for (const { id, text } of made) chunks.putSync(id, text)
      })
    },
    replace: async (tag, text) =>
      root.transactionSync(() => {
        if (tagNow() !== tag) return undefined
        const next = nextTag(tag)
        catalogue.putSync('tag', next)
        catalogue.putSync('text', text)
        return next
      }),
    removeChunks: async (ids) => {
      root.transactionSync(() => {
        for (const id of ids) chunks.removeSync(id)
      })
    },
    chunkIds: async () => {
      root.resetReadTxn()
      return Array.from(chunks.getKeys())
    },
    close: () => root.close(),
  }
}
