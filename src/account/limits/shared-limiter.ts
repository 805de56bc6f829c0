// Hot path: `spendRate` and `spendQuota`. No allocation, throw, closure or clock there.
//
// The limiter of many machines: rates are shares of one bucket in the store (shared-rate.ts), quotas are
// leases from its ledger (quota.ts), as on one machine. It is the limiter of one machine with other
// rates, and with an answer for the time in which the store is away.
//
// Policy "refuse": what is leased is spent, then requests are `unavailable`. No quota is ever
// over-granted. Policy "serve": each worker goes on to what was left of the month when it asked last
// (the whole quota where it has not asked), counts that as owed, and has it charged when the store
// is back, in the month in which it was spent. What a worker owes when it dies is forgotten, and so
// is what was on its way to be charged when the store went away once more: nothing is charged twice.
// What of that comes to nothing afterwards is given back all the same, for nobody knows.

import { quotaRecheckMs } from '../../base/limits.ts'
import type { Allowance, SharedRate } from './allowance.ts'
import { balanceWords } from './local-balance.ts'
import type { SharedBuckets } from './shared-bucket.ts'
import { remainingIndex, ceilSeconds } from './ratelimit-values.ts'
import type { BaseLimiter, Limiter, LimiterOptions } from './limiter.ts'
import { type RateResult, rateResults, createLimiter, rateFileFullError } from './limiter.ts'
import type { Month } from './quota-period.ts'
import { type SpentUnits, quotaResults } from './quota.ts'
import { rateRemaining, rateResetMs, rateRetryMs } from './rate.ts'
import { type SharedRateState, newSharedRate, sharedAheadTicks } from './shared-rate.ts'
import { spendSharedBatch, spendSharedRate, tickSharedRates } from './shared-rate.ts'

export interface SharedLimiterOptions extends LimiterOptions {
  readonly flow: SharedBuckets
  readonly policy: 'serve' | 'refuse'
}

interface SharedLimiterState {
  readonly options: SharedLimiterOptions
  readonly base: BaseLimiter
  readonly book: SharedRateState
  /** Keys that owe units. */
  readonly owing: Set<Allowance>
  /** The store was away when somebody needed it last; and when it was seen to be back. */
  away: boolean
  backMs: number
  full: boolean
}

/** Finds the two slots of a key at its first request. */
function assignSlots(
  { options, book }: SharedLimiterState,
  key: Allowance,
): SharedRate | undefined {
  const { rate } = key.limits
  if (rate === undefined) return undefined
  const index = options.rates.slotOf(key.keyId, rate)
  const localIndex = options.rates.slotOf(`${key.keyId} alone`, rate)
  if (index < 0 || localIndex < 0) return undefined
  key.slot = localIndex
  key.share = newSharedRate(key, index, localIndex)
  book.active.add(key)
  return key.share
}

/** A failure is believed for a while (quota-lease.ts), but not once the store has come back since. */
function storeIsBack(held: SharedLimiterState, key: Allowance): boolean {
  const { flow: buckets, now } = held.options
  if (buckets.down()) {
    held.away = true
    return false
  }
  if (held.away) held.backMs = now()
  held.away = false
  if (key.unavailableUntilMs - quotaRecheckMs >= held.backMs) return false
  key.unavailableUntilMs = 0
  return true
}

/** Whether somebody has just tried the store in vain; else it is this worker that has no room. */
function storeIsAway({ options }: SharedLimiterState, key: Allowance): boolean {
  return options.flow.down() || options.now() < key.unavailableUntilMs
}

/**
 * The store is away: what the worker last knew to be left is served, and owed, by the month that a
 * lease would be of (quota.ts has just entered it).
 */
function overdraw(held: SharedLimiterState, key: Allowance, units: number): boolean {
  if (key.debtMonth !== key.month) {
    chargeDebt(held, key)
    key.debtMonth = key.month
  }
  if (key.debtUnits + units > lastKnownRemaining(key)) return false
  key.debtUnits += units
  held.owing.add(key)
  return true
}

/** What was left of the month when it was asked last; the whole quota where it was not. */
function lastKnownRemaining(key: Allowance): number {
  return key.exhaustedUntilMs > 0 ? key.ledgerRemaining : key.quota
}

/**
 * The ledger is to count what is owed, as soon as it can. Until it has been asked again that much
 * less is left, or each coming and going of the store would serve the same rest once more.
 */
function chargeDebt({ base, owing }: SharedLimiterState, key: Allowance): void {
  if (key.month === key.debtMonth && key.debtUnits > 0) {
    key.ledgerRemaining = Math.max(0, lastKnownRemaining(key) - key.debtUnits)
    // Asked, in effect, and long ago: nothing is refused by it while the store is there.
    if (key.exhaustedUntilMs === 0) key.exhaustedUntilMs = 1
  }
  base.charge(key.keyId, key.debtMonth as Month, key.debtUnits)
  owing.delete(key)
  key.debtUnits = 0
}

function chargeAllDebts(held: SharedLimiterState): void {
  if (held.options.flow.down()) return
  for (const key of held.owing) chargeDebt(held, key)
}

/** Whatever a request was granted by: of its month, what is owed is owed no more, before all else. */
function refund({ base }: SharedLimiterState, key: Allowance, spent: SpentUnits): void {
  const unowed = spent.month === key.debtMonth ? Math.min(key.debtUnits, spent.units) : 0
  key.debtUnits -= unowed
  base.refund(key, { ...spent, units: spent.units - unowed })
}

function writeRateRemaining(
  { book }: SharedLimiterState,
  key: Allowance,
  nowMs: number,
  out: Float64Array,
): void {
  const { share } = key
  if (share === undefined) return
  const { pace } = share
  const ahead = sharedAheadTicks(book, share, nowMs)
  out[remainingIndex.rate] = rateRemaining(ahead, pace)
  out[remainingIndex.rateReset] = ceilSeconds(rateResetMs(ahead, pace))
}

function reportFullOnce(held: SharedLimiterState): void {
  if (!held.full) held.options.onTrouble(rateFileFullError(held.options.rates))
  held.full = true
}

function createState(options: SharedLimiterOptions): SharedLimiterState {
  const {
    flow: buckets,
    policy,
    machineOffsetMs,
    now,
    onTrouble,
    onRecovery,
    rates: rateFile,
  } = options
  const book: SharedRateState = {
    flow: buckets,
    memory: balanceWords(rateFile.words),
    policy,
    machineOffsetMs,
    now,
    clock: () => now() + machineOffsetMs,
    onTrouble,
    onRecovery,
    active: new Set(),
  }
  return {
    options,
    base: createLimiter(options),
    book,
    owing: new Set(),
    away: false,
    backMs: -1,
    full: false,
  }
}

/** What the caller does with the result is no reason for the process to end. */
async function admitLater(
  { options, book }: SharedLimiterState,
  key: Allowance,
  requests: number,
  callback: (result: RateResult) => void,
): Promise<void> {
  const { share } = key
  try {
    const { unavailable } = rateResults
    callback(share === undefined ? unavailable : await spendSharedBatch(book, key, share, requests))
  } catch (error) {
    options.onTrouble(error)
  }
}

/** The limiter of a worker where many machines share limits. */
export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { policy } = options
  const held = createState(options)
  const { base, book } = held
  let closed = false
  return {
    ...base,
    bind: (keyId, limits) => {
      const key = base.bind(keyId, limits)
      // Where the rate is another one by now, it has lost its slot.
      if (key.slot < 0) key.share = undefined
      return key
    },
    spendRate: (key, requests, nowMs) => {
      if (key.pace === undefined) return rateResults.granted
      const share = key.share ?? assignSlots(held, key)
      if (share !== undefined) return spendSharedRate(book, key, share, requests, nowMs)
      reportFullOnce(held)
      return rateResults.unavailable
    },
    spendRateLater: (key, requests, callback) => {
      void admitLater(held, key, requests, callback)
    },
    spendQuota: (key, units, arrivedMs) => {
      let result = base.spendQuota(key, units, arrivedMs)
      if (result !== quotaResults.unavailable || closed) return result
      if (storeIsBack(held, key)) result = base.spendQuota(key, units, arrivedMs)
      if (result !== quotaResults.unavailable || policy === 'refuse') return result
      if (!storeIsAway(held, key)) return result
      return overdraw(held, key, units) ? quotaResults.granted : quotaResults.exceeded
    },
    refund: (key, spent) => refund(held, key, spent),
    remaining: (key, nowMs, out) => {
      base.remaining(key, nowMs, out)
      writeRateRemaining(held, key, nowMs, out)
    },
    retryMs: (key, result, nowMs, requests) => {
      const { share } = key
      if (result !== 'rate_exceeded') return base.retryMs(key, result, nowMs, requests)
      if (share === undefined) return quotaRecheckMs
      return rateRetryMs(sharedAheadTicks(book, share, nowMs), share.pace, requests)
    },
    tick: () => {
      base.tick()
      tickSharedRates(book)
      chargeAllDebts(held)
    },
    close: async () => {
      closed = true
      // Debts that a store does not take in time are forgotten, as by a death.
      chargeAllDebts(held)
      await base.close()
    },
  }
}
