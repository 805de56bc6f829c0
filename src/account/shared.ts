// Hot path: `admit` and `spend`. No allocation, throw, closure or clock there.
//
// The limiter of many machines: rates are shares of one bucket in the store (share.ts), quotas are
// leases from its ledger (quota.ts), as on one machine. It is the limiter of one machine with other
// rates, and with an answer for the time in which the store is away.
//
// Policy "refuse": what is leased is spent, then requests are `unavailable`. No quota is ever
// over-granted. Policy "serve": each worker goes on to what was left of the month when it asked last
// (the whole quota where it has not asked), counts that as owed, and has it charged when the store
// is back. What a worker owes when it dies is forgotten, and so is what was on its way to be charged
// when the store went away once more: nothing is charged twice.

import { quotaRecheckMs } from '../base/limits.ts'
import type { Allowance, Share } from './allowance.ts'
import { balanceWords } from './balance.ts'
import type { Flow } from './flow.ts'
import { remainingAt, secondsOf } from './header.ts'
import type { Limiter, LimiterOptions } from './limiter.ts'
import { admitResults, createLimiter, ratesFull } from './limiter.ts'
import { type Month, monthOf } from './period.ts'
import { spendResults } from './quota.ts'
import { rateRemaining, rateResetMs, rateRetryMs } from './rate.ts'
import type { ChargeableLedger } from './redis-quota.ts'
import { type ShareBook, newShare, shareAhead } from './share.ts'
import { spendShare, tickShares } from './share.ts'

export interface SharedOptions extends LimiterOptions {
  readonly ledger: ChargeableLedger
  readonly flow: Flow
  readonly policy: 'serve' | 'refuse'
}

interface Held {
  readonly options: SharedOptions
  readonly book: ShareBook
  /** Keys that owe units. */
  readonly owing: Set<Allowance>
  /** Charges that have not ended. */
  readonly charges: Set<Promise<void>>
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

/** A failure is believed for a while (lease.ts), but not once the store has come back since. */
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

/** The store is away: what the worker last knew to be left is served, and owed. */
function overdraw(held: Held, key: Allowance, units: number): boolean {
  const month = monthOf(held.options.wall())
  if (key.owedMonth !== month) {
    settle(held, key)
    key.owedMonth = month
  }
  const asked = key.month === month && key.exhaustedMs > 0
  if (key.owed + units > (asked ? key.known : key.quota)) return false
  key.owed += units
  held.owing.add(key)
  return true
}

/** Has the ledger count what is owed. */
function settle({ options, owing, charges }: Held, key: Allowance): void {
  const { owed } = key
  owing.delete(key)
  key.owed = 0
  if (owed === 0) return
  const charge = options.ledger
    .charge(key.keyId, key.owedMonth as Month, owed)
    .catch((error: unknown) => options.onTrouble(error))
    .finally(() => charges.delete(charge))
  charges.add(charge)
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

/** The limiter of a worker where many machines share limits. */
export function createSharedLimiter(options: SharedOptions): Limiter {
  const { flow, policy, machineOffsetMs, now, onTrouble, rates } = options
  const base = createLimiter(options)
  const memory = balanceWords(rates.words)
  const active = new Set<Allowance>()
  const clock = (): number => now() + machineOffsetMs
  const book: ShareBook = { flow, memory, policy, machineOffsetMs, now, clock, onTrouble, active }
  const held: Held = {
    options,
    book,
    owing: new Set(),
    charges: new Set(),
    away: false,
    backMs: -1,
    full: false,
  }
  let closed = false
  return {
    ...base,
    bind: (keyId, limits) => {
      const key = base.bind(keyId, limits)
      // Where the rate is another one by now, it has lost its slot.
      if (key.slot < 0) key.share = undefined
      return key
    },
    admit: (key, requests, arrivedMs) => {
      if (key.pace === undefined) return admitResults.granted
      const share = key.share ?? place(held, key)
      if (share !== undefined) return spendShare(book, key, share, requests, arrivedMs)
      sayFull(held)
      return admitResults.unavailable
    },
    spend: (key, units, arrivedMs) => {
      let result = base.spend(key, units, arrivedMs)
      if (result !== spendResults.unavailable || closed) return result
      if (isBack(held, key)) result = base.spend(key, units, arrivedMs)
      if (result !== spendResults.unavailable || policy === 'refuse') return result
      return overdraw(held, key, units) ? spendResults.granted : spendResults.exceeded
    },
    refund: (key, units, arrivedMs) => {
      const unowed = Math.min(key.owed, units)
      key.owed -= unowed
      if (units > unowed) base.refund(key, units - unowed, arrivedMs)
    },
    remaining: (key, arrivedMs, out) => {
      base.remaining(key, arrivedMs, out)
      writeShare(held, key, arrivedMs, out)
    },
    retryMs: (key, result, arrivedMs) => {
      const { share } = key
      if (result !== 'rate_exceeded') return base.retryMs(key, result, arrivedMs)
      if (share === undefined) return quotaRecheckMs
      return rateRetryMs(shareAhead(book, share, arrivedMs), share.pace)
    },
    tick: () => {
      base.tick()
      tickShares(book)
      if (!flow.down()) for (const key of held.owing) settle(held, key)
    },
    close: async () => {
      closed = true
      for (const key of held.owing) settle(held, key)
      await Promise.all(held.charges)
      await base.close()
    },
  }
}
