// Hot path: `spendRate` and `writeRemaining`. No allocation, throw, closure or clock there.
//
// What the server asks about limits, one of them a worker. The interface says nothing of where
// limits are kept: here rates are slots of a shared file and quotas are leases from a ledger; a
// limiter for many machines implements the same one. Its calls never wait: what has to, says
// `pending` and calls back.
//
// Keys without limits share one allowance and cost two comparisons. Limits that change take effect
// with the next `bind`. A key whose rate limit changes starts with a full burst; one whose quota
// changes goes on counting. Two workers may know different limits for as long as one refresh.

import { IpriskError } from '../../base/coded-error.ts'
import { quotaRecheckMs } from '../../base/limits.ts'
import { type Allowance, newAllowance } from './allowance.ts'
import { rateLimitPolicyValue, remainingIndex, ceilSeconds } from './ratelimit-values.ts'
import type { QuotaLedger } from './quota-ledger.ts'
import type { EffectiveLimits } from '../keys/key-limits.ts'
import { type Quota, type QuotaResult, type SpentUnits, createQuota } from './quota.ts'
import {
  aheadTicks,
  paceOf,
  rateRemaining,
  rateResetMs,
  rateRetryMs,
  takeRate,
  ticksAt,
} from './rate.ts'
import type { RateFile } from './rate-file.ts'

/**
 * `unavailable`: the rate file is full, and this key is not in it; or the store is away. `pending`:
 * `admitLater` can say; never for one request.
 */
export const rateResults = { granted: 0, exceeded: 1, unavailable: 2, pending: 3 } as const
export type RateResult = (typeof rateResults)[keyof typeof rateResults]

/**
 * All instants are those of `performance.now()`; `arrivedMs` is the one that a request began at,
 * and `nowMs` one of the caller's own turn (rate.ts says why).
 */
export interface Limiter {
  /** The allowance of a key: the same one until `release`, whatever limits it is bound to. */
  readonly bind: (keyId: string, limits: EffectiveLimits) => Allowance
  /** The key is revoked: what it has leased goes back. */
  readonly release: (keyId: string) => void
  /** Spends rate: `requests` at once or none. */
  readonly spendRate: (key: Allowance, requests: number, nowMs: number) => RateResult
  /** After `admit` was `pending`: asks the store, spends all or none, and calls back once. */
  readonly spendRateLater: (
    key: Allowance,
    requests: number,
    callback: (result: RateResult) => void,
  ) => void
  /** Spends quota: `units` at once or none (quota.ts). */
  readonly spendQuota: (key: Allowance, units: number, arrivedMs: number) => QuotaResult
  /** The month that `spend` has just granted of; `noMonth` where nobody counts. */
  readonly spentMonth: (key: Allowance) => number
  /** After `spend` has granted and the answer is no 200 after all. */
  readonly refund: (key: Allowance, spent: SpentUnits) => void
  /** Calls back once, after `spend` was `pending`; then `spend` is to be asked again. */
  readonly whenLeased: (key: Allowance, callback: () => void) => void
  /** Writes what is left, as ratelimit-values.ts reads it. */
  readonly remaining: (key: Allowance, nowMs: number, out: Float64Array) => void
  /** The value of RateLimit-Policy, made once a month and key; `''` without limits. */
  readonly policy: (key: Allowance) => string
  /** Milliseconds until asking for so many again can help, after a result other than granted. */
  readonly retryMs: (
    key: Allowance,
    result: 'rate_exceeded' | 'quota_exceeded' | 'unavailable',
    nowMs: number,
    requests: number,
  ) => number
  /** To be called every `keyRefreshMs`. */
  readonly tick: () => void
  /** Gives back what is leased and closes the ledger; no quota is granted after it. */
  readonly close: () => Promise<void>
}

/** A limiter for another one to build on (shared-limiter.ts). */
export interface BaseLimiter extends Limiter, Pick<Quota, 'charge'> {}

export interface LimiterOptions {
  readonly rates: RateFile
  readonly ledger: QuotaLedger
  /** What to add to `now` to get the machine's clock. */
  readonly machineOffsetMs: number
  readonly now: () => number
  readonly wall: () => number
  /** Called for every failure; whoever logs says it once. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

export function rateFileFullError(rateFile: RateFile): IpriskError {
  const { used, max } = rateFile.counts()
  return new IpriskError({
    code: 'rates_full',
    message:
      `The rate file ${rateFile.path} holds ${used} keys and limits of at most ${max}: a key that is ` +
      'not among them is refused with 503. Stop the server, remove the file and start again.',
    fault: 'environment',
  })
}

/** What the embedded limiter holds besides its quotas. */
interface LimiterState {
  readonly options: LimiterOptions
  readonly quota: Quota
  readonly keys: Map<string, Allowance>
  /** The file was full once, and that has been said. */
  full: boolean
}

/** Finds the slot of a key at its first request; whether there is one. */
function assignSlot(held: LimiterState, key: Allowance): boolean {
  const { rates: rateFile, onTrouble } = held.options
  const { rate } = key.limits
  if (rate !== undefined) key.slot = rateFile.slotOf(key.keyId, rate)
  if (key.slot >= 0) return true
  if (!held.full) onTrouble(rateFileFullError(rateFile))
  held.full = true
  return false
}

function changeLimits(held: LimiterState, key: Allowance, limits: EffectiveLimits): void {
  const { rate } = limits
  const before = key.limits.rate
  if (rate?.perSecond !== before?.perSecond || rate?.burst !== before?.burst) {
    key.pace = rate === undefined ? undefined : paceOf(rate)
    key.slot = -1
  }
  key.limits = limits
  key.policy = ''
  const quotaBefore = key.quota
  key.quota = limits.quotaPerMonth ?? -1
  if (key.quota !== quotaBefore) held.quota.change(key, quotaBefore)
}

function writeRemaining(
  held: LimiterState,
  key: Allowance,
  nowMs: number,
  out: Float64Array,
): void {
  const { options, quota } = held
  const { pace } = key
  out[remainingIndex.rate] = -1
  out[remainingIndex.rateReset] = -1
  out[remainingIndex.quota] = -1
  out[remainingIndex.quotaReset] = -1
  if (pace !== undefined && key.slot >= 0) {
    const atTicks = ticksAt(nowMs + options.machineOffsetMs, pace)
    const ahead = aheadTicks(options.rates.words, key.slot, pace, atTicks)
    out[remainingIndex.rate] = rateRemaining(ahead, pace)
    out[remainingIndex.rateReset] = ceilSeconds(rateResetMs(ahead, pace))
  }
  if (key.quota < 0) return
  const left = key.month === quota.month() ? key.leasedUnits + key.ledgerRemaining : key.quota
  out[remainingIndex.quota] = Math.min(left, key.quota)
  out[remainingIndex.quotaReset] = quota.secondsToReset(nowMs)
}

function policyOf({ quota }: LimiterState, key: Allowance): string {
  const month = quota.month()
  if (key.policyMonth !== month || key.policy === '') {
    key.policy = rateLimitPolicyValue(key.limits, month)
    key.policyMonth = month
  }
  return key.policy
}

/** The limiter of one machine. */
export function createLimiter(options: LimiterOptions): BaseLimiter {
  const { rates: rateFile, ledger, machineOffsetMs, now } = options
  const { words } = rateFile
  const quota = createQuota(options)
  const held: LimiterState = { options, quota, keys: new Map(), full: false }
  const { keys } = held
  const unlimited = newAllowance('', {})
  const machineNow = (): number => now() + machineOffsetMs

  return {
    bind: (keyId, limits) => {
      const known = keys.get(keyId)
      if (known !== undefined) {
        changeLimits(held, known, limits)
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
      changeLimits(held, key, { ...key.limits, quotaPerMonth: 0 })
    },
    spendRate: (key, requests, nowMs) => {
      const { pace } = key
      if (pace === undefined) return rateResults.granted
      if (key.slot < 0 && !assignSlot(held, key)) return rateResults.unavailable
      const atTicks = ticksAt(nowMs + machineOffsetMs, pace)
      return takeRate(words, key.slot, pace, atTicks, requests, machineNow)
        ? rateResults.granted
        : rateResults.exceeded
    },
    spendRateLater: (_key, _requests, callback) => callback(rateResults.exceeded),
    spendQuota: quota.spend,
    spentMonth: quota.spentMonth,
    refund: quota.refund,
    charge: quota.charge,
    whenLeased: quota.whenLeased,
    remaining: (key, nowMs, out) => writeRemaining(held, key, nowMs, out),
    policy: (key) => policyOf(held, key),
    retryMs: (key, result, nowMs, requests) => {
      const { pace } = key
      if (result === 'quota_exceeded') return quota.secondsToReset(nowMs) * 1000
      if (result === 'unavailable' || pace === undefined || key.slot < 0) return quotaRecheckMs
      const ahead = aheadTicks(words, key.slot, pace, ticksAt(nowMs + machineOffsetMs, pace))
      return rateRetryMs(ahead, pace, requests)
    },
    tick: quota.tick,
    close: async () => {
      await quota.close()
      await ledger.close()
      // The rate file stays mapped: a late request may still look into it, and the process ends.
    },
  }
}
