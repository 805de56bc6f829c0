// Hot path: `spendQuota` while the lease lasts. No allocation, throw, closure or clock there.
//
// A worker's side of the quotas: it leases units from the ledger ahead of need (quota-lease.ts) and
// spends them without asking the ledger. Below half a lease it fetches the next one in the
// background; a lease is what the key spends in a second, at first `leaseUnitsMin`. Near a quota's
// end it fetches a lease only when a request needs one, and gives idle units back after
// `quotaRecheckMs`, else after `leaseIdleMs`; until then other workers may refuse requests for want
// of them.
//
// With no units left, and not knowing that the quota is exhausted, `spend` returns `pending`: the
// caller keeps the request and is called back when the lease is there, about a millisecond later.
// That happens to the first request of a key in a worker, of a month, and of a second in which the
// quota is exhausted (units may have come back).
//
//   spend ─▶ enough units? ─yes─▶ granted      (below `refetchBelow`: lease in the background)
//              │no
//              ├─▶ asked less than `quotaRecheckMs` ago and too little was left ─▶ exceeded
//              ├─▶ the store failed less than `quotaRecheckMs` ago ─▶ unavailable
//              └─▶ lease, pending ─▶ callback ─▶ spend again
//
// Another worker gives back what a crashed one held (lease-file.ts); only units on their way from
// or to the ledger are lost. A machine that crashes loses all leases of its workers.
//
// A request and its refund count for the month in which it arrived, or for the next one. A refund
// goes into the lease if that is still of this month and quota, else to the ledger. Instants are of
// `performance.now()`; only `tick` reads the time of day, which may jump, to know the month.

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

/** Checks of one worker that wait for leases; more are refused at once. */
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

/** A request has arrived after the month's end, and no tick has come since. */
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

/** To be called every `keyRefreshMs`; `wallMs` since the epoch. */
export function tickQuotas(state: LeaseState, wallMs: number): void {
  const nowMs = state.options.now()
  const month = monthOf(wallMs)
  state.monthEndsMs = nowMs + monthStart(month + 1) - wallMs
  if (month !== state.month) switchMonth(state, month)
  for (const lease of state.active) maintainLease(state, lease, nowMs)
  state.outbox.flush()
}

/** Gives back every lease and waits for the ledger, for a while. Grants nothing afterwards. */
export async function closeQuotas(state: LeaseState): Promise<void> {
  state.closed = true
  for (const lease of state.active) {
    returnLease(state, lease)
    wakeWaiters(state, lease)
  }
  // A ledger that is down keeps its units.
  const deadlineMs = performance.now() + leaseCloseMs
  for (let tries = 0; tries < closeTries; tries += 1) {
    state.outbox.flush()
    await awaitInFlight(state.inFlight, deadlineMs - performance.now())
  }
}

/** Takes units of this month: all of them or none. */
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

/** Whole seconds to the end of the month; a small integer, so not on the heap. */
export function secondsToReset({ monthEndsMs }: LeaseState, nowMs: number): number {
  return ceilSeconds(Math.max(0, monthEndsMs - nowMs))
}
