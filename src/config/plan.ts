// Plans: named bundles of limits (contract 3.14: limits, 3.15: insights), and the default ones.

/** Contract 6.12: what a key may call. */
export const apiNames = ['ip-risk', 'lists', 'bouncer'] as const
export type ApiName = (typeof apiNames)[number]

export const insightsModes = ['never', 'on_request', 'always'] as const
export type InsightsMode = (typeof insightsModes)[number]

/** Both are whole and at least 1. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

export interface Plan {
  readonly name: string
  /** Empty: 403 `api_not_enabled_for_plan`. */
  readonly apis: readonly ApiName[]
  /** Absent: no rate limit. */
  readonly rate?: Rate | undefined
  /** A calendar month, UTC. Absent: no quota. */
  readonly quotaPerMonth?: number | undefined
  readonly insights: InsightsMode
}

/** Plain data, for other processes. */
export type Plans = Readonly<Record<string, Plan>>

/** A name such as `constructor` finds nothing. */
export function planNamed(plans: Plans, name: string): Plan | undefined {
  return Object.hasOwn(plans, name) ? plans[name] : undefined
}

type WrittenPlan = Pick<Plan, 'apis' | 'insights'> & {
  readonly rate: 'none' | Rate
  readonly quotaPerMonth: 'none' | number
}

/** Contract 3.14: limits by plan; the configuration file changes them. */
export const defaultPlans: Readonly<Record<string, WrittenPlan>> = {
  free: { apis: [], rate: 'none', quotaPerMonth: 'none', insights: 'never' },
  team: {
    apis: ['ip-risk'],
    rate: { perSecond: 50, burst: 100 },
    quotaPerMonth: 1_000_000,
    insights: 'never',
  },
  business: {
    apis: ['ip-risk', 'lists', 'bouncer'],
    rate: { perSecond: 500, burst: 1000 },
    quotaPerMonth: 20_000_000,
    insights: 'never',
  },
  enterprise: {
    apis: ['ip-risk', 'lists', 'bouncer'],
    rate: { perSecond: 5000, burst: 10_000 },
    quotaPerMonth: 500_000_000,
    insights: 'on_request',
  },
  internal: {
    apis: ['ip-risk', 'lists', 'bouncer'],
    rate: 'none',
    quotaPerMonth: 'none',
    insights: 'on_request',
  },
}
