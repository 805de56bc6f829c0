// Hot path: `authenticate`. Forbidden in it for a warm key: allocation, throw, hashing, store
// access.
//
// A worker holds every key in memory. `refresh`, called every `keyRefreshMs`, reads changes and
// moves the keyring's clock. Only verified values are remembered, at most `verifiedKeysMax`, in a
// Map. It compares texts in non-constant time, but only on equal hashes with the process's seed, so
// a partly right value shows nowhere.
//
// Invariants: answers are as new as the last `refresh`; a denied value is never remembered; the
// caller cannot tell why a key was rejected. An invalid record denies its key, even if the keyring
// held a valid one, and delays no other change.

import { dayOf, msPerDay } from '../base/day.ts'
import { messageOf, type IpriskError, environmentError } from '../base/coded-error.ts'
import type { ApiName, InsightsMode, Plan, Plans } from '../config/plan.ts'
import { planNamed } from '../config/plan.ts'
import type { Allowance } from './limits/allowance.ts'
import { parseKeyText } from './keys/key-text.ts'
import type { EffectiveLimits } from './keys/key-limits.ts'
import { limitsOf } from './keys/key-limits.ts'
import type { Limiter } from './limits/limiter.ts'
import type { KeyRecord } from './keys/key-record.ts'
import type { SkippedKey } from './keys/read-record.ts'
import { hashSecret, sameHash } from './keys/secret-hash.ts'
import type { KeyStore } from './keys/key-store.ts'

/** A key has 55 characters, `Bearer ` seven; the rest is for spaces. */
const authorizationCharsMax = 128

/** Verified Authorization values per worker, 250 bytes each: at most 16 MiB. */
export const verifiedKeysMax = 65_536

/** One object per key, until the key changes. */
export interface Authenticated {
  readonly kind: 'authenticated'
  readonly keyId: string
  readonly plan: string
  readonly apis: readonly ApiName[]
  readonly insights: InsightsMode
  readonly isTest: boolean
  readonly limits: EffectiveLimits
  /** The policies that it may choose, its default first; `undefined`: only `default`. */
  readonly policies?: readonly string[] | undefined
  readonly allowance: Allowance
}

/** Codes in the order of contract 2 (response). */
export interface Denied {
  readonly kind: 'denied'
  readonly status: 401 | 403
  readonly code: 'invalid_api_key' | 'api_not_enabled_for_plan' | 'token_not_allowed_for_api'
}

export type AuthOutcome = Authenticated | Denied

const denied = {
  key: { kind: 'denied', status: 401, code: 'invalid_api_key' },
  plan: { kind: 'denied', status: 403, code: 'api_not_enabled_for_plan' },
  api: { kind: 'denied', status: 403, code: 'token_not_allowed_for_api' },
} as const satisfies Readonly<Record<string, Denied>>

type HeldKey = NonNullable<ReturnType<typeof toHeldKey>>

type Outcomes = Readonly<Record<ApiName, AuthOutcome>>

type OutcomeInputs = Pick<KeyRecord, 'id' | 'plan' | 'apis' | 'limits' | 'policies' | 'test'>

interface Verified {
  readonly until: number
  readonly outcomes: Outcomes
}

export type Keyring = ReturnType<typeof createKeyring>

type Terms = Pick<KeyringOptions, 'plans' | 'limiter'>

function outcomesOf(record: OutcomeInputs, { plans, limiter }: Terms): Outcomes {
  // A plan that the operator removed includes nothing.
  const plan = planNamed(plans, record.plan)
  let granted: Authenticated | undefined
  const outcomeOf = (api: ApiName): AuthOutcome => {
    if (plan === undefined || !plan.apis.includes(api)) return denied.plan
    if (!record.apis.includes(api)) return denied.api
    return (granted ??= grant(record, plan, limiter))
  }
  return {
    'ip-risk': outcomeOf('ip-risk'),
    lists: outcomeOf('lists'),
    bouncer: outcomeOf('bouncer'),
  }
}

function grant(record: OutcomeInputs, plan: Plan, limiter: Terms['limiter']): Authenticated {
  const limits = limitsOf(plan, record)
  return Object.freeze({
    kind: 'authenticated',
    keyId: record.id,
    plan: record.plan,
    apis: record.apis,
    insights: plan.insights,
    isTest: record.test === true,
    limits,
    policies: record.policies,
    allowance: limiter.bind(record.id, limits),
  })
}

/** `undefined` for a revoked key, which is not held. */
function toHeldKey(record: KeyRecord, terms: Terms) {
  if (record.revokedAt !== undefined) return undefined
  const { id, plan, apis, limits, policies, test } = record
  return {
    // A copy without hashes, which are kept below.
    inputs: { id, plan, apis, limits, policies, test } satisfies OutcomeInputs,
    secrets: record.secrets.map((secret) => ({
      hash: Buffer.from(secret.hash, 'hex'),
      until: secret.expiresAt ?? Infinity,
    })),
    until: record.expires === undefined ? Infinity : record.expires * msPerDay,
    outcomes: outcomesOf(record, terms),
  }
}

/**
 * All secrets, by 48 bits of their hashes: with a million keys, one unknown text in 280 million
 * counts as a secret, at no more cost than a request id.
 */
function createSecretMarks() {
  const marks = new Set<number>()
  const markOf = (hash: Buffer): number => hash.readUIntBE(0, 6)
  return {
    replace: (before: HeldKey | undefined, after: HeldKey | undefined): void => {
      for (const { hash } of before?.secrets ?? []) marks.delete(markOf(hash))
      for (const { hash } of after?.secrets ?? []) marks.add(markOf(hash))
    },
    holds: (secret: string): boolean => marks.has(markOf(hashSecret(secret))),
  }
}

function createHeldKeys(release: (keyId: string) => void) {
  const keys = new Map<string, HeldKey>()
  const skipped = new Set<string>()
  const marks = createSecretMarks()
  const hold = (id: string, held: HeldKey | undefined): void => {
    marks.replace(keys.get(id), held)
    if (held !== undefined) keys.set(id, held)
    else if (keys.delete(id)) release(id)
  }
  return {
    keys,
    holds: marks.holds,
    skippedCount: () => skipped.size,
    take: (id: string, held: HeldKey | undefined): void => {
      skipped.delete(id)
      hold(id, held)
    },
    skip: ({ id }: SkippedKey): void => {
      skipped.add(id)
      hold(id, undefined)
    },
  }
}

/** `Bearer` in any case, then spaces, then the key; else `''`. */
function bearerText(authorization: string): string {
  if (authorization.length > authorizationCharsMax) return ''
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return ''
  return authorization.slice(7).trim()
}

function unreadable(count: number, version: number, cause: unknown): IpriskError {
  const message =
    `The keys could not be read: ${messageOf(cause)}. The ${count} keys held since ` +
    `version ${version} stay in use; the next refresh tries again.`
  return environmentError('keys_unreadable', message, { retryable: true, cause })
}

function evictOldest(verified: Map<string, Verified>): void {
  if (verified.size < verifiedKeysMax) return
  // A Map keeps insertion order.
  const [oldest = ''] = verified.keys()
  verified.delete(oldest)
}

export interface KeyringOptions {
  readonly store: KeyStore
  readonly plans: Plans
  readonly limiter: Pick<Limiter, 'bind' | 'release'>
  /** Called at least for the first verification of a value on each day. */
  readonly onVerified?: ((keyId: string, now: number) => void) | undefined
  /** Called when invalid records appear or go: the new ones, and the total. */
  readonly onSkipped?: ((came: readonly SkippedKey[], count: number) => void) | undefined
}

/** Denies every key until the first `refresh` has resolved. */
export function createKeyring(options: KeyringOptions) {
  const { store, limiter, onVerified, onSkipped } = options
  let terms: Terms = options
  const { keys, ...held } = createHeldKeys(limiter.release)
  const verified = new Map<string, Verified>()
  let version = 0
  let known = false
  let now = 0

  function verify(authorization: string, api: ApiName): AuthOutcome {
    const text = parseKeyText(bearerText(authorization))
    if (text === undefined) return denied.key
    const key = keys.get(text.id)
    if (key === undefined || key.until <= now) return denied.key
    // Each prefix has its own checksum; only the key's own prefix is accepted.
    if ((text.test === true) !== (key.inputs.test === true)) return denied.key
    const hash = hashSecret(text.secret)
    for (const secret of key.secrets) {
      if (secret.until <= now || !sameHash(secret.hash, hash)) continue
      const { outcomes } = key
      evictOldest(verified)
      verified.set(authorization, { until: Math.min(key.until, secret.until), outcomes })
      onVerified?.(text.id, now)
      return outcomes[api]
    }
    return denied.key
  }

  function authenticate(authorization: string, api: ApiName = 'ip-risk'): AuthOutcome {
    const warm = verified.get(authorization)
    if (warm !== undefined) {
      if (warm.until > now) return warm.outcomes[api]
      verified.delete(authorization)
    }
    return verify(authorization, api)
  }

  /** Reads changes and moves the clock, even on failure (`keys_unreadable`). */
  async function refresh(at: number): Promise<void> {
    // Each day verifies every value again, which records its use.
    if (dayOf(at) !== dayOf(now)) verified.clear()
    now = at
    const changes = await store.changes(version).catch((cause: unknown) => {
      throw unreadable(keys.size, version, cause)
    })
    known = true
    // Concurrent refreshes may finish out of order.
    if (changes.version <= version) return
    const before = held.skippedCount()
    for (const record of changes.records) held.take(record.id, toHeldKey(record, terms))
    for (const row of changes.skipped) held.skip(row)
    version = changes.version
    verified.clear()
    const count = held.skippedCount()
    if (changes.skipped.length > 0 || count !== before) onSkipped?.(changes.skipped, count)
  }

  function usePlans(changed: Plans): void {
    terms = { ...terms, plans: changed }
    store.usePlans?.(changed)
    for (const [id, key] of keys) {
      keys.set(id, { ...key, outcomes: outcomesOf(key.inputs, terms) })
    }
    verified.clear()
  }

  return {
    authenticate,
    refresh,
    usePlans,
    /** Whether the text is the secret of a held key: one hash and one look-up. */
    holds: held.holds,
    /** Until the first refresh, every key is denied. */
    known: () => known,
    version: () => version,
    counts: () => ({ keys: keys.size, verified: verified.size }),
  }
}
