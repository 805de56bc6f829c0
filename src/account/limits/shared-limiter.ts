// Hot path: `spendRate` and `spendQuota`. No allocation, throw, closure or clock there.
//
// The limiter of many machines: rates come from buckets in the store (shared-rate.ts), quotas are
// leased from the store's ledger (quota.ts).
//
// While the store is away, policy "refuse" spends leased units, then returns `unavailable`; no
// quota is ever exceeded. Policy "serve" continues to the month's rest at the last answer (or the
// whole quota) and owes these units (quota-debt.ts). A refund reduces the debt first. A unit whose
// charge was lost still goes back to the ledger: the worker cannot know.

import { quotaRecheckMs } from '../../base/limits.ts'
import type { Allowance } from './allowance.ts'
import { balanceWords } from './local-balance.ts'
import { type Limiter, type LimiterOptions, createLimiter, reportFullFile } from './limiter.ts'
import { quotaResults } from './quota.ts'
import { type DebtState, chargeAllDebts, overdraw, refundDebt } from './quota-debt.ts'
import { clearUnavailable } from './quota-lease.ts'
import type { RateResult } from './rate.ts'
import { rateRemaining, rateResetMs, rateResults, rateRetryMs } from './rate.ts'
import { ceilSeconds, remainingIndex } from './ratelimit-values.ts'
import type { SharedLimit, SharedRateOptions, SharedRateState } from './shared-rate.ts'
import { assignSharedLimit, forgetOldLimit, sharedAheadTicks } from './shared-rate.ts'
import { spendSharedBatch, spendSharedRate, tickSharedRates } from './shared-rate.ts'

type SharedLimiterOptions = LimiterOptions & SharedRateOptions

type SharedLimiterState = ReturnType<typeof createState>

/** Finds a key's slots at its first request; `undefined` if the file is full. */
function assignLimit(state: SharedLimiterState, key: Allowance): SharedLimit | undefined {
  const { rate } = key.limits
  if (rate === undefined || key.pace === undefined) return undefined
  const limit = assignSharedLimit(state.rates, key.sharedRate, rate, key.pace)
  if (limit === undefined) reportFullFile(state)
  return limit
}

/** Whether the store is back since the key's lease failed; the failure is then forgotten. */
function storeIsBack(state: SharedLimiterState, { lease }: Allowance): boolean {
  const { buckets, now } = state.options
  if (buckets.down()) {
    state.away = true
    return false
  }
  if (state.away) state.backMs = now()
  state.away = false
  if (lease.unavailableUntilMs - quotaRecheckMs >= state.backMs) return false
  clearUnavailable(lease)
  return true
}

function writeRateRemaining(
  { rates }: SharedLimiterState,
  key: Allowance,
  nowMs: number,
  out: Float64Array,
): void {
  const { limit } = key.sharedRate
  if (limit === undefined) return
  const { pace } = limit
  const ahead = sharedAheadTicks(rates, limit, nowMs)
  out[remainingIndex.rate] = rateRemaining(ahead, pace)
  out[remainingIndex.rateReset] = ceilSeconds(rateResetMs(ahead, pace))
}

function createState(options: SharedLimiterOptions) {
  const { machineOffsetMs, now, rateFile } = options
  const rates: SharedRateState = {
    ...options,
    memory: balanceWords(rateFile.words),
    clock: () => now() + machineOffsetMs,
    active: new Set(),
  }
  const base = createLimiter(options)
  const debts: DebtState = { owing: new Set(), charge: base.charge }
  /** `away`: at the last request that needed the store; `backMs`: when it was seen back. */
  return { options, base, rates, debts, away: false, backMs: -1, fullReported: false }
}

/** A callback that throws is reported. */
async function spendRateLater(
  { options, rates }: SharedLimiterState,
  key: Allowance,
  requests: number,
  callback: (result: RateResult) => void,
): Promise<void> {
  const { limit } = key.sharedRate
  try {
    const { unavailable } = rateResults
    callback(limit === undefined ? unavailable : await spendSharedBatch(rates, limit, requests))
  } catch (error) {
    options.onTrouble(error)
  }
}

export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { buckets, policy } = options
  const state = createState(options)
  const { base, rates, debts } = state
  let closed = false
  return {
    ...base,
    bind: (keyId, limits) => {
      const key = base.bind(keyId, limits)
      forgetOldLimit(rates, key.sharedRate, key.pace)
      return key
    },
    spendRate: (key, requests, nowMs) => {
      if (key.pace === undefined) return rateResults.granted
      const limit = key.sharedRate.limit ?? assignLimit(state, key)
      if (limit === undefined) return rateResults.unavailable
      return spendSharedRate(rates, limit, requests, nowMs)
    },
    spendRateLater: (key, requests, callback) => {
      void spendRateLater(state, key, requests, callback)
    },
    spendQuota: (key, units, arrivedMs) => {
      let result = base.spendQuota(key, units, arrivedMs)
      if (result !== quotaResults.unavailable || closed) return result
      if (storeIsBack(state, key)) result = base.spendQuota(key, units, arrivedMs)
      if (result !== quotaResults.unavailable || policy === 'refuse') return result
      // Else this worker has no room.
      const isAway = buckets.down() || options.now() < key.lease.unavailableUntilMs
      if (!isAway) return result
      return overdraw(debts, key.debt, units) ? quotaResults.granted : quotaResults.exceeded
    },
    // Reduces the debt first, whatever granted the request.
    refund: (key, spent) => {
      const unowed = refundDebt(key.debt, spent.units, spent.month)
      base.refund(key, { ...spent, units: spent.units - unowed })
    },
    remaining: (key, nowMs, out) => {
      base.remaining(key, nowMs, out)
      writeRateRemaining(state, key, nowMs, out)
    },
    retryMs: (key, result, nowMs, requests) => {
      const { limit } = key.sharedRate
      if (result !== 'rate_exceeded') return base.retryMs(key, result, nowMs, requests)
      if (limit === undefined) return quotaRecheckMs
      return rateRetryMs(sharedAheadTicks(rates, limit, nowMs), limit.pace, requests)
    },
    tick: () => {
      base.tick()
      tickSharedRates(rates)
      if (!buckets.down()) chargeAllDebts(debts)
    },
    close: async () => {
      closed = true
      // Debts that the store does not accept in time are lost.
      if (!buckets.down()) chargeAllDebts(debts)
      await base.close()
    },
  }
}
