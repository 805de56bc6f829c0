// A worker's leases: this file fetches them from the ledger in the background, spends from them and
// gives back what is not spent. quota.ts decides when a request needs one. This file alone writes a
// `Lease`.
//
// Invariants: `units` grow only after the ledger has durably counted the new ones, and shrink
// before any are given back; units of one month are never spent in another. `units`, the lease
// under way and what waits to be given back are together at most one lease of `size` units (or what
// one batch needs), plus refunds. Units are lost only when the ledger's answer does not arrive.
// Every change of `units` is written to the lease file, so that another worker gives them back if
// this one dies (lease-file.ts).

import { leaseIdleMs, leaseShare, leaseUnitsMax } from '../../base/limits.ts'
import { leaseUnitsMin, quotaRecheckMs, quotaWaitMs } from '../../base/limits.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { type LeaseFile, noLeaseSlot } from './lease-file.ts'
import type { LeaseGrant, QuotaLedger } from './quota-ledger.ts'
import { type Month, monthOf, monthStart, noMonth } from './quota-period.ts'
import { type LedgerOutbox, createLedgerOutbox } from './ledger-outbox.ts'

/** A lease lasts this long at the pace of the last one: two leases a second for each busy key. */
const leaseAheadMs = 1000

function leaseRecord(keyId: string, quota: number) {
  return {
    keyId,
    /** Units a month; -1: no quota. */
    quota,
    /** -1: never. */
    quotaChangedMs: -1,
    /** The month of `units` and `ledgerRemaining`. */
    month: noMonth as number,
    units: 0,
    /** Where `units` stand in the lease file; `noLeaseSlot`: nowhere. */
    slot: noLeaseSlot as number,
    /** Below this many units another lease is fetched; -1: only when a request needs it. */
    refetchBelow: -1,
    /** What the ledger had left when it was asked last, and what has been given back since. */
    ledgerRemaining: 0,
    /** How many units the latest lease was to bring `units` to. */
    size: 0,
    /** `units` just after the latest lease, and when that was. */
    unitsAtGrant: 0,
    grantedMs: 0,
    /** When the lease that is under way was asked for; -1: none is. */
    requestedMs: -1,
    /** Until then the quota is taken to be exhausted; 0: the ledger has not been asked this month. */
    exhaustedUntilMs: 0,
    /** Until then the ledger is taken to be out of reach; 0: it answered last. */
    unavailableUntilMs: 0,
    /** `units` when a tick last found them changed, and when that was. */
    idleUnits: 0,
    idleSinceMs: 0,
    /** Called back when more can be said. */
    waiters: [] as (() => void)[],
  }
}

type LeaseRecord = ReturnType<typeof leaseRecord>

export type Lease = Readonly<LeaseRecord>

export const newLease: (keyId: string, quota: number) => Lease = leaseRecord

export interface LeaseOptions {
  readonly ledger: QuotaLedger
  readonly leaseFile: LeaseFile
  readonly now: () => number
  /** Called for each failure of the ledger, and for the first success after one. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

/** Changed in place here and in quota.ts. */
export interface LeaseState {
  readonly options: LeaseOptions
  readonly leaseWords: Int32Array
  /** Leases that have units, or more of them under way. */
  readonly active: Set<Lease>
  readonly inFlight: Set<Promise<void>>
  /** Units to give back, and units to charge that were granted without a lease. */
  readonly outbox: LedgerOutbox
  month: Month
  monthEndsMs: number
  waitingCount: number
  failing: boolean
  closed: boolean
}

export function createLeaseState(
  options: LeaseOptions & { readonly wall: () => number },
): LeaseState {
  const { ledger } = options
  const wallMs = options.wall()
  const month = monthOf(wallMs)
  const state: LeaseState = {
    options,
    leaseWords: options.leaseFile.words,
    active: new Set(),
    inFlight: new Set(),
    outbox: createLedgerOutbox({
      post: (keyId, month, by) =>
        by < 0 ? ledger.returnUnits(keyId, month, -by) : ledger.charge(keyId, month, by),
      down: ledger.down,
      follow: (work) => track(state, work),
    }),
    month,
    monthEndsMs: options.now() + monthStart(month + 1) - wallMs,
    waitingCount: 0,
    failing: false,
    closed: false,
  }
  return state
}

async function reportOutcome(state: LeaseState, work: Promise<void>): Promise<void> {
  const { onTrouble, onRecovery } = state.options
  try {
    await work
    if (state.failing) onRecovery()
    state.failing = false
  } catch (error) {
    // With `store_lost_units` the ledger has answered.
    if (!(error instanceof IpriskError) || error.code !== 'store_lost_units') state.failing = true
    onTrouble(error)
  }
}

function track(state: LeaseState, work: Promise<void>): void {
  const done = reportOutcome(state, work).finally(() => state.inFlight.delete(done))
  state.inFlight.add(done)
}

export function chargeUnits(state: LeaseState, keyId: string, month: number, units: number): void {
  state.outbox.add(keyId, month as Month, units)
  state.outbox.flush()
}

export function returnUnits(state: LeaseState, keyId: string, month: number, units: number): void {
  chargeUnits(state, keyId, month, -units)
}

/** Gives back what the key holds; the ledger has that much more left. */
export function returnLease(state: LeaseState, lease: LeaseRecord): void {
  const { units } = lease
  lease.units = 0
  state.options.leaseFile.free(lease.slot)
  lease.slot = noLeaseSlot
  lease.ledgerRemaining += units
  lease.unitsAtGrant = 0
  lease.refetchBelow = -1
  returnUnits(state, lease.keyId, lease.month, units)
}

/** The key begins the worker's month: what it holds of another one goes back. */
export function enterMonth(state: LeaseState, lease: LeaseRecord): void {
  returnLease(state, lease)
  lease.month = state.month
  lease.ledgerRemaining = 0
  lease.exhaustedUntilMs = 0
}

export function changeQuota(state: LeaseState, lease: LeaseRecord, quota: number): void {
  if (quota < lease.quota) returnLease(state, lease)
  lease.quota = quota
  lease.exhaustedUntilMs = 0
  lease.quotaChangedMs = state.options.now()
}

/** The caller has seen that the lease holds the units. */
export function spendUnits(state: LeaseState, lease: LeaseRecord, units: number): void {
  const left = lease.units - units
  lease.units = left
  state.leaseWords[lease.slot] = left
}

function addUnits(state: LeaseState, lease: LeaseRecord, units: number): void {
  const { leaseFile } = state.options
  lease.units += units
  if (lease.slot === noLeaseSlot) lease.slot = leaseFile.claim(lease.keyId, lease.month)
  state.leaseWords[lease.slot] = lease.units
}

export function refundUnits(state: LeaseState, lease: LeaseRecord, units: number): void {
  addUnits(state, lease, units)
  state.active.add(lease)
}

/** What was left of the month when the ledger was asked last; the whole quota before that. */
export function lastKnownRemaining({ exhaustedUntilMs, ledgerRemaining, quota }: Lease): number {
  return exhaustedUntilMs > 0 ? ledgerRemaining : quota
}

/** Takes `units` for what the ledger has left, though it was not asked for a lease. */
export function assumeRemaining(lease: LeaseRecord, units: number): void {
  lease.ledgerRemaining = units
  // As if it had been asked long ago: while it is there, it is asked before a request is refused.
  if (lease.exhaustedUntilMs === 0) lease.exhaustedUntilMs = 1
}

export function clearUnavailable(lease: LeaseRecord): void {
  lease.unavailableUntilMs = 0
}

export function addWaiter(state: LeaseState, lease: LeaseRecord, callback: () => void): void {
  lease.waiters.push(callback)
  state.waitingCount += 1
}

export function wakeWaiters(state: LeaseState, lease: LeaseRecord): void {
  const callbacks = lease.waiters
  if (callbacks.length === 0) return
  lease.waiters = []
  state.waitingCount -= callbacks.length
  for (const callback of callbacks) callback()
}

/** What the key spends in a second, as since its last lease; half to 8 times the size of that. */
function nextLeaseSize(lease: LeaseRecord, nowMs: number): number {
  const spent = lease.unitsAtGrant - lease.units
  const pace = (spent / Math.max(1, nowMs - lease.grantedMs)) * leaseAheadMs
  const size = Math.min(Math.max(pace, lease.size / 2), lease.size * 8)
  return Math.ceil(Math.min(Math.max(size, leaseUnitsMin), leaseUnitsMax))
}

/** Fetches a lease in the background; requests wait for `need` units. None may be under way. */
export function fetchLease(state: LeaseState, lease: LeaseRecord, need: number): void {
  const nowMs = state.options.now()
  lease.size = nextLeaseSize(lease, nowMs)
  lease.requestedMs = nowMs
  lease.refetchBelow = -1
  state.active.add(lease)
  track(state, fetch(state, lease, Math.max(0, need - lease.units)))
}

async function fetch(state: LeaseState, lease: LeaseRecord, need: number): Promise<void> {
  const { ledger, now } = state.options
  const { keyId } = lease
  const asked = { month: state.month, limit: lease.quota }
  const want = Math.max(lease.size - lease.units, need)
  try {
    const onLate = (granted: number): void => returnUnits(state, keyId, asked.month, granted)
    const grant = await ledger.lease({ keyId, ...asked, want, need, onLate })
    lease.requestedMs = -1
    lease.unavailableUntilMs = 0
    if (state.closed || asked.month !== lease.month || asked.limit !== lease.quota) {
      // The month or the limit changed meanwhile: these units are of another count.
      returnUnits(state, keyId, asked.month, grant.granted)
    } else {
      applyGrant(state, lease, grant, now())
    }
  } catch (error) {
    lease.requestedMs = -1
    lease.unavailableUntilMs = now() + quotaRecheckMs
    throw error
  } finally {
    wakeWaiters(state, lease)
  }
}

/**
 * The next lease would be cut short. From here on nothing is fetched ahead of need and idle units
 * go back soon: another worker may be refusing requests for want of them.
 */
function nearQuotaEnd(lease: LeaseRecord): boolean {
  return lease.ledgerRemaining < lease.size * leaseShare
}

/** Below how many units the next lease is fetched; -1: not ahead of need. */
function refetchThreshold(lease: LeaseRecord): number {
  return nearQuotaEnd(lease) ? -1 : Math.ceil(lease.size / 2)
}

function applyGrant(state: LeaseState, lease: LeaseRecord, grant: LeaseGrant, nowMs: number): void {
  addUnits(state, lease, grant.granted)
  lease.unitsAtGrant = lease.units
  lease.grantedMs = nowMs
  lease.ledgerRemaining = grant.remaining
  lease.exhaustedUntilMs = nowMs + quotaRecheckMs
  lease.refetchBelow = refetchThreshold(lease)
  lease.idleUnits = lease.units
  lease.idleSinceMs = nowMs
}

/** A lease of the key failed, and asking for it once more is worth it. */
function shouldRetryLease(state: LeaseState, lease: LeaseRecord, nowMs: number): boolean {
  if (
    lease.unavailableUntilMs === 0 ||
    nowMs < lease.unavailableUntilMs ||
    state.options.ledger.down()
  )
    return false
  return lease.month === state.month && lease.units < Math.min(lease.size, lease.quota)
}

export function maintainLease(state: LeaseState, lease: LeaseRecord, nowMs: number): void {
  if (lease.requestedMs >= 0) {
    // A late lease is still taken; requests no longer wait for it.
    if (nowMs - lease.requestedMs < quotaWaitMs) return
    lease.unavailableUntilMs = nowMs + quotaRecheckMs
    wakeWaiters(state, lease)
    return
  }
  // After a failure nothing was fetched ahead; from here on it is again.
  if (lease.refetchBelow < 0 && nowMs >= lease.unavailableUntilMs)
    lease.refetchBelow = refetchThreshold(lease)
  // A ledger that failed is asked until it answers, though no request comes.
  if (state.failing && state.inFlight.size === 0 && shouldRetryLease(state, lease, nowMs)) {
    fetchLease(state, lease, 0)
    return
  }
  if (lease.units !== lease.idleUnits) {
    lease.idleUnits = lease.units
    lease.idleSinceMs = nowMs
    return
  }
  const patience = nearQuotaEnd(lease) ? quotaRecheckMs : leaseIdleMs
  if (nowMs - lease.idleSinceMs < patience) return
  // While the ledger is out of reach the key keeps what it has.
  if (state.options.ledger.down()) return
  returnLease(state, lease)
  state.active.delete(lease)
}
