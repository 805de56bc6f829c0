// A worker's leases: fetching them from the ledger in the background, taking them in, giving back
// what is not spent. When one is needed and what it is spent on is quota.ts.
//
// Invariants: units are in a key's `left` only after the ledger has them durably, and leave it
// before they are given back; units of one month are never in `left` in another. `left`, what is
// under way and what waits to be given back are together at most one lease of `size` units (or what
// one batch needs), and what was refunded meanwhile. What a ledger that is out of reach was not told
// is told when it is back: only a death loses units, or an answer that nobody hears.

import { leaseAheadMs, leaseIdleMs, leaseShare, leaseUnitsMax } from '../../base/limits.ts'
import { leaseUnitsMin, quotaRecheckMs, quotaWaitMs } from '../../base/limits.ts'
import type { Allowance } from './allowance.ts'
import { IpriskError } from '../../base/coded-error.ts'
import type { LeaseGrant, QuotaLedger } from './quota-ledger.ts'
import type { Month } from './quota-period.ts'
import { type Postings, createPostings } from './ledger-outbox.ts'

export interface LeaseOptions {
  readonly ledger: QuotaLedger
  /** Milliseconds like `performance.now()`. */
  readonly now: () => number
  /** Called for each failure of the ledger, and for the first success after one. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

/** What a worker knows besides its keys. One object, changed in place. */
export interface LeaseBook {
  readonly options: LeaseOptions
  /** Keys that have units or a lease under way. */
  readonly active: Set<Allowance>
  /** Work of the ledger that has not ended. */
  readonly underWay: Set<Promise<void>>
  /** What goes back, and what was granted without a lease. */
  readonly postings: Postings
  month: Month
  monthEndsMs: number
  waitingCount: number
  troubled: boolean
  closed: boolean
}

/** A book of a worker that begins in `month`, which ends at `monthEndsMs`. */
export function openBook(options: LeaseOptions, month: Month, monthEndsMs: number): LeaseBook {
  const { ledger } = options
  const book: LeaseBook = {
    options,
    active: new Set(),
    underWay: new Set(),
    postings: createPostings({
      post: (keyId, month, by) =>
        by < 0 ? ledger.giveBack(keyId, month, -by) : ledger.charge(keyId, month, by),
      down: ledger.down,
      follow: (work) => follow(book, work),
    }),
    month,
    monthEndsMs,
    waitingCount: 0,
    troubled: false,
    closed: false,
  }
  return book
}

async function followed(book: LeaseBook, work: Promise<void>): Promise<void> {
  const { onTrouble, onRecovery } = book.options
  try {
    await work
    if (book.troubled) onRecovery()
    book.troubled = false
  } catch (error) {
    // It has answered.
    if (!(error instanceof IpriskError) || error.code !== 'store_lost_units') book.troubled = true
    onTrouble(error)
  }
}

function follow(book: LeaseBook, work: Promise<void>): void {
  const done = followed(book, work).finally(() => book.underWay.delete(done))
  book.underWay.add(done)
}

/** Has the ledger count units no longer that the key has taken of a month. */
export function giveBack(book: LeaseBook, key: Allowance, month: number, units: number): void {
  book.postings.add(key.keyId, month as Month, -units)
  book.postings.send()
}

/** Gives back what the key holds; the ledger has that much more left. */
export function dropLease(book: LeaseBook, key: Allowance): void {
  const units = key.left
  key.left = 0
  key.known += units
  key.leftThen = 0
  key.low = -1
  giveBack(book, key, key.month, units)
}

/** Calls back everybody who waits for units of the key; they ask again. */
export function wake(book: LeaseBook, key: Allowance): void {
  const callbacks = key.waiting
  if (callbacks.length === 0) return
  key.waiting = []
  book.waitingCount -= callbacks.length
  for (const callback of callbacks) callback()
}

/** What the key spent in a second since its last lease; at most 8 times, at least half as much. */
function nextSize(key: Allowance, nowMs: number): number {
  const spent = key.leftThen - key.left
  const pace = (spent / Math.max(1, nowMs - key.leasedMs)) * leaseAheadMs
  const size = Math.min(Math.max(pace, key.size / 2), key.size * 8)
  return Math.ceil(Math.min(Math.max(size, leaseUnitsMin), leaseUnitsMax))
}

/** Fetches a lease in the background; `need` units are waited for. None may be under way. */
export function fetchLease(book: LeaseBook, key: Allowance, need: number): void {
  const nowMs = book.options.now()
  key.size = nextSize(key, nowMs)
  key.askedMs = nowMs
  key.low = -1
  book.active.add(key)
  follow(book, fetch(book, key, Math.max(0, need - key.left)))
}

async function fetch(book: LeaseBook, key: Allowance, need: number): Promise<void> {
  const { ledger, now } = book.options
  const { keyId } = key
  const asked = { month: book.month, limit: key.quota }
  const want = Math.max(key.size - key.left, need)
  try {
    const late = (granted: number): void => giveBack(book, key, asked.month, granted)
    const grant = await ledger.lease({ keyId, ...asked, want, need, late })
    key.askedMs = -1
    key.unavailableMs = 0
    if (book.closed || asked.month !== key.month || asked.limit !== key.quota) {
      // The month or the limit changed meanwhile: these units are of another count.
      giveBack(book, key, asked.month, grant.granted)
    } else {
      take(key, grant, now())
    }
  } catch (error) {
    key.askedMs = -1
    key.unavailableMs = now() + quotaRecheckMs
    throw error
  } finally {
    wake(book, key)
  }
}

/**
 * The next lease would be cut short. From here on nothing is fetched ahead of need and idle units
 * go back soon: another worker may be refusing what this one holds and nobody asks it for.
 */
function nearsEnd(key: Allowance): boolean {
  return key.known < key.size * leaseShare
}

/** Below how many units the next lease is fetched; -1: not ahead of need. */
function lowOf(key: Allowance): number {
  return nearsEnd(key) ? -1 : Math.ceil(key.size / 2)
}

function take(key: Allowance, grant: LeaseGrant, nowMs: number): void {
  key.left += grant.granted
  key.leftThen = key.left
  key.leasedMs = nowMs
  key.known = grant.remaining
  key.exhaustedMs = nowMs + quotaRecheckMs
  key.low = lowOf(key)
  key.idleLeft = key.left
  key.idleMs = nowMs
}

/** A lease of the key failed, and asking for it once more is worth it. */
function isOwed(book: LeaseBook, key: Allowance, nowMs: number): boolean {
  if (key.unavailableMs === 0 || nowMs < key.unavailableMs || book.options.ledger.down())
    return false
  return key.month === book.month && key.left < Math.min(key.size, key.quota)
}

/** What a tick does for one active key. */
export function lookAfter(book: LeaseBook, key: Allowance, nowMs: number): void {
  if (key.askedMs >= 0) {
    // It may still come, and is then taken; nobody waits for it any longer.
    if (nowMs - key.askedMs < quotaWaitMs) return
    key.unavailableMs = nowMs + quotaRecheckMs
    wake(book, key)
    return
  }
  // After a failure nothing was fetched ahead; from here on it is again.
  if (key.low < 0 && nowMs >= key.unavailableMs) key.low = lowOf(key)
  // Until the ledger answers again somebody has to ask it, though no request comes.
  if (book.troubled && book.underWay.size === 0 && isOwed(book, key, nowMs)) {
    fetchLease(book, key, 0)
    return
  }
  if (key.left !== key.idleLeft) {
    key.idleLeft = key.left
    key.idleMs = nowMs
    return
  }
  const patience = nearsEnd(key) ? quotaRecheckMs : leaseIdleMs
  if (nowMs - key.idleMs < patience) return
  // Who knows when there is another one.
  if (book.options.ledger.down()) return
  dropLease(book, key)
  book.active.delete(key)
}
