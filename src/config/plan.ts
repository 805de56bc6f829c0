// Plans: bundles of limits that a key refers to by name (contract 3.14 and 3.15), and the default
// ones. No limit is enforced here.

/** The APIs that a plan can include and a key can be allowed. */
export const apiNames = ['ip-risk'] as const
export type ApiName = (typeof apiNames)[number]

/** Whether the check may carry insights: never, when asked for, or in every answer. */
export const insightsModes = ['never', 'on_request', 'always'] as const
export type InsightsMode = (typeof insightsModes)[number]

/** A rate limit: `perSecond` in the long run, `burst` at once. Both are whole and at least 1. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

export interface Plan {
  readonly name: string
  /** Empty where the plan includes no API (403 `api_not_enabled_for_plan`). */
  readonly apis: readonly ApiName[]
  /** Absent: no rate limit. */
  readonly rate?: Rate | undefined
  /** Checks a calendar month, UTC. Absent: no quota. */
  readonly quotaPerMonth?: number | undefined
  readonly insights: InsightsMode
}

/** Plans by name. Plain data, so that it crosses to another process as it is. */
export type Plans = Readonly<Record<string, Plan>>

/** The plan of that name; a name such as `constructor` finds nothing. */
export function planNamed(plans: Plans, name: string): Plan | undefined {
  return Object.hasOwn(plans, name) ? plans[name] : undefined
}

/** As the configuration file writes it; setting-checks.ts has its zod type. */
type WrittenPlan = Pick<Plan, 'apis' | 'insights'> & {
  readonly rate: 'none' | Rate
  readonly quotaPerMonth: 'none' | number
}

/** The plans of contract 3.14, which the configuration file changes. */
export const defaultPlans: Readonly<Record<string, WrittenPlan>> = {
  free: { apis: [], rate: 'none', quotaPerMonth: 'none', insights: 'never' },
  team: {
    apis: ['ip-risk'],
    rate: { perSecond: 50, burst: 100 },
    quotaPerMonth: 1_000_000,
    insights: 'never',
  },
  business: {
    apis: ['ip-risk'],
    rate: { perSecond: 500, burst: 1000 },
    quotaPerMonth: 20_000_000,
    insights: 'never',
  },
  enterprise: {
    apis: ['ip-risk'],
    rate: { perSecond: 5000, burst: 10_000 },
    quotaPerMonth: 500_000_000,
    insights: 'on_request',
  },
  internal: { apis: ['ip-risk'], rate: 'none', quotaPerMonth: 'none', insights: 'on_request' },
}
