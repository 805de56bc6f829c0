// Hot path: `admit`, `spend` and `remaining`. No allocation, throw, closure or clock there.
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
import { policyText, remainingAt, secondsOf } from './ratelimit-values.ts'
import type { QuotaLedger } from './quota-ledger.ts'
import type { Limits } from '../keys/key-limits.ts'
import { type Quota, type SpendResult, type Spent, createQuota } from './quota.ts'
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
export const admitResults = { granted: 0, exceeded: 1, unavailable: 2, pending: 3 } as const
export type AdmitResult = (typeof admitResults)[keyof typeof admitResults]

/**
 * All instants are those of `performance.now()`; `arrivedMs` is the one that a request began at,
 * and `nowMs` one of the caller's own turn (rate.ts says why).
 */
export interface Limiter {
  /** The allowance of a key: the same one until `release`, whatever limits it is bound to. */
  readonly bind: (keyId: string, limits: Limits) => Allowance
  /** The key is revoked: what it has leased goes back. */
  readonly release: (keyId: string) => void
  /** Spends rate: `requests` at once or none. */
  readonly admit: (key: Allowance, requests: number, nowMs: number) => AdmitResult
  /** After `admit` was `pending`: asks the store, spends all or none, and calls back once. */
  readonly admitLater: (
    key: Allowance,
    requests: number,
    callback: (result: AdmitResult) => void,
  ) => void
  /** Spends quota: `units` at once or none (quota.ts). */
  readonly spend: (key: Allowance, units: number, arrivedMs: number) => SpendResult
  /** The month that `spend` has just granted of; `noMonth` where nobody counts. */
  readonly spentMonth: (key: Allowance) => number
  /** After `spend` has granted and the answer is no 200 after all. */
  readonly refund: (key: Allowance, spent: Spent) => void
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

export function ratesFull(rates: RateFile): IpriskError {
  const { used, max } = rates.counts()
  return new IpriskError({
    code: 'rates_full',
    message:
      `The rate file ${rates.path} holds ${used} keys and limits of at most ${max}: a key that is ` +
      'not among them is refused with 503. Stop the server, remove the file and start again.',
    fault: 'environment',
  })
}

/** What the embedded limiter holds besides its quotas. */
interface Held {
  readonly options: LimiterOptions
  readonly quota: Quota
  readonly keys: Map<string, Allowance>
  /** The file was full once, and that has been said. */
  full: boolean
}

/** Finds the slot of a key at its first request; whether there is one. */
function place(held: Held, key: Allowance): boolean {
  const { rates, onTrouble } = held.options
  const { rate } = key.limits
  if (rate !== undefined) key.slot = rates.slotOf(key.keyId, rate)
  if (key.slot >= 0) return true
  if (!held.full) onTrouble(ratesFull(rates))
  held.full = true
  return false
}

function change(held: Held, key: Allowance, limits: Limits): void {
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

function writeRemaining(held: Held, key: Allowance, nowMs: number, out: Float64Array): void {
  const { options, quota } = held
  const { pace } = key
  out[remainingAt.rate] = -1
  out[remainingAt.rateReset] = -1
  out[remainingAt.quota] = -1
  out[remainingAt.quotaReset] = -1
  if (pace !== undefined && key.slot >= 0) {
    const atTicks = ticksAt(nowMs + options.machineOffsetMs, pace)
    const ahead = aheadTicks(options.rates.words, key.slot, pace, atTicks)
    out[remainingAt.rate] = rateRemaining(ahead, pace)
    out[remainingAt.rateReset] = secondsOf(rateResetMs(ahead, pace))
  }
  if (key.quota < 0) return
  const left = key.month === quota.month() ? key.left + key.known : key.quota
  out[remainingAt.quota] = Math.min(left, key.quota)
  out[remainingAt.quotaReset] = quota.secondsToReset(nowMs)
}

function policyOf({ quota }: Held, key: Allowance): string {
  const month = quota.month()
  if (key.policyMonth !== month || key.policy === '') {
    key.policy = policyText(key.limits, month)
    key.policyMonth = month
  }
  return key.policy
}

/** The limiter of one machine. */
export function createLimiter(options: LimiterOptions): BaseLimiter {
  const { rates, ledger, machineOffsetMs, now } = options
  const { words } = rates
  const quota = createQuota(options)
  const held: Held = { options, quota, keys: new Map(), full: false }
  const { keys } = held
  const unlimited = newAllowance('', {})
  const machineNow = (): number => now() + machineOffsetMs

  return {
    bind: (keyId, limits) => {
      const known = keys.get(keyId)
      if (known !== undefined) {
        change(held, known, limits)
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
      change(held, key, { ...key.limits, quotaPerMonth: 0 })
    },
    admit: (key, requests, nowMs) => {
      const { pace } = key
      if (pace === undefined) return admitResults.granted
      if (key.slot < 0 && !place(held, key)) return admitResults.unavailable
      const atTicks = ticksAt(nowMs + machineOffsetMs, pace)
      return takeRate(words, key.slot, pace, atTicks, requests, machineNow)
        ? admitResults.granted
        : admitResults.exceeded
    },
    admitLater: (_key, _requests, callback) => callback(admitResults.exceeded),
    spend: quota.spend,
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
