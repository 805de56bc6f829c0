// A worker's state for one key with limits, changed in place. One file writes each part.
//
//   allowance      the limits in force, the rate on this machine    limiter.ts
//    ├ lease       units of the quota                               quota-lease.ts
//    ├ sharedRate  the rate that many machines share                shared-rate.ts
//    └ debt        units granted while the store was away           quota-debt.ts

import type { EffectiveLimits } from '../keys/key-limits.ts'
import { newDebt } from './quota-debt.ts'
import { newLease } from './quota-lease.ts'
import { noMonth } from './quota-period.ts'
import { paceOf } from './rate.ts'
import { newSharedRate } from './shared-rate.ts'

function allowanceRecord(keyId: string, limits: EffectiveLimits) {
  const lease = newLease(keyId, limits.quotaPerMonth ?? -1)
  return {
    keyId,
    limits,
    pace: limits.rate === undefined ? undefined : paceOf(limits.rate),
    /** The slot in one machine's rate file; -1: not looked up yet. */
    slotIndex: -1,
    /** RateLimit-Policy, and its month. */
    policy: '',
    policyMonth: noMonth as number,
    lease,
    sharedRate: newSharedRate(keyId),
    debt: newDebt(lease),
  }
}

/** For limiter.ts only. */
export type AllowanceRecord = ReturnType<typeof allowanceRecord>

export type Allowance = Readonly<AllowanceRecord>

export const newAllowance: (keyId: string, limits: EffectiveLimits) => Allowance = allowanceRecord
