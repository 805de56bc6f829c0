// What a new key is to be, as people ask for it on the command line or the admin port: judged
// whole, against the plans and the clock. Making it is issue-key.ts.

import { type Day, dayOf, formatDay } from '../../base/day.ts'
import { IpriskError } from '../../base/coded-error.ts'
import { type ApiName, type Plans, apiNames, planNamed } from '../../config/plan.ts'
import type { NewKey } from './key-record.ts'

/** The plan of a test key that names none: it has the insights. */
export const testKeyPlan = 'internal'

export interface KeyWish {
  readonly name?: string | undefined
  readonly plan?: string | undefined
  readonly api?: ApiName | 'none' | undefined
  readonly rate?: number | undefined
  readonly burst?: number | undefined
  readonly quota?: number | undefined
  readonly policies?: readonly string[] | undefined
  readonly test: boolean
  readonly expires?:
    | { readonly kind: 'day'; readonly day: Day }
    | { readonly kind: 'days'; readonly days: number }
    | undefined
}

/**
 * Names that the file of policies does not have, as a sentence without its end; such a key is made
 * all the same, for the policy may come later. `known` is what the file has, where there is one.
 */
export function policiesCaution(
  named: readonly string[] = [],
  known: readonly string[] | undefined,
): string | undefined {
  const missing = known === undefined ? [] : named.filter((name) => !known.includes(name))
  if (known === undefined || missing.length === 0) return undefined
  const until =
    'until it has, a request that names such a one gets 400, and "default" decides others'
  const which = missing.length === 1 ? 'no policy' : 'no policies'
  return `the file has ${which} ${missing.join(', ')}; it has ${known.join(', ')}; ${until}`
}

/**
 * The key that is asked for. Throws `usage` with every reason why it cannot be made; `label` is what
 * the reasons call a member by.
 */
export function newKeyOf(
  wish: KeyWish,
  plans: Plans,
  now: number,
  label: (member: string) => string = (member) => `--${member}`,
): NewKey {
  const { name = '', api, rate, burst, quota, policies, test } = wish
  const plan = wish.plan ?? (test ? testKeyPlan : undefined)
  const expires = expiryOf(wish, now)
  const found = plan === undefined ? undefined : planNamed(plans, plan)
  const problems: string[] = []
  if (found === undefined) {
    problems.push(`${label('plan')} is needed: one of ${Object.keys(plans).join(', ')}`)
  }
  if (expires !== undefined && expires <= dayOf(now)) {
    const [last, today] = [formatDay(expires), formatDay(dayOf(now))]
    problems.push(`${label('expires')} ${last} must be a day after today, ${today} (UTC)`)
  }
  if (burst !== undefined && rate === undefined && found !== undefined && !found.rate) {
    const why = `the plan ${found.name} has no rate limit`
    problems.push(`${label('burst')} needs ${label('rate')}: ${why}`)
  }
  if (test && [rate, burst, quota].some((limit) => limit !== undefined)) {
    const limits = `${label('rate')}, ${label('burst')} and ${label('quota')}`
    problems.push(`${label('test')} excludes ${limits}: test keys have limits of their own`)
  }
  if (found === undefined || problems.length > 0) throw notMade(problems)
  const limits = {
    ...(rate === undefined ? {} : { perSecond: rate }),
    ...(burst === undefined ? {} : { burst }),
    ...(quota === undefined ? {} : { quotaPerMonth: quota }),
  }
  // Where none is named a key may call every API; whether the plan includes one is the plan's
  // matter.
  const apis = api === undefined ? apiNames : api === 'none' ? [] : [api]
  return {
    name,
    plan: found.name,
    apis,
    ...(expires === undefined ? {} : { expires }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(policies === undefined ? {} : { policies }),
    ...(test ? { test } : {}),
  }
}

function expiryOf({ expires }: KeyWish, now: number): Day | undefined {
  if (expires === undefined || expires.kind === 'day') return expires?.day
  return (dayOf(now) + expires.days) as Day
}

function notMade(problems: readonly string[]): IpriskError {
  const details = problems.map((text) => `  ${text}`)
  return new IpriskError({
    code: 'usage',
    message: 'The key was not made:',
    details,
    fault: 'usage',
  })
}
