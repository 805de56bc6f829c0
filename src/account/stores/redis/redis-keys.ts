// Keys in the store for many machines (layout: lua-scripts.ts), under one hash tag, so that a
// change and its version become visible together.
//
// A store can lose acknowledged changes (a crash, a failover, a restored copy), and its versions
// would then name other changes. So each version has a random stamp; a reader with an unknown stamp
// rereads everything. Callers see only rising versions, by `base`. Lost keys are returned as
// revoked.

import { randomUUID } from 'node:crypto'
import { IpriskError, environmentError } from '../../../base/coded-error.ts'
import { createQueue, mapInParallel } from '../../../base/concurrency.ts'
import { formatCounted } from '../../../base/text/number-format.ts'
import type { Day } from '../../../base/day.ts'
import { leaseShare, storeConcurrencyMax } from '../../../base/limits.ts'
import { abusiveMin, outcomeWindowMs } from '../../../lists/list-limits.ts'
import { type ListStore, nextTag } from '../../../lists/list-store.ts'
import { type KeyRecord, lostRecord } from '../../keys/key-record.ts'
import { type KeyChanges, type KeyStore, keyExistsError } from '../../keys/key-store.ts'
import {
  isDay,
  type KeyRow,
  missingRecord,
  oldestFirst,
  parseRecord,
  recordOf,
  type SkippedKey,
  sortRows,
  updatedRecord,
} from '../../keys/read-record.ts'
import type { LastUsedStore } from '../../last-used.ts'
import type { QuotaLedger } from '../../limits/quota-ledger.ts'
import { formatMonth, type Month } from '../../limits/quota-period.ts'
import { type SharedBuckets, sharedBucketSizes } from '../../limits/shared-bucket.ts'
import * as script from './lua-scripts.ts'
import type { StoreCircuitBreaker } from './store-circuit-breaker.ts'

const names = ['records', 'changes', 'stamps', 'version'].map((name) => `iprisk:{keys}:${name}`)
const [recordsName = '', , , versionName = ''] = names

const pageKeys = 500

/** Each failed try means that another process succeeded. */
const triesMax = 100

/** Restarts of one read because the store's history was replaced. */
const historiesMax = 10

/** `onLost` gets the number of newly lost keys, and of keys left. */
const newReader = (onLost: (lost: number, left: number) => void = () => undefined) => ({
  /** Added to the store's versions. */
  base: 0,
  version: 0,
  stamp: '',
  ids: new Set<string>(),
  lost: new Set<string>(),
  onLost,
})

async function readPage(breaker: StoreCircuitBreaker, since: number, stamp: string) {
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
  told: ReturnType<typeof newReader>,
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
  for (const id of rows.keys()) told.lost.delete(id)
  if (histories > 0) {
    const left = rows.size
    const lost = [...told.ids].filter((id) => !rows.has(id))
    const fresh = lost.filter((id) => !told.lost.has(id)).length
    for (const id of lost) {
      told.lost.add(id)
      rows.set(id, lostRecord(id, 0))
    }
    if (fresh > 0) told.onLost(fresh, left)
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
  return environmentError('keys_unsettled', message, { retryable: true })
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
  const message = `The key ${id} changed ${triesMax} times during this update.`
  throw environmentError('key_busy', message, { retryable: true })
}

/** `close` closes the circuit breaker; `onTrouble` gets lost keys. */
export function createRedisKeyStore(
  breaker: StoreCircuitBreaker,
  onTrouble: (error: IpriskError) => void = () => undefined,
): KeyStore {
  const told = newReader((lost, left) => {
    const message =
      `The store has lost ${formatCounted(lost, 'key', 'keys')} and still has ${left}: ` +
      'requests with a lost key get 401. Restore its data, or run "iprisk state restore FILE" with a backup, or "iprisk keys import FILE".'
    onTrouble(environmentError('store_lost_keys', message))
  })
  // Sequential reads, so that callers see them in order.
  const enqueue = createQueue()
  return {
    create: async (record) => {
      const args = [record.id, JSON.stringify(record), randomUUID()]
      if ((await breaker.runScript(script.createKeyScript, names, args)) !== 1) {
        throw keyExistsError(record.id)
      }
    },
    get: async (id) => {
      const text = await breaker.runScript(script.readKeyScript, [recordsName], [id])
      return typeof text === 'string' ? recordOf(parseRecord(id, text)) : undefined
    },
    list: async () => oldestFirst(await readChanges(breaker, newReader(), 0)),
    update: (...act) => updateRecord(breaker, ...act),
    changes: (since) => enqueue(() => readChanges(breaker, told, since)),
    close: breaker.close,
  }
}

/**
 * The ledger in the shared store: one counter per key and month, changed only by scripts, so that
 * one lease gets the last units. Late grants go to `onLate`; a return without an answer is never
 * repeated: its units stay taken.
 */
const counterName = (keyId: string, month: Month): string =>
  `iprisk:{${keyId}}:quota:${formatMonth(month)}`
const indexName = (month: Month): string => `iprisk:{quota:${formatMonth(month)}}`

async function readCount(breaker: StoreCircuitBreaker, name: string): Promise<number | undefined> {
  const reply = await breaker.runScript(script.readCounterScript, [name]).catch((error) => {
    if (error instanceof IpriskError && error.code === 'store_failed') return undefined
    throw error
  })
  const count = Number(reply ?? NaN)
  return Number.isSafeInteger(count) ? count : undefined
}

export function createRedisQuotaLedger(breaker: StoreCircuitBreaker): QuotaLedger {
  const { runScript } = breaker
  /** Keys in the index of one month. */
  const noted = { month: -1, ids: new Set<string>() }

  /** The index has every key before it has a counter. */
  async function note(keyId: string, month: Month): Promise<void> {
    if (noted.month === month && noted.ids.has(keyId)) return
    await runScript(script.addMemberScript, [indexName(month)], [keyId])
    if (noted.month !== month) noted.ids.clear()
    noted.month = month
    noted.ids.add(keyId)
  }

  return {
    lease: async ({ keyId, month, limit, want, need, onLate }) => {
      await note(keyId, month)
      const args = [limit, want, need, leaseShare]
      const reply = await runScript(script.leaseScript, [counterName(keyId, month)], args, (late) =>
        onLate?.((late as [number, number])[0]),
      )
      const [granted, remaining] = reply as [number, number]
      return { granted, remaining }
    },
    returnUnits: async (keyId, month, units) => {
      const left = await runScript(script.returnUnitsScript, [counterName(keyId, month)], [units])
      if (left !== -1) return
      throw environmentError(
        'store_lost_units',
        `The store has fewer units of the key ${keyId} than were leased: it lost acknowledged units ` +
          'and may grant them again. Set appendonly yes, appendfsync always and maxmemory-policy ' +
          'noeviction.',
      )
    },
    charge: async (keyId, month, units) => {
      await note(keyId, month)
      await runScript(script.chargeScript, [counterName(keyId, month)], [units])
    },
    usage: async (month) => {
      const ids = (await runScript(script.membersScript, [indexName(month)])) as string[]
      const usage = new Map<string, number>()
      await mapInParallel(ids, storeConcurrencyMax, async (id) => {
        const count = await readCount(breaker, counterName(id, month))
        if (count !== undefined) usage.set(id, count)
      })
      return usage
    },
    down: breaker.down,
    close: async () => undefined,
  }
}

// Rate buckets in the shared store: one hash per key and limit, drained by the store's clock. If
// that jumps ahead, a bucket drains early, by at most a burst.

/** Grants to a caller that has given up drain away. */
export const createRedisBuckets = (breaker: StoreCircuitBreaker): SharedBuckets => ({
  takeTokens: async ({ keyId, rate, want, need }) => {
    const name = `iprisk:{${keyId}}:rate:${rate.perSecond}:${rate.burst}`
    const args = [rate.perSecond, sharedBucketSizes(rate).capacity, want, need]
    const reply = await breaker.runScript(script.takeTokensScript, [name], args)
    const [granted, level] = reply as [number, string]
    return { granted, level: Number(level) }
  },
  down: breaker.down,
})

const usesName = 'iprisk:{uses}'

export const createRedisLastUsedStore = (breaker: StoreCircuitBreaker): LastUsedStore => ({
  note: async (keyId, day) => {
    await breaker.runScript(script.recordUseScript, [usesName], [keyId, day])
  },
  days: async () => {
    const reply = (await breaker.runScript(script.readUsesScript, [usesName])) as string[]
    const days = new Map<string, Day>()
    for (let i = 0; i + 1 < reply.length; i += 2) {
      const day = Number(reply[i + 1])
      if (isDay(day)) days.set(reply[i] ?? '', day as Day)
    }
    return days
  },
})

// Own lists in the shared store. Chunks (a hundred kilobytes, up to a megabyte) are sent or read
// one at a time, so that other commands get through.

const catalogueName = 'iprisk:{lists}:catalogue'
const chunksName = 'iprisk:{lists}:chunks'
const idsAtOnce = 500

export function createRedisListStore(breaker: StoreCircuitBreaker): ListStore {
  const { runScript } = breaker
  const read = async (name: string, ...fields: readonly string[]) => {
    const values = await runScript(script.readFieldsScript, [name], fields)
    return (values as (string | null)[]).map((value) => value ?? undefined)
  }
  return {
    catalogue: async () => {
      const [tag = '', text = ''] = await read(catalogueName, 'tag', 'text')
      return { tag, text }
    },
    tag: async () => (await read(catalogueName, 'tag'))[0] ?? '',
    chunks: async (ids) => {
      const texts: (string | undefined)[] = []
      for (const id of ids) texts.push(...(await read(chunksName, id)))
      return texts
    },
    putChunks: async (made) => {
      for (const { id, text } of made) {
        await runScript(script.putChunksScript, [chunksName], [id, text])
      }
    },
    replace: async (tag, text) => {
      const next = nextTag(tag)
      const args = [tag, next, text]
      return (await runScript(script.replaceCatalogueScript, [catalogueName], args)) === 1
        ? next
        : undefined
    },
    removeChunks: async (ids) => {
      for (let at = 0; at < ids.length; at += idsAtOnce) {
        await runScript(script.removeChunksScript, [chunksName], ids.slice(at, at + idsAtOnce))
      }
    },
    chunkIds: async () => (await runScript(script.fieldNamesScript, [chunksName])) as string[],
    close: breaker.close,
  }
}

/** How many abusive outcomes stand against an address (src/feedback/outcome-windows.ts). */
export const createRedisOutcomeWindows = ({ runScript }: StoreCircuitBreaker) => ({
  count: async (
    visitor: string,
    of: Record<'atMs' | 'receivedMs', number> & { request: string },
  ) => {
    const names = [`iprisk:{${visitor}}:abusive`, `iprisk:{${visitor}}:legitimate`]
    const args = [of.request, of.atMs, of.receivedMs, outcomeWindowMs, abusiveMin]
    const reply = (await runScript(script.countOutcomeScript, names, args)) as [number, number]
    return { abusive: reply[0], sinceMs: reply[1] }
  },
  takeForgotten: () => 0,
})
