// Opens the stores of keys and limits that the settings name: the state folder, a file of keys, or
// a store for many machines.
//
// Trouble is reported once until something succeeds. Only the circuit breaker reports that a store
// is away, so a thousand failed leases are one trouble and one recovery. Trouble with limits
// (`limitCodes`), which comes amid successes, is reported once a minute.

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
  createRedisOutcomeWindows,
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

/** For callers that see failures anyway. */
export const silentHooks: StoresHooks = { onTrouble: () => undefined, onRecovery: () => undefined }

export interface Stores {
  readonly name: string
  readonly keyStore: KeyStore
  readonly ledger: QuotaLedger
  /** Those of the state folder; a store for many machines keeps its own counters. */
  readonly counters?: CounterStore
  readonly uses: LastUsedStore
  /** Own lists, opened on first use: workers map what the primary compiled. */
  readonly openLists: () => Promise<ListStore>
  /** Absent for one machine. */
  readonly outcomeWindows?: ReturnType<typeof createRedisOutcomeWindows>
  /** A worker's limiter, one per process. */
  readonly openLimiter: () => Limiter
  /** `outages` counts from the start of this process. */
  readonly metrics: () => { readonly up: 0 | 1; readonly outages: number }
  /** Sentences for the startup log. */
  readonly advice: () => Promise<readonly string[]>
  /** Closes the limiter first, so that its leases are returned. */
  readonly close: () => Promise<void>
}

const circuitBreakerCodes = new Set(['store_unreachable', 'store_unknown', 'store_refuses'])

/** Trouble with limits while the store is reachable. */
const limitCodes = new Set([
  'store_failed',
  'store_lost_keys',
  'store_lost_units',
  'rates_full',
  'rates_lost',
  'counter_unreadable',
])

/** Whether the store of keys and quotas is away or does not work. */
export const isOutage = (error: unknown): boolean =>
  !(error instanceof IpriskError) || !limitCodes.has(error.code)

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

/** Each limiter has its own rate file: their words mean different things. */
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

/** For missing stores; `refuse`: throw if there is none at all. */
export type AbsentStores = AbsentStore | 'refuse'

async function openEmbedded(
  settings: StoresSettings,
  hooks: StoresHooks,
  absentStores: AbsentStores,
): Promise<Stores> {
  const { state, store, plans = {} } = settings
  const { keysFile } = store
  if (absentStores === 'refuse' && keysFile === undefined && !hasLmdbStore(state)) {
    const message = `${state} is not a state folder: it has never held a key, list or quota.`
    throw inputError('no_state_folder', message)
  }
  const absent = absentStores === 'refuse' ? 'empty' : absentStores
  const keyStore =
    keysFile === undefined
      ? await openLmdbKeyStore(state, absent)
      : // Imported only here: it loads the whole validation of settings.
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
    `${records.length} keys come from a file: rates apply per machine, and keys with a quota are skipped.`,
  ]
}

async function openShared(
  settings: StoresSettings,
  hooks: StoresHooks,
  absent: AbsentStores,
): Promise<Stores> {
  const { state, store } = settings
  const { policy, timeoutMs, replicas } = store
  // Imported only here: it is a third of a worker's start.
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
    outcomeWindows: createRedisOutcomeWindows(breaker),
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
 * An unreachable store for many machines is not a failure: it is reported, uses throw
 * `store_unreachable`, and it is used once it is back.
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
