// A worker's leases: fetched from the ledger in the background, spent, and returned if unspent.
// quota.ts decides when a request needs one. Only this file writes a `Lease`.
//
// Invariants: `units` grow after the ledger has durably counted them, and shrink before any are
// returned; units of one month are never spent in another. Units held, in flight and waiting to be
// returned are together at most one lease of `size` units (or what one batch needs), plus refunds.
// Units are lost only if the ledger's answer is lost. Every change of `units` is written to the
// lease file.

import { leaseIdleMs, leaseShare, leaseUnitsMax } from '../../base/limits.ts'
import { leaseUnitsMin, quotaRecheckMs, quotaWaitMs } from '../../base/limits.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { type LeaseFile, noLeaseSlot } from './lease-file.ts'
import type { LeaseGrant, QuotaLedger } from './quota-ledger.ts'
import { type Month, monthOf, monthStart, noMonth } from './quota-period.ts'
import { type LedgerOutbox, createLedgerOutbox } from './ledger-outbox.ts'

/** A lease lasts this long at the last pace: two leases a second for each busy key. */
const leaseAheadMs = 1000

function leaseRecord(keyId: string, quota: number) {
  return {
    keyId,
    /** Units per month; -1: no quota. */
    quota,
    quotaChangedMs: -1,
    /** The month of `units` and `ledgerRemaining`. */
    month: noMonth as number,
    units: 0,
    /** Index in the lease file, or `noLeaseSlot`. */
    slot: noLeaseSlot as number,
    /** Fetch another lease below this many units; -1: only when a request needs it. */
    refetchBelow: -1,
    /** What the ledger had left at the last answer, plus units returned since. */
    ledgerRemaining: 0,
    /** The target of `units` of the latest lease. */
    size: 0,
    unitsAtGrant: 0,
    grantedMs: 0,
    /** When the lease in flight was requested, or -1. */
    requestedMs: -1,
    /** The quota counts as exhausted until then; 0: not asked this month. */
    exhaustedUntilMs: 0,
    /** The ledger counts as away until then; 0: it answered last. */
    unavailableUntilMs: 0,
    /** For idleness: `units` at the last tick that saw a change. */
    idleUnits: 0,
    idleSinceMs: 0,
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
  /** Leases with units, or with a lease in flight. */
  readonly active: Set<Lease>
  readonly inFlight: Set<Promise<void>>
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

/** Begins the worker's month: units of another month are returned. */
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

/** The caller has checked that the lease has the units. */
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

/** The month's rest at the last answer; the whole quota before that. */
export const lastKnownRemaining = ({ exhaustedUntilMs, ledgerRemaining, quota }: Lease): number =>
  exhaustedUntilMs > 0 ? ledgerRemaining : quota

/** Sets the ledger's rest without a lease. */
export function assumeRemaining(lease: LeaseRecord, units: number): void {
  lease.ledgerRemaining = units
  // As if asked long ago: a reachable ledger is asked before a request is refused.
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

/** What the key spends in a second since its last lease; half to 8 times the last size. */
function nextLeaseSize(lease: LeaseRecord, nowMs: number): number {
  const spent = lease.unitsAtGrant - lease.units
  const pace = (spent / Math.max(1, nowMs - lease.grantedMs)) * leaseAheadMs
  const size = Math.min(Math.max(pace, lease.size / 2), lease.size * 8)
  return Math.ceil(Math.min(Math.max(size, leaseUnitsMin), leaseUnitsMax))
}

/** Fetches a lease in the background; requests wait for `need` units. None may be in flight. */
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
      // The month or the limit changed meanwhile.
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
 * The next lease would be cut short: fetch only on need and return idle units soon, because other
 * workers may be refusing requests.
 */
const nearQuotaEnd = (lease: LeaseRecord): boolean =>
  lease.ledgerRemaining < lease.size * leaseShare

const refetchThreshold = (lease: LeaseRecord): number =>
  nearQuotaEnd(lease) ? -1 : Math.ceil(lease.size / 2)

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

/** A lease of the key failed and is worth a retry. */
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
  // Resumes fetching ahead after a failure.
  if (lease.refetchBelow < 0 && nowMs >= lease.unavailableUntilMs)
    lease.refetchBelow = refetchThreshold(lease)
  // A failed ledger is asked until it answers, even without requests.
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
  // While the ledger is away, the key keeps its units.
  if (state.options.ledger.down()) return
  returnLease(state, lease)
  state.active.delete(lease)
}
