// Hot path: `spendQuota` while the lease lasts. No allocation, throw, closure or clock there.
//
// A worker's side of the quotas: it leases units from the ledger ahead of need (quota-lease.ts) and
// spends them locally. Below half a lease it fetches the next one in the background; a lease is a
// second's use, at first `leaseUnitsMin`. Near a quota's end it leases only on demand and returns
// idle units after `quotaRecheckMs`, else after `leaseIdleMs`.
//
// Without units, and if the quota may not be exhausted, `spend` returns `pending`, and the caller
// is called back with the lease about a millisecond later: for a key's first request in a worker or
// month, and once a second while the quota is exhausted.
//
//   spend ─▶ enough units? ─yes─▶ granted      (below `refetchBelow`: lease in the background)
//              │no
//              ├─▶ asked less than `quotaRecheckMs` ago and too little was left ─▶ exceeded
//              ├─▶ the store failed less than `quotaRecheckMs` ago ─▶ unavailable
//              └─▶ lease, pending ─▶ callback ─▶ spend again
//
// A dead worker's leases are returned by another one (lease-file.ts); only units in transit are
// lost. A machine that crashes loses all leases.
//
// A request and its refund count for the month of arrival, or for the next one. A refund goes to
// the lease if month and quota still match, else to the ledger. Instants are of
// `performance.now()`; only `tick` reads the time of day, which may jump.

import { leaseCloseMs } from '../../base/limits.ts'
import { ceilSeconds } from './ratelimit-values.ts'
import type { Lease, LeaseState } from './quota-lease.ts'
import {
  enterMonth,
  fetchLease,
  maintainLease,
  refundUnits,
  returnLease,
  returnUnits,
  spendUnits,
  wakeWaiters,
} from './quota-lease.ts'
import { type Month, monthOf, monthStart, noMonth } from './quota-period.ts'
import { awaitInFlight } from './ledger-outbox.ts'

/** Waiting checks per worker; more are refused at once. */
export const quotaWaitingMax = 10_000

export const quotaResults = { granted: 0, exceeded: 1, unavailable: 2, pending: 3 } as const
export type QuotaResult = (typeof quotaResults)[keyof typeof quotaResults]

const { granted, exceeded, unavailable, pending } = quotaResults

export interface SpentUnits {
  readonly units: number
  readonly month: number
  readonly arrivedMs: number
}

const closeTries = 2

function switchMonth(state: LeaseState, month: Month): void {
  state.month = month
  for (const lease of state.active) enterMonth(state, lease)
}

/** A request arrived after the month's end, before the next tick. */
function switchMonthByArrival(state: LeaseState): void {
  const next = (state.month + 1) as Month
  switchMonth(state, next)
  state.monthEndsMs += monthStart(next + 1) - monthStart(next)
}

function spendSlowPath(
  state: LeaseState,
  lease: Lease,
  units: number,
  arrivedMs: number,
): QuotaResult {
  if (state.closed) return unavailable
  if (arrivedMs >= state.monthEndsMs) switchMonthByArrival(state)
  if (lease.month !== state.month) enterMonth(state, lease)
  if (units <= lease.units) {
    spendUnits(state, lease, units)
    return granted
  }
  if (units > lease.quota) return exceeded
  const nowMs = state.options.now()
  if (nowMs < lease.unavailableUntilMs) return unavailable
  if (lease.requestedMs < 0) {
    if (nowMs < lease.exhaustedUntilMs && units > lease.units + lease.ledgerRemaining)
      return exceeded
    if (state.waitingCount < quotaWaitingMax) fetchLease(state, lease, units)
  }
  return state.waitingCount < quotaWaitingMax ? pending : unavailable
}

/** A changed quota may be smaller than the refund. */
export function refundQuota(state: LeaseState, lease: Lease, spent: SpentUnits): void {
  const { units, month, arrivedMs } = spent
  if (month === noMonth || state.closed) return
  if (month !== state.month || month !== lease.month || arrivedMs <= lease.quotaChangedMs) {
    returnUnits(state, lease.keyId, month, units)
    return
  }
  refundUnits(state, lease, units)
}

/** Call every `keyRefreshMs`. */
export function tickQuotas(state: LeaseState, wallMs: number): void {
  const nowMs = state.options.now()
  const month = monthOf(wallMs)
  state.monthEndsMs = nowMs + monthStart(month + 1) - wallMs
  if (month !== state.month) switchMonth(state, month)
  for (const lease of state.active) maintainLease(state, lease, nowMs)
  state.outbox.flush()
}

/** Returns every lease and waits briefly for the ledger. Grants nothing afterwards. */
export async function closeQuotas(state: LeaseState): Promise<void> {
  state.closed = true
  for (const lease of state.active) {
    returnLease(state, lease)
    wakeWaiters(state, lease)
  }
  // If the ledger is down, it keeps its units.
  const deadlineMs = performance.now() + leaseCloseMs
  for (let tries = 0; tries < closeTries; tries += 1) {
    state.outbox.flush()
    await awaitInFlight(state.inFlight, deadlineMs - performance.now())
  }
}

/** Takes all `units` of this month or none. */
export function spendQuota(
  state: LeaseState,
  lease: Lease,
  units: number,
  arrivedMs: number,
): QuotaResult {
  if (lease.quota < 0) return granted
  const left = lease.units - units
  if (left < 0 || lease.month !== state.month || arrivedMs >= state.monthEndsMs) {
    return spendSlowPath(state, lease, units, arrivedMs)
  }
  spendUnits(state, lease, units)
  if (left < lease.refetchBelow) fetchLease(state, lease, 0)
  return granted
}

/** A small integer, so not on the heap. */
export function secondsToReset({ monthEndsMs }: LeaseState, nowMs: number): number {
  return ceilSeconds(Math.max(0, monthEndsMs - nowMs))
}
