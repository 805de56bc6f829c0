// What a worker keeps for one key with limits: one object a key for as long as the worker knows the
// key, changed in place. Only rate.ts, quota.ts and the limiter look inside; everybody else passes
// it on. Every member is set from the beginning, so that all of them have one shape.

import type { Rate } from '../../config/plan.ts'
import type { FlowSizes } from './shared-bucket.ts'
import type { Limits } from '../keys/key-limits.ts'
import type { Pace } from './rate.ts'
import { paceOf } from './rate.ts'

/** Months of which no lease is of. */
export const noMonth = -1

/** What shared-rate.ts keeps for one key and limit of many machines; changed in place. */
export interface Share {
  /** Its own, for the key's may be others by the time an answer comes. */
  readonly rate: Rate
  readonly pace: Pace
  readonly sizes: FlowSizes
  /** Of the balance, and of the machine's own limit. */
  readonly index: number
  readonly localIndex: number
  /** Below it the store is asked. */
  low: number
  /** The store has not answered when this worker asked it last. */
  failed: boolean
  /** The balance at the last look, and since when it has not changed. */
  idleBalance: number
  idleMs: number
}

export interface Allowance {
  readonly keyId: string
  limits: Limits

  /** `undefined`: no rate limit. */
  pace: Pace | undefined
  /** Of the key's number in the rate file; -1: not looked up yet. */
  slot: number

  /** What this machine may take of a limit of many machines; `undefined`: not looked up yet. */
  share: Share | undefined
  /** Units that were granted while the store of many machines was away, in which month. */
  owed: number
  owedMonth: number

  /** Units a month; -1: no quota. And when that changed last; -1: never. */
  quota: number
  changedMs: number
  /** The month of `left` and `known`. */
  month: number
  /** Leased units that are not spent yet. */
  left: number
  /** Below this another lease is fetched. */
  low: number
  /** What the ledger had left when it was asked last, and what it was given back since. */
  known: number
  /** Units of the latest lease, wanted; and `left` just after it, and when that was. */
  size: number
  leftThen: number
  leasedMs: number
  /** When the lease that is under way was asked for; -1: none is. */
  askedMs: number
  /** Until then the quota is believed to be exhausted, the store to be out of reach. */
  exhaustedMs: number
  unavailableMs: number
  /** `left` at the last look for idle keys, and since when it has not changed. */
  idleLeft: number
  idleMs: number
  waiting: (() => void)[]

  /** RateLimit-Policy and the month that it is right for. */
  policy: string
  policyMonth: number
}

export function newAllowance(keyId: string, limits: Limits): Allowance {
  return {
    keyId,
    limits,
    pace: limits.rate === undefined ? undefined : paceOf(limits.rate),
    slot: -1,
    share: undefined,
    owed: 0,
    owedMonth: noMonth,
    quota: limits.quotaPerMonth ?? -1,
    changedMs: -1,
    month: noMonth,
    left: 0,
    low: -1,
    known: 0,
    size: 0,
    leftThen: 0,
    leasedMs: 0,
    askedMs: -1,
    exhaustedMs: 0,
    unavailableMs: 0,
    idleLeft: 0,
    idleMs: 0,
    waiting: [],
    policy: '',
    policyMonth: noMonth,
  }
}
