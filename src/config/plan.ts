// Plans: bundles of limits that a key refers to by name (contract 3.14 and 3.15). The default ones
// are `defaultPlans` in setting-checks.ts, beside the zod types of the file that changes or adds
// some. No limit is enforced here.

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
  readonly rate?: Rate
  /** Checks a calendar month, UTC. Absent: no quota. */
  readonly quotaPerMonth?: number
  readonly insights: InsightsMode
}

/** Plans by name. Plain data, so that it crosses to another process as it is. */
export type Plans = Readonly<Record<string, Plan>>

/** The plan of that name; a name such as `constructor` finds nothing. */
export function planNamed(plans: Plans, name: string): Plan | undefined {
  return Object.hasOwn(plans, name) ? plans[name] : undefined
}
