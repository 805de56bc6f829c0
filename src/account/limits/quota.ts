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
import { secondsOf } from './ratelimit-values.ts'
import type { LeaseBook, LeaseOptions } from './quota-lease.ts'
import { dropLease, fetchLease, giveBack, lookAfter, openBook, wake } from './quota-lease.ts'
import { type Month, monthOf, monthStart } from './quota-period.ts'
import { whenDone } from './ledger-outbox.ts'

export const spendResults = { granted: 0, exceeded: 1, unavailable: 2, pending: 3 } as const
export type SpendResult = (typeof spendResults)[keyof typeof spendResults]

const { granted, exceeded, unavailable, pending } = spendResults

export interface QuotaOptions extends LeaseOptions {
  /** Milliseconds since the epoch. */
  readonly wall: () => number
}

/** What `spend` has granted to a request. */
export interface Spent {
  readonly units: number
  /** What `spentMonth` said just after it. */
  readonly month: number
  readonly arrivedMs: number
}

export interface Quota {
  /** Takes units of this month: all of them or none. */
  readonly spend: (key: Allowance, units: number, arrivedMs: number) => SpendResult
  /** The month that units are spent of now; `noMonth` where nobody counts them. */
  readonly spentMonth: (key: Allowance) => number
  /** Gives back what was granted and came to nothing. */
  readonly refund: (key: Allowance, spent: Spent) => void
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
function enterMonth(book: LeaseBook, key: Allowance): void {
  dropLease(book, key)
  key.month = book.month
  key.known = 0
  key.exhaustedMs = 0
}

function turnTo(book: LeaseBook, month: Month): void {
  book.month = month
  for (const key of book.active) enterMonth(book, key)
}

/** A request has arrived after the month's end, and no tick has come since. */
function turnByArrival(book: LeaseBook): void {
  const next = (book.month + 1) as Month
  turnTo(book, next)
  book.monthEndsMs += monthStart(next + 1) - monthStart(next)
}

/** What `spend` does where units are lacking or the month is another. */
function spendCold(book: LeaseBook, key: Allowance, units: number, arrivedMs: number): SpendResult {
  if (book.closed) return unavailable
  if (arrivedMs >= book.monthEndsMs) turnByArrival(book)
  if (key.month !== book.month) enterMonth(book, key)
  if (units <= key.left) {
    key.left -= units
    return granted
  }
  if (units > key.quota) return exceeded
  const nowMs = book.options.now()
  if (nowMs < key.unavailableMs) return unavailable
  if (key.askedMs < 0) {
    if (nowMs < key.exhaustedMs && units > key.left + key.known) return exceeded
    if (book.waitingCount < quotaWaitingMax) fetchLease(book, key, units)
  }
  return book.waitingCount < quotaWaitingMax ? pending : unavailable
}

/** A quota that has changed since may be smaller than what it would be given. */
function refund(book: LeaseBook, key: Allowance, { units, month, arrivedMs }: Spent): void {
  if (month === noMonth || book.closed) return
  if (month !== book.month || month !== key.month || arrivedMs <= key.changedMs) {
    giveBack(book, key, month, units)
    return
  }
  key.left += units
  book.active.add(key)
}

function tick(book: LeaseBook, wallMs: number): void {
  const nowMs = book.options.now()
  const month = monthOf(wallMs)
  book.monthEndsMs = nowMs + monthStart(month + 1) - wallMs
  if (month !== book.month) turnTo(book, month)
  for (const key of book.active) lookAfter(book, key, nowMs)
  book.postings.send()
}

async function close(book: LeaseBook): Promise<void> {
  book.closed = true
  for (const key of book.active) {
    dropLease(book, key)
    wake(book, key)
  }
  // From a ledger that does not answer nothing is waited for: its units stay taken.
  const deadlineMs = performance.now() + leaseCloseMs
  for (let tries = 0; tries < closeTries; tries += 1) {
    book.postings.send()
    await whenDone(book.underWay, deadlineMs - performance.now())
  }
}

export function createQuota(options: QuotaOptions): Quota {
  const wallMs = options.wall()
  const month = monthOf(wallMs)
  const book = openBook(options, month, options.now() + monthStart(month + 1) - wallMs)
  return {
    spend: (key, units, arrivedMs) => {
      if (key.quota < 0) return granted
      const left = key.left - units
      if (left < 0 || key.month !== book.month || arrivedMs >= book.monthEndsMs) {
        return spendCold(book, key, units, arrivedMs)
      }
      key.left = left
      if (left < key.low) fetchLease(book, key, 0)
      return granted
    },
    spentMonth: (key) => (key.quota < 0 ? noMonth : key.month),
    refund: (key, spent) => refund(book, key, spent),
    charge: (keyId, month, units) => {
      book.postings.add(keyId, month, units)
      book.postings.send()
    },
    whenLeased: (key, callback) => {
      key.waiting.push(callback)
      book.waitingCount += 1
    },
    tick: () => tick(book, options.wall()),
    change: (key, before) => {
      if (key.quota < before) dropLease(book, key)
      key.exhaustedMs = 0
      key.changedMs = options.now()
    },
    month: () => book.month,
    secondsToReset: (nowMs) => secondsOf(Math.max(0, book.monthEndsMs - nowMs)),
    close: () => close(book),
  }
}
