// Hot path: `spendRate` and `writeRemaining`. No allocation, throw, closure or clock there.
//
// A worker's limiter: rates are slots of a shared file, quotas are leases from a ledger. The
// limiter of many machines (shared-limiter.ts) implements the same interface. Calls never wait: one
// that would have to returns `pending` and calls back.
//
// Keys without limits share one allowance and cost two comparisons. Limits that change take effect
// with the next `bind`. A key whose rate limit changes starts with a full burst; one whose quota
// changes goes on counting. Two workers may know different limits for as long as one refresh.
//
// This file alone writes the members of an allowance (allowance.ts).

import { type IpriskError, environmentError } from '../../base/coded-error.ts'
import { quotaRecheckMs } from '../../base/limits.ts'
import { type Allowance, newAllowance } from './allowance.ts'
import { rateLimitPolicyValue, remainingIndex, ceilSeconds } from './ratelimit-values.ts'
import { lastKnownRemaining } from './quota-lease.ts'
import type { QuotaLedger } from './quota-ledger.ts'
import type { EffectiveLimits } from '../keys/key-limits.ts'
import { type Quota, type QuotaResult, type SpentUnits, createQuota } from './quota.ts'
import { type RateResult, rateResults, takeRate, ticksAt } from './rate.ts'
import { aheadTicks, paceOf, rateRemaining, rateResetMs, rateRetryMs } from './rate.ts'
import type { LeaseFile } from './lease-file.ts'
import type { RateFile } from './rate-file.ts'

/**
 * Instants are of `performance.now()`: `arrivedMs` when a request began, `nowMs` of the caller's
 * own turn (rate.ts says why).
 */
export interface Limiter {
  /** The allowance of a key: the same one until `release`, whatever limits it is bound to. */
  readonly bind: (keyId: string, limits: EffectiveLimits) => Allowance
  readonly release: (keyId: string) => void
  /** Spends rate: `requests` at once or none. */
  readonly spendRate: (key: Allowance, requests: number, nowMs: number) => RateResult
  /** After `spendRate` was `pending`: asks the store, spends all or none, and calls back once. */
  readonly spendRateLater: (
    key: Allowance,
    requests: number,
    callback: (result: RateResult) => void,
  ) => void
  readonly spendQuota: (key: Allowance, units: number, arrivedMs: number) => QuotaResult
  /** The month of units that `spendQuota` has just granted; `noMonth` for a key without quota. */
  readonly spentMonth: (key: Allowance) => number
  /** After `spendQuota` has granted and the answer is no 200 after all. */
  readonly refund: (key: Allowance, spent: SpentUnits) => void
  /** After `spendQuota` was `pending`: calls back once; then `spendQuota` is to be asked again. */
  readonly whenLeased: (key: Allowance, callback: () => void) => void
  /** Writes what is left, as ratelimit-values.ts reads it. */
  readonly remaining: (key: Allowance, nowMs: number, out: Float64Array) => void
  /** The value of RateLimit-Policy, made once a month and key; `''` without limits. */
  readonly policy: (key: Allowance) => string
  /** Milliseconds until asking for as many again can help, after a result other than granted. */
  readonly retryMs: (
    key: Allowance,
    result: 'rate_exceeded' | 'quota_exceeded' | 'unavailable',
    nowMs: number,
    requests: number,
  ) => number
  /** Gives back what dead workers of this machine had leased. Never fails; trouble is reported. */
  readonly takeOverLeases: () => void
  /** To be called every `keyRefreshMs`. */
  readonly tick: () => void
  /** Gives back what is leased and closes the ledger; grants no quota afterwards. */
  readonly close: () => Promise<void>
}

export interface BaseLimiter extends Limiter, Pick<Quota, 'charge'> {}

export interface LimiterOptions {
  readonly rateFile: RateFile
  readonly ledger: QuotaLedger
  readonly leaseFile: LeaseFile
  /** What to add to `now` to get the machine's clock. */
  readonly machineOffsetMs: number
  readonly now: () => number
  readonly wall: () => number
  /** Called for every failure; the log says it once. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

export function rateFileFullError(rateFile: RateFile): IpriskError {
  const { used, max } = rateFile.counts()
  return environmentError(
    'rates_full',
    `The rate file ${rateFile.path} holds ${used} keys and limits of at most ${max}: a key that is ` +
      'not among them is refused with 503. Stop the server, remove the file and start again.',
  )
}

type AllowanceRecord = { -readonly [Member in keyof Allowance]: Allowance[Member] }

interface LimiterState {
  readonly options: LimiterOptions
  readonly quota: Quota
  readonly keys: Map<string, AllowanceRecord>
  fullReported: boolean
}

/** Finds the slot of a key at its first request; whether there is one. */
function assignSlot(state: LimiterState, key: AllowanceRecord): boolean {
  const { rateFile, onTrouble } = state.options
  const { rate } = key.limits
  if (rate !== undefined) key.slotIndex = rateFile.slotOf(key.keyId, rate)
  if (key.slotIndex >= 0) return true
  if (!state.fullReported) onTrouble(rateFileFullError(rateFile))
  state.fullReported = true
  return false
}

function changeLimits(
  { quota }: LimiterState,
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
  if (units !== key.lease.quota) quota.change(key.lease, units)
}

function writeRemaining(
  { options, quota }: LimiterState,
  key: Allowance,
  nowMs: number,
  out: Float64Array,
): void {
  const { pace, lease } = key
  out[remainingIndex.rate] = -1
  out[remainingIndex.rateReset] = -1
  out[remainingIndex.quota] = -1
  out[remainingIndex.quotaReset] = -1
  if (pace !== undefined && key.slotIndex >= 0) {
    const atTicks = ticksAt(nowMs + options.machineOffsetMs, pace)
    const ahead = aheadTicks(options.rateFile.words, key.slotIndex, pace, atTicks)
    out[remainingIndex.rate] = rateRemaining(ahead, pace)
    out[remainingIndex.rateReset] = ceilSeconds(rateResetMs(ahead, pace))
  }
  if (lease.quota < 0) return
  const isOfMonth = lease.month === quota.month()
  const left = isOfMonth ? lease.units + lastKnownRemaining(lease) : lease.quota
  out[remainingIndex.quota] = Math.min(left, lease.quota)
  out[remainingIndex.quotaReset] = quota.secondsToReset(nowMs)
}

function policyOf({ quota }: LimiterState, key: AllowanceRecord): string {
  const month = quota.month()
  if (key.policyMonth !== month || key.policy === '') {
    key.policy = rateLimitPolicyValue(key.limits, month)
    key.policyMonth = month
  }
  return key.policy
}

export function createLimiter(options: LimiterOptions): BaseLimiter {
  const { rateFile, leaseFile, ledger, machineOffsetMs, now } = options
  const { words } = rateFile
  const quota = createQuota(options)
  const keys = new Map<string, AllowanceRecord>()
  const state: LimiterState = { options, quota, keys, fullReported: false }
  const unlimited = newAllowance('', {})
  const machineNow = (): number => now() + machineOffsetMs

  return {
    bind: (keyId, limits) => {
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
    release: (keyId) => {
      const key = keys.get(keyId)
      if (key === undefined) return
      keys.delete(keyId)
      changeLimits(state, key, { ...key.limits, quotaPerMonth: 0 })
    },
    spendRate: (key, requests, nowMs) => {
      const { pace } = key
      if (pace === undefined) return rateResults.granted
      if (key.slotIndex < 0 && !assignSlot(state, key)) return rateResults.unavailable
      const atTicks = ticksAt(nowMs + machineOffsetMs, pace)
      return takeRate(words, key.slotIndex, pace, atTicks, requests, machineNow)
        ? rateResults.granted
        : rateResults.exceeded
    },
    spendRateLater: (_key, _requests, callback) => callback(rateResults.exceeded),
    spendQuota: (key, units, arrivedMs) => quota.spend(key.lease, units, arrivedMs),
    spentMonth: (key) => quota.spentMonth(key.lease),
    refund: (key, spent) => quota.refund(key.lease, spent),
    charge: quota.charge,
    whenLeased: (key, callback) => quota.whenLeased(key.lease, callback),
    remaining: (key, nowMs, out) => writeRemaining(state, key, nowMs, out),
    policy: (key) => policyOf(state, key),
    retryMs: (key, result, nowMs, requests) => {
      const { pace } = key
      if (result === 'quota_exceeded') return quota.secondsToReset(nowMs) * 1000
      if (result === 'unavailable' || pace === undefined || key.slotIndex < 0) return quotaRecheckMs
      const ahead = aheadTicks(words, key.slotIndex, pace, ticksAt(nowMs + machineOffsetMs, pace))
      return rateRetryMs(ahead, pace, requests)
    },
    takeOverLeases: () => {
      try {
        quota.takeOver()
      } catch (error) {
        options.onTrouble(error)
      }
    },
    tick: quota.tick,
    close: async () => {
      await quota.close()
      leaseFile.close()
      await ledger.close()
      // The rate file stays mapped: a late request may still look into it, and the process ends.
    },
  }
}
