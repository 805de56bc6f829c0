// The ledger of quotas: how many units of a month each key's workers have taken. Workers take units
// before they spend them, in leases, and give back what they did not spend. Who holds a lease is
// not recorded: a worker that dies takes at most its lease with it.
//
// Invariants: a counter never passes the limit that its taker stated; nothing is set back to zero
// or removed, so that a month that comes twice (a clock set back) goes on where it was; `lease`
// resolves when the units are safe on the disk.

import { assert } from '../../base/assert.ts'
import { environmentError } from '../../base/coded-error.ts'
import { leaseShare } from '../../base/limits.ts'
import { type Month, formatMonth } from './quota-period.ts'

/** A number, and the version of it that `replace` compares; both 0 where there is none. */
export interface VersionedCounter {
  /** NaN if the stored value is not a count. */
  readonly value: number
  readonly version: number
}

export interface CounterStore {
  readonly read: (name: string) => VersionedCounter
  /** Whether `before` was still what is kept, and is replaced. Resolves when it is durable. */
  readonly compareAndSwap: (
    name: string,
    before: VersionedCounter,
    value: number,
  ) => Promise<boolean>
  /** Names with that prefix, and their numbers, NaN as above. */
  readonly list: (prefix: string) => readonly (readonly [string, number])[]
  readonly close: () => Promise<void>
}

/** Resolves to whether the counter is at least `value`; each failed try is another's change. */
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
  /** The key's quota, as the asking worker knows it. */
  readonly limit: number
  readonly want: number
  /** How many a waiting check needs, at most `want`; fewer are of no use to it. */
  readonly need: number
  /** Called with units granted after the lease had failed for its caller. */
  readonly onLate?: (granted: number) => void
}

export interface LeaseGrant {
  readonly granted: number
  readonly remaining: number
}

/** Where leases come from: LMDB on one machine, another store for many. */
export interface QuotaLedger {
  readonly lease: (request: LeaseRequest) => Promise<LeaseGrant>
  /**
   * The units must be out of the worker's reach before. A `retryable` error means that nothing was
   * given back; after any other error they may have been.
   */
  readonly returnUnits: (keyId: string, month: Month, units: number) => Promise<void>
  /** Counts units spent without a lease, above the limit if need be. */
  readonly charge: (keyId: string, month: Month, units: number) => Promise<void>
  /** Units taken in that month, by key id; leased ones count as taken. */
  readonly usage: (month: Month) => Promise<ReadonlyMap<string, number>>
  readonly down: () => boolean
  readonly close: () => Promise<void>
}

/**
 * The units of a lease where `taken` are gone: `want`, but at most one part in `leaseShare` of the
 * rest, or what is needed at once. So every worker gets some of the last units.
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

/** Other workers are as quick, but each failed try means that one of them succeeded. */
const triesMax = 1000

/** A ledger on counters, named `2026-08 <key id>`. */
export function createQuotaLedger(counters: CounterStore): QuotaLedger {
  /** Returns what it was, and what was added. */
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
      `The quota counter ${name} changed ${triesMax} times while it was to be changed.`,
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
