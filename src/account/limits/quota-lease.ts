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
import { type LedgerOutbox, createLedgerOutbox } from './ledger-outbox.ts'

export interface LeaseOptions {
  readonly ledger: QuotaLedger
  /** Milliseconds like `performance.now()`. */
  readonly now: () => number
  /** Called for each failure of the ledger, and for the first success after one. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

/** What a worker knows besides its keys. One object, changed in place. */
export interface LeaseState {
  readonly options: LeaseOptions
  /** Keys that have units or a lease under way. */
  readonly active: Set<Allowance>
  /** Work of the ledger that has not ended. */
  readonly inFlight: Set<Promise<void>>
  /** What goes back, and what was granted without a lease. */
  readonly outbox: LedgerOutbox
  month: Month
  monthEndsMs: number
  waitingCount: number
  failing: boolean
  closed: boolean
}

/** A book of a worker that begins in `month`, which ends at `monthEndsMs`. */
export function createLeaseState(
  options: LeaseOptions,
  month: Month,
  monthEndsMs: number,
): LeaseState {
  const { ledger } = options
  const book: LeaseState = {
    options,
    active: new Set(),
    inFlight: new Set(),
    outbox: createLedgerOutbox({
      post: (keyId, month, by) =>
        by < 0 ? ledger.returnUnits(keyId, month, -by) : ledger.charge(keyId, month, by),
      down: ledger.down,
      follow: (work) => track(book, work),
    }),
    month,
    monthEndsMs,
    waitingCount: 0,
    failing: false,
    closed: false,
  }
  return book
}

async function reportOutcome(book: LeaseState, work: Promise<void>): Promise<void> {
  const { onTrouble, onRecovery } = book.options
  try {
    await work
    if (book.failing) onRecovery()
    book.failing = false
  } catch (error) {
    // It has answered.
    if (!(error instanceof IpriskError) || error.code !== 'store_lost_units') book.failing = true
    onTrouble(error)
  }
}

function track(book: LeaseState, work: Promise<void>): void {
  const done = reportOutcome(book, work).finally(() => book.inFlight.delete(done))
  book.inFlight.add(done)
}

/** Has the ledger count units no longer that the key has taken of a month. */
export function returnUnits(book: LeaseState, key: Allowance, month: number, units: number): void {
  book.outbox.add(key.keyId, month as Month, -units)
  book.outbox.flush()
}

/** Gives back what the key holds; the ledger has that much more left. */
export function returnLease(book: LeaseState, key: Allowance): void {
  const units = key.leasedUnits
  key.leasedUnits = 0
  key.ledgerRemaining += units
  key.leasedUnitsThen = 0
  key.leaseBelow = -1
  returnUnits(book, key, key.month, units)
}

/** Calls back everybody who waits for units of the key; they ask again. */
export function wakeWaiters(book: LeaseState, key: Allowance): void {
  const callbacks = key.waiters
  if (callbacks.length === 0) return
  key.waiters = []
  book.waitingCount -= callbacks.length
  for (const callback of callbacks) callback()
}

/** What the key spent in a second since its last lease; at most 8 times, at least half as much. */
function nextLeaseSize(key: Allowance, nowMs: number): number {
  const spent = key.leasedUnitsThen - key.leasedUnits
  const pace = (spent / Math.max(1, nowMs - key.leasedMs)) * leaseAheadMs
  const size = Math.min(Math.max(pace, key.leaseSize / 2), key.leaseSize * 8)
  return Math.ceil(Math.min(Math.max(size, leaseUnitsMin), leaseUnitsMax))
}

/** Fetches a lease in the background; `need` units are waited for. None may be under way. */
export function fetchLease(book: LeaseState, key: Allowance, need: number): void {
  const nowMs = book.options.now()
  key.leaseSize = nextLeaseSize(key, nowMs)
  key.leaseRequestedMs = nowMs
  key.leaseBelow = -1
  book.active.add(key)
  track(book, fetch(book, key, Math.max(0, need - key.leasedUnits)))
}

async function fetch(book: LeaseState, key: Allowance, need: number): Promise<void> {
  const { ledger, now } = book.options
  const { keyId } = key
  const asked = { month: book.month, limit: key.quota }
  const want = Math.max(key.leaseSize - key.leasedUnits, need)
  try {
    const onLate = (granted: number): void => returnUnits(book, key, asked.month, granted)
    const grant = await ledger.lease({ keyId, ...asked, want, need, onLate })
    key.leaseRequestedMs = -1
    key.unavailableUntilMs = 0
    if (book.closed || asked.month !== key.month || asked.limit !== key.quota) {
      // The month or the limit changed meanwhile: these units are of another count.
      returnUnits(book, key, asked.month, grant.granted)
    } else {
      applyGrant(key, grant, now())
    }
  } catch (error) {
    key.leaseRequestedMs = -1
    key.unavailableUntilMs = now() + quotaRecheckMs
    throw error
  } finally {
    wakeWaiters(book, key)
  }
}

/**
 * The next lease would be cut short. From here on nothing is fetched ahead of need and idle units
 * go back soon: another worker may be refusing what this one holds and nobody asks it for.
 */
function nearQuotaEnd(key: Allowance): boolean {
  return key.ledgerRemaining < key.leaseSize * leaseShare
}

/** Below how many units the next lease is fetched; -1: not ahead of need. */
function refetchThreshold(key: Allowance): number {
  return nearQuotaEnd(key) ? -1 : Math.ceil(key.leaseSize / 2)
}

function applyGrant(key: Allowance, grant: LeaseGrant, nowMs: number): void {
  key.leasedUnits += grant.granted
  key.leasedUnitsThen = key.leasedUnits
  key.leasedMs = nowMs
  key.ledgerRemaining = grant.remaining
  key.exhaustedUntilMs = nowMs + quotaRecheckMs
  key.leaseBelow = refetchThreshold(key)
  key.idleUnits = key.leasedUnits
  key.idleSinceMs = nowMs
}

/** A lease of the key failed, and asking for it once more is worth it. */
function shouldRetryLease(book: LeaseState, key: Allowance, nowMs: number): boolean {
  if (key.unavailableUntilMs === 0 || nowMs < key.unavailableUntilMs || book.options.ledger.down())
    return false
  return key.month === book.month && key.leasedUnits < Math.min(key.leaseSize, key.quota)
}

/** What a tick does for one active key. */
export function maintainLease(book: LeaseState, key: Allowance, nowMs: number): void {
  if (key.leaseRequestedMs >= 0) {
    // It may still come, and is then taken; nobody waits for it any longer.
    if (nowMs - key.leaseRequestedMs < quotaWaitMs) return
    key.unavailableUntilMs = nowMs + quotaRecheckMs
    wakeWaiters(book, key)
    return
  }
  // After a failure nothing was fetched ahead; from here on it is again.
  if (key.leaseBelow < 0 && nowMs >= key.unavailableUntilMs) key.leaseBelow = refetchThreshold(key)
  // Until the ledger answers again somebody has to ask it, though no request comes.
  if (book.failing && book.inFlight.size === 0 && shouldRetryLease(book, key, nowMs)) {
    fetchLease(book, key, 0)
    return
  }
  if (key.leasedUnits !== key.idleUnits) {
    key.idleUnits = key.leasedUnits
    key.idleSinceMs = nowMs
    return
  }
  const patience = nearQuotaEnd(key) ? quotaRecheckMs : leaseIdleMs
  if (nowMs - key.idleSinceMs < patience) return
  // Who knows when there is another one.
  if (book.options.ledger.down()) return
  returnLease(book, key)
  book.active.delete(key)
}
