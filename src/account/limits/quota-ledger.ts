// The ledger of quotas: how many units of a month each key's workers have taken. Units are taken
// before they are spent, in leases, and what was not spent is given back. Who holds a lease is not
// recorded: a worker that dies takes at most its lease with it, and nobody else's.
//
// Invariants: a counter never passes the limit that its taker stated; nothing is ever set back to
// zero or removed, whatever the clock says, so that a month that comes twice (a clock set back)
// goes on where it was; `lease` resolves when the units are safe on the disk.

import { assert } from '../../base/assert.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { leaseShare } from '../../base/limits.ts'
import { type Month, formatMonth } from './quota-period.ts'

/** A number, and the version of it that `replace` compares; both 0 where there is none. */
export interface VersionedCounter {
  /** NaN if the stored value is not a count. */
  readonly value: number
  readonly version: number
}

/** Numbers by name that many processes change: what a ledger needs of a store. */
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

export interface LeaseRequest {
  readonly keyId: string
  readonly month: Month
  /** The key's quota, as the asking worker knows it. */
  readonly limit: number
  /** How many would be good. */
  readonly want: number
  /** How many a waiting check needs, at most `want`; fewer are of no use to it. */
  readonly need: number
  /** Hears of units that were granted after the lease had failed for its asker. */
  readonly onLate?: (granted: number) => void
}

export interface LeaseGrant {
  readonly granted: number
  /** What is left for others, and for the next lease. */
  readonly remaining: number
}

/** Where leases come from: LMDB on one machine, another store for many. */
export interface QuotaLedger {
  readonly lease: (request: LeaseRequest) => Promise<LeaseGrant>
  /**
   * Gives back units of a lease. They must be out of the worker's reach before. Where it fails with
   * a `retryable` error nothing was given back; with another one nobody knows.
   */
  readonly returnUnits: (keyId: string, month: Month, units: number) => Promise<void>
  /** Counts units that were spent without a lease, above the limit if need be. */
  readonly charge: (keyId: string, month: Month, units: number) => Promise<void>
  /** Units taken in that month, by key id; leased ones count as taken. */
  readonly usage: (month: Month) => Promise<ReadonlyMap<string, number>>
  /** It is out of reach, and known to be. */
  readonly down: () => boolean
  readonly close: () => Promise<void>
}

/**
 * How many units a lease gets where `taken` are gone: what is wanted, but at most one part in
 * `leaseShare` of the rest, or what is needed at once. So leases shrink towards the end of a quota
 * and every worker gets some of the last ones.
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

/** What was spent is unknown, so nothing more is granted. */
function unreadableCounter(name: string): IpriskError {
  const [month = '', keyId = ''] = name.split(' ')
  return new IpriskError({
    code: 'counter_unreadable',
    message:
      `The quota counter of key ${keyId} for ${month} is not a whole number, so the key gets no quota. ` +
      'Restore it from a backup with "iprisk state restore FILE".',
    fault: 'environment',
  })
}

/** A ledger on counters, named `2026-08 <key id>`. */
export function createQuotaLedger(counters: CounterStore): QuotaLedger {
  /** Adds what `change` says of the value so far; what it was, and what was added. */
  async function add(
    name: string,
    change: (value: number) => number,
  ): Promise<{ readonly before: number; readonly added: number }> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const before = counters.read(name)
      if (Number.isNaN(before.value)) throw unreadableCounter(name)
      const added = change(before.value)
      const value = before.value + added
      assert(value >= 0, `The quota counter ${name} would fall below zero.`)
      if (added === 0 || (await counters.compareAndSwap(name, before, value))) {
        return { before: before.value, added }
      }
    }
    throw new IpriskError({
      code: 'quota_busy',
      message: `The quota counter ${name} changed ${triesMax} times while it was to be changed.`,
      fault: 'environment',
      retryable: true,
    })
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
