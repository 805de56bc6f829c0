// What a worker keeps for one key with limits: one object a key, changed in place. One file writes
// each part; others read it or call that file's functions.
//
//   allowance      the limits in force, the rate on this machine    limiter.ts
//    ├ lease       units of the quota                               quota-lease.ts
//    ├ sharedRate  the rate that many machines share                shared-rate.ts
//    └ debt        units granted while the store was away           quota-debt.ts

import type { EffectiveLimits } from '../keys/key-limits.ts'
import { type Debt, newDebt } from './quota-debt.ts'
import { type Lease, newLease } from './quota-lease.ts'
import { noMonth } from './quota-period.ts'
import { type Pace, paceOf } from './rate.ts'
import { type SharedRate, newSharedRate } from './shared-rate.ts'

export interface Allowance {
  readonly keyId: string
  readonly limits: EffectiveLimits
  /** `undefined`: no rate limit. */
  readonly pace: Pace | undefined
  /** Where the key's slot is in the rate file of one machine; -1: not looked up yet. */
  readonly slotIndex: number
  /** RateLimit-Policy and the month that it is right for. */
  readonly policy: string
  readonly policyMonth: number

  readonly lease: Lease
  readonly sharedRate: SharedRate
  readonly debt: Debt
}

export function newAllowance(keyId: string, limits: EffectiveLimits): Allowance {
  const lease = newLease(keyId, limits.quotaPerMonth ?? -1)
  return {
    keyId,
    limits,
    pace: limits.rate === undefined ? undefined : paceOf(limits.rate),
    slotIndex: -1,
    policy: '',
    policyMonth: noMonth,
    lease,
    sharedRate: newSharedRate(keyId),
    debt: newDebt(lease),
  }
}
