// Which limits a key has: its own, else its plan's. Their enforcement is limiter.ts, which is bound
// to the `EffectiveLimits` of each key. The plans are `defaultPlans` (config/plan.ts) as
// an operator's file changes them.

import type { Plan, Rate } from '../../config/plan.ts'
import type { KeyLimitOverrides, KeyRecord } from './key-record.ts'

/** What applies to one key. A limit that is absent does not exist. */
export interface EffectiveLimits {
  readonly rate?: Rate | undefined
  /** Checks a calendar month, UTC. */
  readonly quotaPerMonth?: number | undefined
}

/** Every default plan has a burst of two seconds; so has a key that names only its rate. */
const burstSeconds = 2

/** Of every test key, whatever its plan: enough for tests, too little for anything else. */
const testLimits: EffectiveLimits = { rate: { perSecond: 10, burst: 20 } }

export function limitsOf(plan: Plan, key: Pick<KeyRecord, 'limits' | 'test'>): EffectiveLimits {
  return key.test === true ? testLimits : effectiveLimits(plan, key.limits)
}

/** The limits of a key on a plan. A burst alone, where no rate exists, limits nothing. */
export function effectiveLimits(plan: Plan, own: KeyLimitOverrides = {}): EffectiveLimits {
  const perSecond = own.perSecond ?? plan.rate?.perSecond
  const quotaPerMonth = own.quotaPerMonth ?? plan.quotaPerMonth
  const planBurst = own.perSecond === undefined ? plan.rate?.burst : undefined
  if (perSecond === undefined) return { quotaPerMonth }
  const burst = own.burst ?? planBurst ?? perSecond * burstSeconds
  return { rate: { perSecond, burst }, quotaPerMonth }
}
