// Hot path: `spendRate` and `writeRemaining`. No allocation, throw, closure or clock there.
//
// A worker's limiter: rates are slots of a shared file, quotas are leases from a ledger.
// shared-limiter.ts implements the same interface for many machines. Calls never wait; they return
// `pending` and call back.
//
// Keys without limits share one allowance. Changed limits take effect with the next `bind`: a
// changed rate starts with a full burst, a changed quota continues its count. Workers may disagree
// for one refresh. Only this file writes an allowance.

import { type IpriskError, environmentError } from '../../base/coded-error.ts'
import { quotaRecheckMs } from '../../base/limits.ts'
import { type Allowance, type AllowanceRecord, newAllowance } from './allowance.ts'
import { rateLimitPolicyValue, remainingIndex, ceilSeconds } from './ratelimit-values.ts'
import { type LeaseOptions, type LeaseState, addWaiter, changeQuota } from './quota-lease.ts'
import { chargeUnits, createLeaseState, lastKnownRemaining, returnUnits } from './quota-lease.ts'
import { type Month, noMonth } from './quota-period.ts'
import type { EffectiveLimits } from '../keys/key-limits.ts'
import { type QuotaResult, type SpentUnits, closeQuotas } from './quota.ts'
import { refundQuota, secondsToReset, spendQuota, tickQuotas } from './quota.ts'
import { type Pace, type RateResult, rateResults, takeRate, ticksAt } from './rate.ts'
import { aheadTicks, paceOf, rateRemaining, rateResetMs, rateRetryMs } from './rate.ts'
import type { RateFile } from './rate-file.ts'

export type Limiter = ReturnType<typeof createLimiter>

export interface LimiterOptions extends LeaseOptions {
  readonly rateFile: RateFile
  /** Added to `now`, gives the machine's clock. */
  readonly machineOffsetMs: number
  readonly wall: () => number
}

function rateFileFullError(rateFile: RateFile): IpriskError {
  const { used, max } = rateFile.counts()
  return environmentError(
    'rates_full',
    `The rate file ${rateFile.path} holds ${used} of at most ${max} keys and limits: other keys ` +
      'get 503. Stop the server, remove the file and start again.',
  )
}

interface LimiterState {
  readonly options: LimiterOptions
  readonly leases: LeaseState
  fullReported: boolean
}

export function reportFullFile(state: Pick<LimiterState, 'options' | 'fullReported'>): void {
  const { rateFile, onTrouble } = state.options
  if (!state.fullReported) onTrouble(rateFileFullError(rateFile))
  state.fullReported = true
}

/** Finds a key's slot at its first request; false if the file is full. */
function assignSlot(state: LimiterState, key: AllowanceRecord): boolean {
  const { rate } = key.limits
  if (rate !== undefined) key.slotIndex = state.options.rateFile.slotOf(key.keyId, rate)
  if (key.slotIndex < 0) reportFullFile(state)
  return key.slotIndex >= 0
}

function changeLimits(
  { leases }: LimiterState,
  key: AllowanceRecord,
  limits: EffectiveLimits,
): void {
  const { rate } = limits
  const before = key.limits.rate
  if (rate?.perSecond !== before?.perSecond || rate?.burst !== before?.burst) {
    key.pace = rate === undefined ? undefined : paceOf(rate)
    key.slotIndex = -1
  }
  key.limits = limits
  key.policy = ''
  const units = limits.quotaPerMonth ?? -1
  if (units !== key.lease.quota) changeQuota(leases, key.lease, units)
}

function aheadOf({ options }: LimiterState, key: Allowance, pace: Pace, nowMs: number): number {
  const { rateFile, machineOffsetMs } = options
  const atTicks = ticksAt(nowMs + machineOffsetMs, pace)
  return aheadTicks(rateFile.words, key.slotIndex, pace, atTicks)
}

function writeRemaining(
  state: LimiterState,
  key: Allowance,
  nowMs: number,
  out: Float64Array,
): void {
  const { leases } = state
  const { pace, lease } = key
  out[remainingIndex.rate] = -1
  out[remainingIndex.rateReset] = -1
  out[remainingIndex.quota] = -1
  out[remainingIndex.quotaReset] = -1
  if (pace !== undefined && key.slotIndex >= 0) {
    const ahead = aheadOf(state, key, pace, nowMs)
    out[remainingIndex.rate] = rateRemaining(ahead, pace)
    out[remainingIndex.rateReset] = ceilSeconds(rateResetMs(ahead, pace))
  }
  if (lease.quota < 0) return
  const isOfMonth = lease.month === leases.month
  const left = isOfMonth ? lease.units + lastKnownRemaining(lease) : lease.quota
  out[remainingIndex.quota] = Math.min(left, lease.quota)
  out[remainingIndex.quotaReset] = secondsToReset(leases, nowMs)
}

function takeOverLeases({ options, leases }: LimiterState): void {
  try {
    for (const { keyId, month, units } of options.leaseFile.takeOver()) {
      returnUnits(leases, keyId, month, units)
    }
  } catch (error) {
    options.onTrouble(error)
  }
}

function policyOf({ leases: { month } }: LimiterState, key: AllowanceRecord): string {
  if (key.policyMonth !== month || key.policy === '') {
    key.policy = rateLimitPolicyValue(key.limits, month)
    key.policyMonth = month
  }
  return key.policy
}

/**
 * Instants are of `performance.now()`: `arrivedMs` is when a request began, `nowMs` is of the
 * caller's own turn (see rate.ts).
 */
export function createLimiter(options: LimiterOptions) {
  const { rateFile, leaseFile, ledger, machineOffsetMs, now } = options
  const leases = createLeaseState(options)
  const keys = new Map<string, AllowanceRecord>()
  const state: LimiterState = { options, leases, fullReported: false }
  const unlimited = newAllowance('', {})
  const machineNow = (): number => now() + machineOffsetMs

  return {
    /** The same object per key until `release`. */
    bind: (keyId: string, limits: EffectiveLimits): Allowance => {
      const known = keys.get(keyId)
      if (known !== undefined) {
        changeLimits(state, known, limits)
        return known
      }
      if (limits.rate === undefined && limits.quotaPerMonth === undefined) return unlimited
      const key = newAllowance(keyId, limits)
      keys.set(keyId, key)
      return key
    },
    release: (keyId: string): void => {
      const key = keys.get(keyId)
      keys.delete(keyId)
      if (key !== undefined) changeLimits(state, key, { ...key.limits, quotaPerMonth: 0 })
    },
    /** All `requests` or none. */
    spendRate: (key: Allowance, requests: number, nowMs: number): RateResult => {
      const { pace } = key
      if (pace === undefined) return rateResults.granted
      if (key.slotIndex < 0 && !assignSlot(state, key)) return rateResults.unavailable
      const atTicks = ticksAt(nowMs + machineOffsetMs, pace)
      return takeRate(rateFile.words, key.slotIndex, pace, atTicks, requests, machineNow)
        ? rateResults.granted
        : rateResults.exceeded
    },
    /** After `pending`: asks the store, spends all or none, and calls back once. */
    spendRateLater: (
      _key: Allowance,
      _requests: number,
      callback: (result: RateResult) => void,
    ): void => callback(rateResults.exceeded),
    spendQuota: (key: Allowance, units: number, arrivedMs: number): QuotaResult =>
      spendQuota(leases, key.lease, units, arrivedMs),
    /** The month of units just granted; `noMonth` without a quota. */
    spentMonth: ({ lease }: Allowance): number => (lease.quota < 0 ? noMonth : lease.month),
    /** For granted units of a request that is not answered with 200. */
    refund: (key: Allowance, spent: SpentUnits): void => refundQuota(leases, key.lease, spent),
    /** Charges units granted without the ledger. */
    charge: (keyId: string, month: Month, units: number): void =>
      chargeUnits(leases, keyId, month, units),
    /** After `pending`: calls back once, then call `spendQuota` again. */
    whenLeased: (key: Allowance, callback: () => void): void =>
      addWaiter(leases, key.lease, callback),
    /** For ratelimit-values.ts. */
    remaining: (key: Allowance, nowMs: number, out: Float64Array): void =>
      writeRemaining(state, key, nowMs, out),
    /** RateLimit-Policy, cached per month and key; `''` without limits. */
    policy: (key: Allowance): string => policyOf(state, key),
    /** Milliseconds until as many requests could succeed, after a result other than granted. */
    retryMs: (
      key: Allowance,
      result: 'rate_exceeded' | 'quota_exceeded' | 'unavailable',
      nowMs: number,
      requests: number,
    ): number => {
      const { pace } = key
      if (result === 'quota_exceeded') return secondsToReset(leases, nowMs) * 1000
      if (result === 'unavailable' || pace === undefined || key.slotIndex < 0) return quotaRecheckMs
      return rateRetryMs(aheadOf(state, key, pace, nowMs), pace, requests)
    },
    /** Returns leases of this machine's dead workers. Reports trouble, never throws. */
    takeOverLeases: (): void => takeOverLeases(state),
    /** Call every `keyRefreshMs`. */
    tick: (): void => tickQuotas(leases, options.wall()),
    /** Returns leases and closes the ledger; grants no quota afterwards. */
    close: async (): Promise<void> => {
      await closeQuotas(leases)
      leaseFile.close()
      await ledger.close()
      // The rate file stays mapped: a late request may still read it.
    },
  }
}
