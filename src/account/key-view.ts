// A key as listings show it: never a secret or its hash.
//
// Usage comes from the ledger. Units that a running worker has leased and not spent count as taken,
// so the figure is an upper bound (`units_at_most`): exact once the servers have drained, otherwise
// too high by at most one lease a worker. Keys without a quota are not counted.

import type { Day } from '../base/day.ts'
import { type Plan, type Plans, planNamed } from '../config/plan.ts'
import { type EffectiveLimits, limitsOf } from './keys/key-limits.ts'
import { type KeyRecord, type KeyState, keyState, summarizeKey } from './keys/key-record.ts'
import type { KeySummary } from '../api/admin-answers.ts'
import { formatMonth, monthOf } from './limits/quota-period.ts'
import type { Stores } from './stores/open-stores.ts'

export interface KeyUses {
  readonly month: string
  readonly units: ReadonlyMap<string, number>
  readonly days: ReadonlyMap<string, Day>
}

export async function readKeyUses(
  { ledger, uses }: Pick<Stores, 'ledger' | 'uses'>,
  now: number,
): Promise<KeyUses> {
  const month = monthOf(now)
  const units = await ledger.usage(month)
  return { month: formatMonth(month), units, days: await uses.days() }
}

export interface KeyView {
  readonly record: KeyRecord
  readonly facts: KeySummary
  readonly state: KeyState
  readonly plan: Plan | undefined
  readonly inForce: EffectiveLimits
  /** `undefined` where the key has no quota: units are not counted then. */
  readonly units: number | undefined
  readonly month: string
  readonly lastUsed: Day | undefined
}

export function keyViewOf(record: KeyRecord, uses: KeyUses, plans: Plans, now: number): KeyView {
  const plan = planNamed(plans, record.plan)
  // A plan that the operator has removed includes nothing and limits nothing.
  const inForce = plan === undefined ? {} : limitsOf(plan, record)
  const units = uses.units.get(record.id) ?? (inForce.quotaPerMonth === undefined ? undefined : 0)
  return {
    record,
    facts: summarizeKey(record),
    state: keyState(record, now),
    plan,
    inForce,
    units,
    month: uses.month,
    lastUsed: uses.days.get(record.id),
  }
}
