// What a worker keeps for one key with limits: one object a key for as long as the worker knows the
// key, changed in place. Only rate.ts, quota.ts and the limiter look inside; everybody else passes
// it on. Every member is set from the beginning, so that all of them have one shape.

import type { Rate } from '../../config/plan.ts'
import type { SharedBucketSizes } from './shared-bucket.ts'
import type { EffectiveLimits } from '../keys/key-limits.ts'
import type { Pace } from './rate.ts'
import { paceOf } from './rate.ts'

/** Months of which no lease is of. */
export const noMonth = -1

/** What shared-rate.ts keeps for one key and limit of many machines; changed in place. */
export interface SharedRate {
  /** Its own, for the key's may be others by the time an answer comes. */
  readonly rate: Rate
  readonly pace: Pace
  readonly sizes: SharedBucketSizes
  /** Of the balance, and of the machine's own limit. */
  readonly balanceIndex: number
  readonly localIndex: number
  /** Below it the store is asked. */
  refillBelow: number
  /** The store has not answered when this worker asked it last. */
  failed: boolean
  /** The balance at the last look, and since when it has not changed. */
  idleBalance: number
  idleMs: number
}

export interface Allowance {
  readonly keyId: string
  limits: EffectiveLimits

  /** `undefined`: no rate limit. */
  pace: Pace | undefined
  /** Of the key's number in the rate file; -1: not looked up yet. */
  slot: number

  /** What this machine may take of a limit of many machines; `undefined`: not looked up yet. */
  share: SharedRate | undefined
  /** Units that were granted while the store of many machines was away, in which month. */
  debtUnits: number
  debtMonth: number

  /** Units a month; -1: no quota. And when that changed last; -1: never. */
  quota: number
  quotaChangedMs: number
  /** The month of `left` and `known`. */
  month: number
  /** Leased units that are not spent yet. */
  leasedUnits: number
  /** Below this another lease is fetched. */
  leaseBelow: number
  /** What the ledger had left when it was asked last, and what it was given back since. */
  ledgerRemaining: number
  /** Units of the latest lease, wanted; and `left` just after it, and when that was. */
  leaseSize: number
  leasedUnitsThen: number
  leasedMs: number
  /** When the lease that is under way was asked for; -1: none is. */
  leaseRequestedMs: number
  /** Until then the quota is believed to be exhausted, the store to be out of reach. */
  exhaustedUntilMs: number
  unavailableUntilMs: number
  /** `left` at the last look for idle keys, and since when it has not changed. */
  idleUnits: number
  idleSinceMs: number
  waiters: (() => void)[]

  /** RateLimit-Policy and the month that it is right for. */
  policy: string
  policyMonth: number
}

export function newAllowance(keyId: string, limits: EffectiveLimits): Allowance {
  return {
    keyId,
    limits,
    pace: limits.rate === undefined ? undefined : paceOf(limits.rate),
    slot: -1,
    share: undefined,
    debtUnits: 0,
    debtMonth: noMonth,
    quota: limits.quotaPerMonth ?? -1,
    quotaChangedMs: -1,
    month: noMonth,
    leasedUnits: 0,
    leaseBelow: -1,
    ledgerRemaining: 0,
    leaseSize: 0,
    leasedUnitsThen: 0,
    leasedMs: 0,
    leaseRequestedMs: -1,
    exhaustedUntilMs: 0,
    unavailableUntilMs: 0,
    idleUnits: 0,
    idleSinceMs: 0,
    waiters: [],
    policy: '',
    policyMonth: noMonth,
  }
}
