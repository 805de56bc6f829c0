// The ledger of quotas: units of a month taken by each key's workers, in leases before they are
// spent; unspent units are returned. A worker that dies takes at most its lease with it.
//
// Invariants: a counter never passes the stated limit; counters are never reset or removed, so a
// repeated month (a clock set back) continues; `lease` resolves once the units are durable.

import { assert } from '../../base/assert.ts'
import { environmentError } from '../../base/coded-error.ts'
import { leaseShare } from '../../base/limits.ts'
import { type Month, formatMonth } from './quota-period.ts'

/** `version` is for `compareAndSwap`; both are 0 if there is none. */
export interface VersionedCounter {
  /** NaN if the stored value is not a count. */
  readonly value: number
  readonly version: number
}

export interface CounterStore {
  readonly read: (name: string) => VersionedCounter
  /** False if the value is no longer `before`. Resolves once durable. */
  readonly compareAndSwap: (
    name: string,
    before: VersionedCounter,
    value: number,
  ) => Promise<boolean>
  /** Names with that prefix and their values, NaN as above. */
  readonly list: (prefix: string) => readonly (readonly [string, number])[]
  readonly close: () => Promise<void>
}

/** Whether the counter is at least `value` now. A failed try means a concurrent change. */
export async function raiseCounter(
  counters: CounterStore,
  to: { readonly name: string; readonly value: number; readonly triesMax: number },
): Promise<boolean> {
  for (let tries = 0; tries < to.triesMax; tries += 1) {
    const before = counters.read(to.name)
    if (before.value >= to.value) return true
    if (await counters.compareAndSwap(to.name, before, to.value)) return true
  }
  return false
}

export interface LeaseRequest {
  readonly keyId: string
  readonly month: Month
  readonly limit: number
  readonly want: number
  /** What a waiting check needs, at most `want`; fewer are useless to it. */
  readonly need: number
  /** Called with units granted after the lease had failed for its caller. */
  readonly onLate?: (granted: number) => void
}

export interface LeaseGrant {
  readonly granted: number
  readonly remaining: number
}

export interface QuotaLedger {
  readonly lease: (request: LeaseRequest) => Promise<LeaseGrant>
  /**
   * The worker must no longer be able to spend the units. A `retryable` error means that nothing
   * was returned; after other errors they may have been.
   */
  readonly returnUnits: (keyId: string, month: Month, units: number) => Promise<void>
  /** Counts units spent without a lease, even above the limit. */
  readonly charge: (keyId: string, month: Month, units: number) => Promise<void>
  /** Units taken in that month, leased ones included, by key id. */
  readonly usage: (month: Month) => Promise<ReadonlyMap<string, number>>
  readonly down: () => boolean
  readonly close: () => Promise<void>
}

/**
 * The size of a lease after `taken` units: `want`, but at most `rest / leaseShare` or the immediate
 * need, so that every worker gets some of the last units.
 */
export function leaseGrantUnits(
  taken: number,
  request: Pick<LeaseRequest, 'limit' | 'want' | 'need'>,
): number {
  const { limit, want, need } = request
  const rest = Math.max(0, limit - taken)
  const fair = Math.min(want, Math.ceil(rest / leaseShare))
  return need <= rest ? Math.max(need, fair) : fair
}

/** Each failed try means that another worker succeeded. */
const triesMax = 1000

/** Counters are named `2026-08 <key id>`. */
export function createQuotaLedger(counters: CounterStore): QuotaLedger {
  async function add(name: string, change: (value: number) => number) {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const before = counters.read(name)
      if (Number.isNaN(before.value)) {
        const [month = '', keyId = ''] = name.split(' ')
        const message =
          `The quota counter of key ${keyId} for ${month} is not a whole number, so the key gets no ` +
          'quota. Restore it from a backup with "iprisk state restore FILE".'
        throw environmentError('counter_unreadable', message)
      }
      const added = change(before.value)
      const value = before.value + added
      assert(value >= 0, `The quota counter ${name} would fall below zero.`)
      if (added === 0 || (await counters.compareAndSwap(name, before, value))) {
        return { before: before.value, added }
      }
    }
    throw environmentError(
      'quota_busy',
      `The quota counter ${name} changed ${triesMax} times during this update.`,
      { retryable: true },
    )
  }
  const nameOf = (keyId: string, month: Month): string => `${formatMonth(month)} ${keyId}`

  return {
    lease: async (request) => {
      const name = nameOf(request.keyId, request.month)
      const { before, added } = await add(name, (taken) => leaseGrantUnits(taken, request))
      return { granted: added, remaining: Math.max(0, request.limit - before - added) }
    },
    returnUnits: async (keyId, month, units) => {
      await add(nameOf(keyId, month), () => -units)
    },
    charge: async (keyId, month, units) => {
      await add(nameOf(keyId, month), () => units)
    },
    usage: async (month) => {
      const prefix = `${formatMonth(month)} `
      return new Map(
        counters
          .list(prefix)
          .filter(([, value]) => !Number.isNaN(value))
          .map(([name, value]) => [name.slice(prefix.length), value] as const),
      )
    },
    down: () => false,
    close: counters.close,
  }
}
