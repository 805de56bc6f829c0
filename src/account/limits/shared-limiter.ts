// Hot path: `admit` and `spend`. No allocation, throw, closure or clock there.
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
import type { Allowance, Share } from './allowance.ts'
import { balanceWords } from './local-balance.ts'
import type { Flow } from './shared-bucket.ts'
import { remainingAt, secondsOf } from './ratelimit-values.ts'
import type { BaseLimiter, Limiter, LimiterOptions } from './limiter.ts'
import { type AdmitResult, admitResults, createLimiter, ratesFull } from './limiter.ts'
import type { Month } from './quota-period.ts'
import { type Spent, spendResults } from './quota.ts'
import { rateRemaining, rateResetMs, rateRetryMs } from './rate.ts'
import { type ShareBook, newShare, shareAhead } from './shared-rate.ts'
import { spendLater, spendShare, tickShares } from './shared-rate.ts'

export interface SharedOptions extends LimiterOptions {
  readonly flow: Flow
  readonly policy: 'serve' | 'refuse'
}

interface Held {
  readonly options: SharedOptions
  readonly base: BaseLimiter
  readonly book: ShareBook
  /** Keys that owe units. */
  readonly owing: Set<Allowance>
  /** The store was away when somebody needed it last; and when it was seen to be back. */
  away: boolean
  backMs: number
  full: boolean
}

/** Finds the two slots of a key at its first request. */
function place({ options, book }: Held, key: Allowance): Share | undefined {
  const { rate } = key.limits
  if (rate === undefined) return undefined
  const index = options.rates.slotOf(key.keyId, rate)
  const localIndex = options.rates.slotOf(`${key.keyId} alone`, rate)
  if (index < 0 || localIndex < 0) return undefined
  key.slot = localIndex
  key.share = newShare(key, index, localIndex)
  book.active.add(key)
  return key.share
}

/** A failure is believed for a while (quota-lease.ts), but not once the store has come back since. */
function isBack(held: Held, key: Allowance): boolean {
  const { flow, now } = held.options
  if (flow.down()) {
    held.away = true
    return false
  }
  if (held.away) held.backMs = now()
  held.away = false
  if (key.unavailableMs - quotaRecheckMs >= held.backMs) return false
  key.unavailableMs = 0
  return true
}

/** Whether somebody has just tried the store in vain; else it is this worker that has no room. */
function isAway({ options }: Held, key: Allowance): boolean {
  return options.flow.down() || options.now() < key.unavailableMs
}

/**
 * The store is away: what the worker last knew to be left is served, and owed, by the month that a
 * lease would be of (quota.ts has just entered it).
 */
function overdraw(held: Held, key: Allowance, units: number): boolean {
  if (key.owedMonth !== key.month) {
    settle(held, key)
    key.owedMonth = key.month
  }
  if (key.owed + units > restOf(key)) return false
  key.owed += units
  held.owing.add(key)
  return true
}

/** What was left of the month when it was asked last; the whole quota where it was not. */
function restOf(key: Allowance): number {
  return key.exhaustedMs > 0 ? key.known : key.quota
}

/**
 * The ledger is to count what is owed, as soon as it can. Until it has been asked again that much
 * less is left, or each coming and going of the store would serve the same rest once more.
 */
function settle({ base, owing }: Held, key: Allowance): void {
  if (key.month === key.owedMonth && key.owed > 0) {
    key.known = Math.max(0, restOf(key) - key.owed)
    // Asked, in effect, and long ago: nothing is refused by it while the store is there.
    if (key.exhaustedMs === 0) key.exhaustedMs = 1
  }
  base.charge(key.keyId, key.owedMonth as Month, key.owed)
  owing.delete(key)
  key.owed = 0
}

function pay(held: Held): void {
  if (held.options.flow.down()) return
  for (const key of held.owing) settle(held, key)
}

/** Whatever a request was granted by: of its month, what is owed is owed no more, before all else. */
function refund({ base }: Held, key: Allowance, spent: Spent): void {
  const unowed = spent.month === key.owedMonth ? Math.min(key.owed, spent.units) : 0
  key.owed -= unowed
  base.refund(key, { ...spent, units: spent.units - unowed })
}

function writeShare({ book }: Held, key: Allowance, nowMs: number, out: Float64Array): void {
  const { share } = key
  if (share === undefined) return
  const { pace } = share
  const ahead = shareAhead(book, share, nowMs)
  out[remainingAt.rate] = rateRemaining(ahead, pace)
  out[remainingAt.rateReset] = secondsOf(rateResetMs(ahead, pace))
}

function sayFull(held: Held): void {
  if (!held.full) held.options.onTrouble(ratesFull(held.options.rates))
  held.full = true
}

function open(options: SharedOptions): Held {
  const { flow, policy, machineOffsetMs, now, onTrouble, onRecovery, rates } = options
  const book: ShareBook = {
    flow,
    memory: balanceWords(rates.words),
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
  { options, book }: Held,
  key: Allowance,
  requests: number,
  callback: (result: AdmitResult) => void,
): Promise<void> {
  const { share } = key
  try {
    const { unavailable } = admitResults
    callback(share === undefined ? unavailable : await spendLater(book, key, share, requests))
  } catch (error) {
    options.onTrouble(error)
  }
}

/** The limiter of a worker where many machines share limits. */
export function createSharedLimiter(options: SharedOptions): Limiter {
  const { policy } = options
  const held = open(options)
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
    admit: (key, requests, nowMs) => {
      if (key.pace === undefined) return admitResults.granted
      const share = key.share ?? place(held, key)
      if (share !== undefined) return spendShare(book, key, share, requests, nowMs)
      sayFull(held)
      return admitResults.unavailable
    },
    admitLater: (key, requests, callback) => {
      void admitLater(held, key, requests, callback)
    },
    spend: (key, units, arrivedMs) => {
      let result = base.spend(key, units, arrivedMs)
      if (result !== spendResults.unavailable || closed) return result
      if (isBack(held, key)) result = base.spend(key, units, arrivedMs)
      if (result !== spendResults.unavailable || policy === 'refuse') return result
      if (!isAway(held, key)) return result
      return overdraw(held, key, units) ? spendResults.granted : spendResults.exceeded
    },
    refund: (key, spent) => refund(held, key, spent),
    remaining: (key, nowMs, out) => {
      base.remaining(key, nowMs, out)
      writeShare(held, key, nowMs, out)
    },
    retryMs: (key, result, nowMs, requests) => {
      const { share } = key
      if (result !== 'rate_exceeded') return base.retryMs(key, result, nowMs, requests)
      if (share === undefined) return quotaRecheckMs
      return rateRetryMs(shareAhead(book, share, nowMs), share.pace, requests)
    },
    tick: () => {
      base.tick()
      tickShares(book)
      pay(held)
    },
    close: async () => {
      closed = true
      // Debts that a store does not take in time are forgotten, as by a death.
      pay(held)
      await base.close()
    },
  }
}
