// Keys in the store for many machines (lua-scripts.ts has the layout): all under one hash tag, for
// a change and the version that counts it become visible together. Not the wire.
//
// A store can lose what it had acknowledged (a crash without its last second, a failover, an old
// copy brought back). Its versions would then name other changes than they did; so each version has
// a random stamp, and a reader whose stamp the store does not know reads everything anew. To its
// own caller the versions only ever rise: `base` makes up for what was lost. Keys that the store
// has lost are told as revoked.

import { randomUUID } from 'node:crypto'
import { IpriskError } from '../../../base/coded-error.ts'
import type { StoreCircuitBreaker } from './store-circuit-breaker.ts'
import { type KeyRecord, lostRecord } from '../../keys/key-record.ts'
import {
  type KeyRow,
  type SkippedKey,
  missingRecord,
  oldestFirst,
  parseRecord,
  recordOf,
  sortRows,
  updatedRecord,
} from '../../keys/read-record.ts'
import * as script from './lua-scripts.ts'
import type { KeyChanges, KeyStore } from '../../keys/key-store.ts'

const names = ['records', 'changes', 'stamps', 'version'].map((name) => `iprisk:{keys}:${name}`)
const [recordsName = '', , , versionName = ''] = names

/** Keys read by one script: short enough that nobody else waits for it. */
const pageKeys = 500

/** Others are as quick, but each failed try means that one of them succeeded. */
const triesMax = 100

/** Restarts of one read because the store's history was replaced. */
const historiesMax = 10

/** What this process has told its caller. */
interface ReaderState {
  /** What is added to the store's versions. */
  base: number
  /** The store's version, and its stamp. */
  version: number
  stamp: string
  readonly ids: Set<string>
}

interface Page {
  readonly version: number
  readonly stamp: string
  readonly rows: readonly KeyRow[]
}

async function readPage(breaker: StoreCircuitBreaker, since: number, stamp: string): Promise<Page> {
  const reply = await breaker.runScript(script.changedKeysScript, names, [since, stamp, pageKeys])
  const [version, newStamp, ...fields] = reply as [number, string, ...(string | null)[]]
  const rows: KeyRow[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [id, text] = [String(fields[i]), fields[i + 1]]
    rows.push(typeof text === 'string' ? parseRecord(id, text) : missingRecord(id))
  }
  return { version, stamp: newStamp, rows }
}

async function readChanges(
  breaker: StoreCircuitBreaker,
  told: ReaderState,
  asked: number,
): Promise<KeyChanges> {
  const since = Math.max(0, asked - told.base)
  let at = { version: since, stamp: since === told.version ? told.stamp : '' }
  const rows = new Map<string, KeyRow>()
  let histories = 0
  for (;;) {
    const page = await readPage(breaker, at.version, at.stamp)
    if (page.version < 0) {
      histories += 1
      if (histories > historiesMax) throw unsettledError()
      rows.clear()
      at = { version: 0, stamp: '' }
      continue
    }
    for (const row of page.rows) rows.set(row.id, row)
    at = page
    if (page.rows.length < pageKeys) break
  }
  if (histories > 0) {
    for (const id of told.ids) if (!rows.has(id)) rows.set(id, lostRecord(id, 0))
    told.base = Math.max(asked, told.base + told.version) + 1
  }
  for (const id of rows.keys()) told.ids.add(id)
  told.version = at.version
  told.stamp = at.stamp
  return { version: told.base + told.version, ...sortRows(rows.values()) }
}

/** The change counter is negative, or replicas with different histories answer in turn. */
function unsettledError(): IpriskError {
  const message =
    `The store's history of key changes was replaced ${historiesMax} times during one read. ` +
    `Check the value of ${versionName} in the store.`
  return new IpriskError({ code: 'keys_unsettled', message, fault: 'environment', retryable: true })
}

async function updateRecord(
  breaker: StoreCircuitBreaker,
  id: string,
  change: (record: KeyRecord) => KeyRecord,
  mend?: (skipped: SkippedKey) => KeyRecord,
): Promise<KeyRecord | undefined> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const before = await breaker.runScript(script.readKeyScript, [recordsName], [id])
    if (typeof before !== 'string') return undefined
    const record = updatedRecord(parseRecord(id, before), change, mend)
    const args = [id, before, JSON.stringify(record), randomUUID()]
    if ((await breaker.runScript(script.replaceKeyScript, names, args)) === 1) return record
  }
  const message = `The key ${id} changed ${triesMax} times while it was to be changed.`
  throw new IpriskError({ code: 'key_busy', message, fault: 'environment', retryable: true })
}

/** The keys behind a circuit breaker, which `close` closes. */
export function createRedisKeyStore(breaker: StoreCircuitBreaker): KeyStore {
  const told: ReaderState = { base: 0, version: 0, stamp: '', ids: new Set() }
  // One look after the other, so that what was told last is what was read last.
  let last: Promise<unknown> = Promise.resolve()
  return {
    create: async (record) => {
      const args = [record.id, JSON.stringify(record), randomUUID()]
      if ((await breaker.runScript(script.createKeyScript, names, args)) === 1) return
      const message = `There is a key with the id ${record.id} already. Make the key once more.`
      throw new IpriskError({ code: 'key_exists', message, fault: 'environment', retryable: true })
    },
    get: async (id) => {
      const text = await breaker.runScript(script.readKeyScript, [recordsName], [id])
      return typeof text === 'string' ? recordOf(parseRecord(id, text)) : undefined
    },
    list: async () => {
      const fresh: ReaderState = { base: 0, version: 0, stamp: '', ids: new Set() }
      return oldestFirst(await readChanges(breaker, fresh, 0))
    },
    update: (...act) => updateRecord(breaker, ...act),
    version: async () =>
      told.base + Number(await breaker.runScript(script.readCounterScript, [versionName], [])),
    changes: (since) => {
      const changes = last.then(() => readChanges(breaker, told, since))
      last = changes.catch(() => undefined)
      return changes
    },
    close: breaker.close,
  }
}
