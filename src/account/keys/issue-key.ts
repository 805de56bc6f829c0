// Creates, rotates and revokes keys. A key's text is only in what these return: shown once and
// stored nowhere.

import { type IpriskError, usageError, inputError } from '../../base/coded-error.ts'
import { type Day, dayOf, formatDay } from '../../base/day.ts'
import { type ApiName, planNamed, type Plans } from '../../config/plan.ts'
import type { KeyRecord, NewKey } from './key-record.ts'
import { keyState, lostRecord, newRecord, revokedRecord, rotatedRecord } from './key-record.ts'
import type { KeyStore } from './key-store.ts'
import { formatKeyText, randomId, randomSecret } from './key-text.ts'

export interface IssuedKey {
  readonly text: string
  readonly record: KeyRecord
}

export function unknownKeyError(id: string): IpriskError {
  const message = `There is no key with the id ${id}. "iprisk keys list" shows the ids.`
  return inputError('key_unknown', message)
}

export async function createKey(store: KeyStore, key: NewKey, now: number): Promise<IssuedKey> {
  const id = randomId()
  const secret = randomSecret()
  const record = newRecord(key, { id, secret, now })
  await store.create(record)
  return { text: formatKeyText({ id, secret, test: key.test === true }), record }
}

/** Revokes a key permanently, even an unreadable one; throws `key_unknown`. */
export async function revokeKey(store: KeyStore, id: string, now: number): Promise<KeyRecord> {
  const record = await store.update(
    id,
    (before) => revokedRecord(before, now),
    () => lostRecord(id, now),
  )
  if (record === undefined) throw unknownKeyError(id)
  return record
}

/**
 * The previous secret works for `graceMs` more. Throws `key_unknown`, or `key_not_live` for a
 * revoked or expired key.
 */
export async function rotateKey(
  store: KeyStore,
  id: string,
  when: { readonly now: number; readonly graceMs: number },
): Promise<IssuedKey> {
  const { now, graceMs } = when
  const secret = randomSecret()
  const change = { secret, now, oldExpiresAt: now + graceMs }
  const record = await store.update(id, (before) => {
    const state = keyState(before, now)
    if (state === 'live') return rotatedRecord(before, change)
    const message = `The key ${id} is ${state}, permanently. Create a new one with "iprisk keys create".`
    throw inputError('key_not_live', message)
  })
  if (record === undefined) throw unknownKeyError(id)
  return { text: formatKeyText({ id, secret, test: record.test === true }), record }
}

/** For test keys without a plan: it has insights. */
const testKeyPlan = 'internal'

/** For keys that name no API (contract 6.12: keys). */
export const defaultApi: ApiName = 'ip-risk'

export interface KeyWish {
  readonly name?: string | undefined
  readonly plan?: string | undefined
  readonly api?: readonly (ApiName | 'none')[] | undefined
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
 * A warning, without a full stop, about policies missing from the file. The key is still made: the
 * policy may come later.
 */
export function policiesCaution(
  named: readonly string[] = [],
  known: readonly string[] | undefined,
): string | undefined {
  const missing = known === undefined ? [] : named.filter((name) => !known.includes(name))
  if (known === undefined || missing.length === 0) return undefined
  const until = 'until it does, a request that names one gets 400, and "default" decides the others'
  const which = missing.length === 1 ? 'no policy' : 'no policies'
  return `the file has ${which} ${missing.join(', ')}; it has ${known.join(', ')}; ${until}`
}

/** Throws `usage` with every problem; `label` formats member names in messages. */
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
    problems.push(`${label('plan')} is missing; use one of ${Object.keys(plans).join(', ')}`)
  }
  if (expires !== undefined && expires <= dayOf(now)) {
    const [last, today] = [formatDay(expires), formatDay(dayOf(now))]
    problems.push(`${label('expires')} ${last} must be a day after today, ${today} (UTC)`)
  }
  if (burst !== undefined && rate === undefined && found !== undefined && !found.rate) {
    const why = `the plan ${found.name} has no rate limit`
    problems.push(`${label('burst')} needs ${label('rate')}: ${why}`)
  }
  const isLimited = [rate, burst, quota].some((limit) => limit !== undefined)
  if (test && isLimited) {
    const limits = `${label('rate')}, ${label('burst')} and ${label('quota')}`
    problems.push(`${label('test')} excludes ${limits}: test keys have limits of their own`)
  }
  if (found === undefined || problems.length > 0) {
    const details = problems.map((text) => `  ${text}`)
    throw usageError('The key was not created:', details)
  }
  return {
    name,
    plan: found.name,
    apis: (api ?? [defaultApi]).filter((name) => name !== 'none'),
    expires,
    limits: isLimited ? { perSecond: rate, burst, quotaPerMonth: quota } : undefined,
    policies,
    test: test || undefined,
  }
}

function expiryOf({ expires }: KeyWish, now: number): Day | undefined {
  if (expires === undefined || expires.kind === 'day') return expires?.day
  return (dayOf(now) + expires.days) as Day
}
