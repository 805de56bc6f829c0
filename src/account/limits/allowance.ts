// What a worker keeps for one key with limits: one object a key, changed in place. One file writes
// each part; others read it or call that file's functions.
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
    /** `undefined`: no rate limit. */
    pace: limits.rate === undefined ? undefined : paceOf(limits.rate),
    /** Where the key's slot is in the rate file of one machine; -1: not looked up yet. */
    slotIndex: -1,
    /** RateLimit-Policy and the month that it is right for. */
    policy: '',
    policyMonth: noMonth as number,
    lease,
    sharedRate: newSharedRate(keyId),
    debt: newDebt(lease),
  }
}

/** For limiter.ts alone. */
export type AllowanceRecord = ReturnType<typeof allowanceRecord>

export type Allowance = Readonly<AllowanceRecord>

export const newAllowance: (keyId: string, limits: EffectiveLimits) => Allowance = allowanceRecord
