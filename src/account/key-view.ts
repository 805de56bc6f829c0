// A key as listings show it: never a secret or its hash.
//
// Usage comes from the ledger. Leased units count as taken, so it is an upper bound
// (`units_at_most`): exact once the servers have drained, else too high by at most one lease per
// worker. Keys without a quota are not counted.

import { type Plans, planNamed } from '../config/plan.ts'
import { type EffectiveLimits, limitsOf } from './keys/key-limits.ts'
import { type KeyRecord, keyState, summarizeKey } from './keys/key-record.ts'
import { formatMonth, monthOf } from './limits/quota-period.ts'
import type { Stores } from './stores/open-stores.ts'

type KeyUses = Awaited<ReturnType<typeof readKeyUses>>

export async function readKeyUses({ ledger, uses }: Pick<Stores, 'ledger' | 'uses'>, now: number) {
  const month = monthOf(now)
  const units = await ledger.usage(month)
  return { month: formatMonth(month), units, days: await uses.days() }
}

export type KeyView = ReturnType<typeof keyViewOf>

export function keyViewOf(record: KeyRecord, uses: KeyUses, plans: Plans, now: number) {
  const plan = planNamed(plans, record.plan)
  // A plan that the operator removed includes and limits nothing.
  const inForce: EffectiveLimits = plan === undefined ? {} : limitsOf(plan, record)
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
