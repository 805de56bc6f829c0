// A key's limits: its own, else its plan's. limiter.ts enforces them.

import type { Plan, Rate } from '../../config/plan.ts'
import type { KeyLimitOverrides, KeyRecord } from './key-record.ts'

/** An absent limit does not exist. */
export interface EffectiveLimits {
  readonly rate?: Rate | undefined
  /** Checks per calendar month, UTC. */
  readonly quotaPerMonth?: number | undefined
}

/** As default plans have. */
const burstSeconds = 2

/** For every test key, whatever its plan. */
const testLimits: EffectiveLimits = { rate: { perSecond: 10, burst: 20 } }

export const limitsOf = (plan: Plan, key: Pick<KeyRecord, 'limits' | 'test'>): EffectiveLimits =>
  key.test === true ? testLimits : effectiveLimits(plan, key.limits)

/** A burst without a rate limits nothing. */
export function effectiveLimits(plan: Plan, own: KeyLimitOverrides = {}): EffectiveLimits {
  const perSecond = own.perSecond ?? plan.rate?.perSecond
  const quotaPerMonth = own.quotaPerMonth ?? plan.quotaPerMonth
  const planBurst = own.perSecond === undefined ? plan.rate?.burst : undefined
  if (perSecond === undefined) return { quotaPerMonth }
  const burst = own.burst ?? planBurst ?? perSecond * burstSeconds
  return { rate: { perSecond, burst }, quotaPerMonth }
}
