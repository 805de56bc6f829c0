// A key as stored, without the secret itself. Every change makes a new record, by the pure
// functions here.

import type { KeySummary } from '../../api/admin-answers.ts'
import { type Day, dayOf, formatDay } from '../../base/day.ts'
import { secretsLiveMax } from '../../base/limits.ts'
import { formatTime } from '../../base/text/number-format.ts'
import type { ApiName } from '../../config/plan.ts'
import { hashSecret } from './secret-hash.ts'

/** Times are milliseconds since the epoch. */
export interface StoredSecret {
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string
  readonly createdAt: number
  /** Absent: as long as the key. */
  readonly expiresAt?: number | undefined
}

/** The key's own limits; the plan's for absent ones. */
export interface KeyLimitOverrides {
  readonly perSecond?: number | undefined
  readonly burst?: number | undefined
  readonly quotaPerMonth?: number | undefined
}

export interface KeyRecord {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly apis: readonly ApiName[]
  readonly createdAt: number
  /** The first day, UTC, on which the key no longer works. */
  readonly expires?: Day | undefined
  readonly revokedAt?: number | undefined
  /** Oldest first, at most two. */
  readonly secrets: readonly StoredSecret[]
  readonly limits?: KeyLimitOverrides | undefined
  /** The policies that its requests may choose, its default first; absent: only `default`. */
  readonly policies?: readonly string[] | undefined
  /** A test key (contract 5.7: test keys), permanently. */
  readonly test?: true | undefined
}

export type NewKey = Pick<
  KeyRecord,
  'name' | 'plan' | 'apis' | 'expires' | 'limits' | 'policies' | 'test'
>

export function newRecord(
  key: NewKey,
  made: { readonly id: string; readonly secret: string; readonly now: number },
): KeyRecord {
  const secrets = [{ hash: hashSecret(made.secret).toString('hex'), createdAt: made.now }]
  return { id: made.id, ...key, createdAt: made.now, secrets }
}

/** Replaces a lost or unreadable record: revoked, without secrets. */
export function lostRecord(id: string, now: number): KeyRecord {
  return { id, name: '', plan: 'none', apis: [], createdAt: now, revokedAt: now, secrets: [] }
}

/** Keeps the time of an earlier revocation. */
export const revokedRecord = (record: KeyRecord, now: number): KeyRecord =>
  record.revokedAt === undefined ? { ...record, revokedAt: now } : record

/**
 * Adds a secret. The newest old one works until `oldExpiresAt` or its own earlier end; others are
 * dropped.
 */
export function rotatedRecord(
  record: KeyRecord,
  change: { readonly secret: string; readonly now: number; readonly oldExpiresAt: number },
): KeyRecord {
  const old = record.secrets
    .filter((secret) => Math.min(secret.expiresAt ?? Infinity, change.oldExpiresAt) > change.now)
    .slice(-(secretsLiveMax - 1))
    .map((secret) => ({
      ...secret,
      expiresAt: Math.min(secret.expiresAt ?? Infinity, change.oldExpiresAt),
    }))
  const fresh = { hash: hashSecret(change.secret).toString('hex'), createdAt: change.now }
  return { ...record, secrets: [...old, fresh] }
}

export type KeyState = 'live' | 'expired' | 'revoked'

export function keyState(record: KeyRecord, now: number): KeyState {
  if (record.revokedAt !== undefined) return 'revoked'
  return record.expires !== undefined && record.expires <= dayOf(now) ? 'expired' : 'live'
}

/**
 * A key for people, programs and the audit log: everything but the hashes. ISO 8601 UTC times; null
 * for absent limits.
 */
const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : formatTime(ms)

export function summarizeKey(record: KeyRecord): KeySummary {
  const { name, plan, apis, createdAt, expires, revokedAt, secrets, limits, test } = record
  return {
    name,
    plan,
    apis,
    created_at: formatTime(createdAt),
    expires: expires === undefined ? null : formatDay(expires),
    revoked_at: timeOrNull(revokedAt),
    rate: limits?.perSecond ?? null,
    burst: limits?.burst ?? null,
    quota: limits?.quotaPerMonth ?? null,
    policies: record.policies ?? null,
    test,
    secrets: secrets.map((secret) => ({
      created_at: formatTime(secret.createdAt),
      expires_at: timeOrNull(secret.expiresAt),
    })),
  }
}
