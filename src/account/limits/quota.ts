// Hot path: `spend` while the lease lasts. No allocation, throw, closure or clock there.
//
// A worker's side of the quotas: it leases units from the ledger ahead of need (quota-lease.ts) and spends
// them without asking anybody. Below half a lease it fetches the next one in the background; a lease
// is what the key spends in a second, at first `leaseUnitsMin`. Near a quota's end leases are fetched
// when needed alone, and what is idle of them goes back after `quotaRecheckMs`; what a worker has
// leased before and holds idle goes back after `leaseIdleMs`, and until then others may be refused.
// Without units and without knowing that the quota is exhausted, `spend` says `pending`: the caller
// keeps the request and is called back when the lease is there, about a millisecond later. That is
// the first request of a key in a worker, of a month, and of a second in which the quota is
// exhausted (units may have come back).
//
//   spend ─▶ left? ─yes─▶ granted      (left < low: lease in the background)
//              │no
//              ├─▶ asked less than `quotaRecheckMs` ago and too little was left ─▶ exceeded
//              ├─▶ the store failed less than `quotaRecheckMs` ago ─▶ unavailable
//              └─▶ lease, pending ─▶ callback ─▶ spend again
//
// A crash loses what is leased, under way and not given back yet: at most one lease (and what is just
// being given back). A store that is away for a while loses what was on its way when it went.
// A request counts for the month in which it arrived, or for the next one; its refund for the same
// one. It makes units of a lease where that still is of this month and quota, else the ledger gets
// them back. Instants are of `performance.now()`; the time of day, which may jump, is read by `tick`
// alone and says only which month it is.

import { leaseCloseMs, quotaWaitingMax } from '../../base/limits.ts'
import { type Allowance, noMonth } from './allowance.ts'
import { ceilSeconds } from './ratelimit-values.ts'
import type { LeaseState, LeaseOptions } from './quota-lease.ts'
import {
  returnLease,
  fetchLease,
  returnUnits,
  maintainLease,
  createLeaseState,
  wakeWaiters,
} from './quota-lease.ts'
import { type Month, monthOf, monthStart } from './quota-period.ts'
import { awaitInFlight } from './ledger-outbox.ts'

export const quotaResults = { granted: 0, exceeded: 1, unavailable: 2, pending: 3 } as const
export type QuotaResult = (typeof quotaResults)[keyof typeof quotaResults]

const { granted, exceeded, unavailable, pending } = quotaResults

export interface QuotaOptions extends LeaseOptions {
  /** Milliseconds since the epoch. */
  readonly wall: () => number
}

/** What `spend` has granted to a request. */
export interface SpentUnits {
  readonly units: number
  /** What `spentMonth` said just after it. */
  readonly month: number
  readonly arrivedMs: number
}

export interface Quota {
  /** Takes units of this month: all of them or none. */
  readonly spend: (key: Allowance, units: number, arrivedMs: number) => QuotaResult
  /** The month that units are spent of now; `noMonth` where nobody counts them. */
  readonly spentMonth: (key: Allowance) => number
  /** Gives back what was granted and came to nothing. */
  readonly refund: (key: Allowance, spent: SpentUnits) => void
  /** Has the ledger count units that were granted without it, some time soon. */
  readonly charge: (keyId: string, month: Month, units: number) => void
  /** Calls back once, after `pending`, when `spend` can say more. */
  readonly whenLeased: (key: Allowance, callback: () => void) => void
  /** Follows the clock, gives up on what takes too long, gives back what is idle. */
  readonly tick: () => void
  /** The key's limit has changed from `before`; -1 stands for none. */
  readonly change: (key: Allowance, before: number) => void
  readonly month: () => Month
  /** Whole seconds from `nowMs` to the end of the month: a number that takes no room on the heap. */
  readonly secondsToReset: (nowMs: number) => number
  /** Gives back every lease and waits for the ledger, for a while. Grants nothing afterwards. */
  readonly close: () => Promise<void>
}

/** What was refused once is tried once more. */
const closeTries = 2

/** The key begins the worker's month: what it holds of another one goes back. */
function enterMonth(book: LeaseState, key: Allowance): void {
  returnLease(book, key)
  key.month = book.month
  key.ledgerRemaining = 0
  key.exhaustedUntilMs = 0
}

function switchMonth(book: LeaseState, month: Month): void {
  book.month = month
  for (const key of book.active) enterMonth(book, key)
}

/** A request has arrived after the month's end, and no tick has come since. */
function switchMonthByArrival(book: LeaseState): void {
  const next = (book.month + 1) as Month
  switchMonth(book, next)
  book.monthEndsMs += monthStart(next + 1) - monthStart(next)
}

/** What `spend` does where units are lacking or the month is another. */
function spendSlowPath(
  book: LeaseState,
  key: Allowance,
  units: number,
  arrivedMs: number,
): QuotaResult {
  if (book.closed) return unavailable
  if (arrivedMs >= book.monthEndsMs) switchMonthByArrival(book)
  if (key.month !== book.month) enterMonth(book, key)
  if (units <= key.leasedUnits) {
    key.leasedUnits -= units
    return granted
  }
  if (units > key.quota) return exceeded
  const nowMs = book.options.now()
  if (nowMs < key.unavailableUntilMs) return unavailable
  if (key.leaseRequestedMs < 0) {
    if (nowMs < key.exhaustedUntilMs && units > key.leasedUnits + key.ledgerRemaining)
      return exceeded
    if (book.waitingCount < quotaWaitingMax) fetchLease(book, key, units)
  }
  return book.waitingCount < quotaWaitingMax ? pending : unavailable
}

/** A quota that has changed since may be smaller than what it would be given. */
function refund(book: LeaseState, key: Allowance, { units, month, arrivedMs }: SpentUnits): void {
  if (month === noMonth || book.closed) return
  if (month !== book.month || month !== key.month || arrivedMs <= key.quotaChangedMs) {
    returnUnits(book, key, month, units)
    return
  }
  key.leasedUnits += units
  book.active.add(key)
}

function tick(book: LeaseState, wallMs: number): void {
  const nowMs = book.options.now()
  const month = monthOf(wallMs)
  book.monthEndsMs = nowMs + monthStart(month + 1) - wallMs
  if (month !== book.month) switchMonth(book, month)
  for (const key of book.active) maintainLease(book, key, nowMs)
  book.outbox.flush()
}

async function close(book: LeaseState): Promise<void> {
  book.closed = true
  for (const key of book.active) {
    returnLease(book, key)
    wakeWaiters(book, key)
  }
  // From a ledger that does not answer nothing is waited for: its units stay taken.
  const deadlineMs = performance.now() + leaseCloseMs
  for (let tries = 0; tries < closeTries; tries += 1) {
    book.outbox.flush()
    await awaitInFlight(book.inFlight, deadlineMs - performance.now())
  }
}

export function createQuota(options: QuotaOptions): Quota {
  const wallMs = options.wall()
  const month = monthOf(wallMs)
  const book = createLeaseState(options, month, options.now() + monthStart(month + 1) - wallMs)
  return {
    spend: (key, units, arrivedMs) => {
      if (key.quota < 0) return granted
      const left = key.leasedUnits - units
      if (left < 0 || key.month !== book.month || arrivedMs >= book.monthEndsMs) {
        return spendSlowPath(book, key, units, arrivedMs)
      }
      key.leasedUnits = left
      if (left < key.leaseBelow) fetchLease(book, key, 0)
      return granted
    },
    spentMonth: (key) => (key.quota < 0 ? noMonth : key.month),
    refund: (key, spent) => refund(book, key, spent),
    charge: (keyId, month, units) => {
      book.outbox.add(keyId, month, units)
      book.outbox.flush()
    },
    whenLeased: (key, callback) => {
      key.waiters.push(callback)
      book.waitingCount += 1
    },
    tick: () => tick(book, options.wall()),
    change: (key, before) => {
      if (key.quota < before) returnLease(book, key)
      key.exhaustedUntilMs = 0
      key.quotaChangedMs = options.now()
    },
    month: () => book.month,
    secondsToReset: (nowMs) => ceilSeconds(Math.max(0, book.monthEndsMs - nowMs)),
    close: () => close(book),
  }
}
