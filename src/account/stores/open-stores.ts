// Opens what the settings name for keys and limits: the state folder, a file of keys, or the store
// for many machines. The one place that knows them all.
//
// A trouble is reported once, until something has succeeded in between. Only the circuit breaker
// reports that a store is away, so that a thousand failed leases are one trouble and one recovery.
// Trouble with limits (`limitCodes`), which comes amid successes, is reported once a minute.

import { join } from 'node:path'
import { bootId, machineOffsetMs } from '../../base/system/clock.ts'
import { IpriskError, environmentError, inputError } from '../../base/coded-error.ts'
import { openLazily } from '../../base/memoise.ts'
import type { Plans } from '../../config/plan.ts'
import type { StoreSettings } from '../../config/settings.ts'
import { type CounterStore, type QuotaLedger, createQuotaLedger } from '../limits/quota-ledger.ts'
import { type Limiter, type LimiterOptions, createLimiter } from '../limits/limiter.ts'
import { openStoreCircuitBreaker } from './redis/store-circuit-breaker.ts'
import {
  type AbsentStore,
  hasLmdbStore,
  openLmdbCounterStore,
  openLmdbKeyStore,
  openLmdbListStore,
} from './lmdb/lmdb-stores.ts'
import {
  createRedisBuckets,
  createRedisKeyStore,
  createRedisLastUsedStore,
  createRedisListStore,
  createRedisQuotaLedger,
} from './redis/redis-keys.ts'
import { createSharedLimiter } from '../limits/shared-limiter.ts'
import { openLeaseFile } from '../limits/lease-file.ts'
import { openRateFile } from '../limits/rate-file.ts'
import type { ListStore } from '../../lists/list-store.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { skippedText } from '../keys/read-record.ts'
import { type LastUsedStore, createLastUsedStore } from '../last-used.ts'

const storeReportAgainMs = 60_000

export interface StoresSettings {
  readonly state: string
  readonly store: StoreSettings
  readonly plans?: Plans
}

export interface StoresHooks {
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

/** For callers that see trouble anyway: a store that is away fails what is asked of it. */
export const silentHooks: StoresHooks = { onTrouble: () => undefined, onRecovery: () => undefined }

export interface Stores {
  readonly name: string
  readonly keyStore: KeyStore
  readonly ledger: QuotaLedger
  /** Of the state folder; a store for many machines keeps its own copies of its counters. */
  readonly counters?: CounterStore
  readonly uses: LastUsedStore
  /** Own lists; opened when first asked for: workers map what the primary compiles of them. */
  readonly openLists: () => Promise<ListStore>
  /** The limiter of a worker; one a process. Commands that only read and write keys need none. */
  readonly openLimiter: () => Limiter
  /** `outages`: how often it has gone since this process began. */
  readonly metrics: () => { readonly up: 0 | 1; readonly outages: number }
  /** One sentence each, for the log of a start. */
  readonly advice: () => Promise<readonly string[]>
  /** Closes the limiter first, so that its leases go back, then the rest. */
  readonly close: () => Promise<void>
}

const circuitBreakerCodes = new Set(['store_unreachable', 'store_unknown', 'store_refuses'])

/** Trouble with limits while the store is there. */
const limitCodes = new Set([
  'store_failed',
  'store_lost_keys',
  'store_lost_units',
  'rates_full',
  'rates_lost',
  'counter_unreadable',
])

/** Whether it means that the store of keys and quotas is not there, or does not work. */
export function isOutage(error: unknown): boolean {
  return !(error instanceof IpriskError) || !limitCodes.has(error.code)
}

export function reportOnce(hooks: StoresHooks): StoresHooks {
  const told = new Set<string>()
  const oddMs = new Map<string, number>()
  return {
    onTrouble: (error) => {
      const code = error instanceof IpriskError ? error.code : ''
      if (circuitBreakerCodes.has(code) || told.has(code)) return
      if (isOutage(error)) {
        told.add(code)
      } else {
        const nowMs = performance.now()
        if (nowMs - (oddMs.get(code) ?? -Infinity) < storeReportAgainMs) return
        oddMs.set(code, nowMs)
      }
      hooks.onTrouble(error)
    },
    onRecovery: () => {
      if (told.size > 0) hooks.onRecovery()
      told.clear()
    },
  }
}

/** What both limiters need. Each has a rate file of its own: their words mean different things. */
function limiterParts(
  folder: string,
  hooks: StoresHooks,
  absent: AbsentStores,
): Omit<LimiterOptions, 'ledger'> {
  const boot = bootId()
  const rateFile = openRateFile(folder, { boot })
  if (rateFile.isNew && absent === 'fail') {
    const message =
      `The rate limit file ${rateFile.path} was missing and was recreated, so a key may spend its ` +
      'rate twice. Run "iprisk restart" to give all workers the same file.'
    hooks.onTrouble(environmentError('rates_lost', message))
  }
  return {
    rateFile,
    leaseFile: openLeaseFile(folder, { boot }),
    machineOffsetMs: machineOffsetMs(),
    now: () => performance.now(),
    wall: () => Date.now(),
    ...reportOnce(hooks),
  }
}

const keysShownMax = 20

/** What becomes of stores that are not there; `refuse`: it is an error where there is none at all. */
export type AbsentStores = AbsentStore | 'refuse'

async function openEmbedded(
  settings: StoresSettings,
  hooks: StoresHooks,
  absentStores: AbsentStores,
): Promise<Stores> {
  const { state, store, plans = {} } = settings
  const { keysFile } = store
  if (absentStores === 'refuse' && keysFile === undefined && !hasLmdbStore(state)) {
    const message = `${state} is no state folder: no key, list or quota was ever kept there.`
    throw inputError('no_state_folder', message)
  }
  const absent = absentStores === 'refuse' ? 'empty' : absentStores
  const keyStore =
    keysFile === undefined
      ? await openLmdbKeyStore(state, absent)
      : // Read in only here: it brings the whole of what checks settings.
        (await import('./file-keys.ts')).openFileKeyStore(keysFile, plans, state)
  const counters = await openLmdbCounterStore(state, absent).catch(async (cause: unknown) => {
    await keyStore.close().catch(() => undefined)
    throw cause
  })
  const ledger = createQuotaLedger(counters)
  let limiter: Limiter | undefined
  const lists = openLazily(() => openLmdbListStore(state, absent))
  return {
    name: keysFile ?? state,
    keyStore,
    counters,
    openLists: lists.get,
    ledger,
    uses: createLastUsedStore(counters),
    openLimiter: () =>
      (limiter ??= createLimiter({ ...limiterParts(state, hooks, absent), ledger })),
    metrics: () => ({ up: 1, outages: 0 }),
    advice: async () => (keysFile === undefined ? [] : keysFileAdvice(keysFile, keyStore)),
    close: async () => {
      // A limiter closes its ledger.
      await (limiter ?? ledger).close()
      await keyStore.close()
      await (await lists.ifOpen())?.close()
    },
  }
}

async function keysFileAdvice(path: string, keyStore: KeyStore): Promise<readonly string[]> {
  const { records, skipped } = await keyStore.list()
  if (records.length === 0 && skipped.length > 0) {
    const message = `None of the keys in ${path} can be used:`
    const details = skipped.slice(0, keysShownMax).map((row) => `  ${skippedText(row)}`)
    throw inputError('keys_file', message, { details })
  }
  return [
    `${records.length} keys come from a file: rates hold on each machine by itself, quotas are refused.`,
  ]
}

async function openShared(
  settings: StoresSettings,
  hooks: StoresHooks,
  absent: AbsentStores,
): Promise<Stores> {
  const { state, store } = settings
  const { policy, timeoutMs, replicas } = store
  // Read in only here: it is a third of what a worker reads before it listens.
  const { openRedisConnection } = await import('./redis/redis-connection.ts')
  const connection = openRedisConnection(store)
  let outages = 0
  const breaker = await openStoreCircuitBreaker(connection, {
    timeoutMs,
    replicas,
    onDown: (error) => {
      outages += 1
      hooks.onTrouble(error)
    },
    onUp: hooks.onRecovery,
  })
  const ledger = createRedisQuotaLedger(breaker)
  let limiter: Limiter | undefined
  const shared = join(state, 'shared')
  return {
    name: connection.name,
    keyStore: createRedisKeyStore(breaker, hooks.onTrouble),
    openLists: async () => createRedisListStore(breaker),
    ledger,
    uses: createRedisLastUsedStore(breaker),
    openLimiter: () =>
      (limiter ??= createSharedLimiter({
        ...limiterParts(shared, hooks, absent),
        ledger,
        buckets: createRedisBuckets(breaker),
        policy,
      })),
    metrics: () => ({ up: breaker.down() ? 0 : 1, outages }),
    advice: breaker.advice,
    close: async () => {
      await limiter?.close()
      await breaker.close()
    },
  }
}

/**
 * A store for many machines that does not answer is no failure: it is reported, every use fails
 * with `store_unreachable`, and the store is taken up when it comes back.
 */
export function openStores(
  settings: StoresSettings,
  hooks: StoresHooks,
  absent: AbsentStores = 'make',
): Promise<Stores> {
  return settings.store.url === undefined
    ? openEmbedded(settings, hooks, absent)
    : openShared(settings, hooks, absent)
}
