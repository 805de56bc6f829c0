// Keys in the store for many machines (lua-scripts.ts has the layout): all under one hash tag, for
// a change and the version that counts it become visible together. Not the wire, and no look at
// what a record says.
//
// A store can lose what it had acknowledged (a crash without its last second, a failover, an old
// copy brought back). Its versions would then name other changes than they did; so each version has
// a random stamp, and a reader whose stamp the store does not know reads everything anew. To its
// own caller the versions only ever rise: `base` makes up for what was lost. Keys that the store
// has lost are told as revoked.

import { randomUUID } from 'node:crypto'
import { IpriskError } from '../../../base/coded-error.ts'
import type { StoreCircuitBreaker } from './store-circuit-breaker.ts'
import type { KeyRecord } from '../../keys/key-record.ts'
import * as script from './lua-scripts.ts'
import type { KeyChanges, KeyStore } from '../../keys/key-store.ts'

const names = ['records', 'changes', 'stamps', 'version'].map((name) => `iprisk:{keys}:${name}`)
const [recordsName = '', , , versionName = ''] = names

/** Keys read by one script: short enough that nobody else waits for it. */
const pageKeys = 500

/** Others are as quick, but each failed try means that one of them succeeded. */
const triesMax = 100

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
  readonly records: readonly KeyRecord[]
}

async function readPage(breaker: StoreCircuitBreaker, since: number, stamp: string): Promise<Page> {
  const reply = await breaker.runScript(script.changedKeysScript, names, [since, stamp, pageKeys])
  const [version, newStamp, ...texts] = reply as [number, string, ...string[]]
  const records = texts.map((text) => JSON.parse(text) as KeyRecord)
  return { version, stamp: newStamp, records }
}

/** A key that readers hold and the store has lost. */
function lostRecord(id: string): KeyRecord {
  return { id, name: '', plan: '', apis: [], createdAt: 0, revokedAt: 0, secrets: [] }
}

async function readChanges(
  breaker: StoreCircuitBreaker,
  told: ReaderState,
  asked: number,
): Promise<KeyChanges> {
  const since = Math.max(0, asked - told.base)
  let at = { version: since, stamp: since === told.version ? told.stamp : '' }
  const records = new Map<string, KeyRecord>()
  let another = false
  for (;;) {
    const page = await readPage(breaker, at.version, at.stamp)
    if (page.version < 0) {
      another = true
      records.clear()
      at = { version: 0, stamp: '' }
      continue
    }
    for (const record of page.records) records.set(record.id, record)
    at = page
    if (page.records.length < pageKeys) break
  }
  if (another) {
    for (const id of told.ids) if (!records.has(id)) records.set(id, lostRecord(id))
    told.base = Math.max(asked, told.base + told.version) + 1
  }
  for (const id of records.keys()) told.ids.add(id)
  told.version = at.version
  told.stamp = at.stamp
  return { version: told.base + told.version, records: [...records.values()] }
}

async function updateRecord(
  breaker: StoreCircuitBreaker,
  id: string,
  change: (record: KeyRecord) => KeyRecord,
): Promise<KeyRecord | undefined> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const before = await breaker.runScript(script.readKeyScript, [recordsName], [id])
    if (typeof before !== 'string') return undefined
    const record = change(JSON.parse(before) as KeyRecord)
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
      return typeof text === 'string' ? (JSON.parse(text) as KeyRecord) : undefined
    },
    list: async () => {
      const fresh: ReaderState = { base: 0, version: 0, stamp: '', ids: new Set() }
      const { records } = await readChanges(breaker, fresh, 0)
      return records.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    },
    update: (id, change) => updateRecord(breaker, id, change),
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
