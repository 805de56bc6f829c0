// A key as people and other programs may see it: every member of its record but the hashes of its
// secrets. Used by listings and by the audit log. Times are ISO 8601, UTC; limits that are absent
// are null.

import { formatDay } from '../../base/day.ts'
import { timeText } from '../../base/number-format.ts'
import type { KeyRecord } from './key-record.ts'

export interface KeyFacts {
  readonly name: string
  readonly plan: string
  readonly apis: readonly string[]
  readonly created_at: string
  readonly expires: string | null
  readonly revoked_at: string | null
  readonly rate: number | null
  readonly burst: number | null
  readonly quota: number | null
  readonly secrets: readonly {
    readonly created_at: string
    readonly expires_at: string | null
  }[]
}

const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : timeText(ms)

export function factsOf(record: KeyRecord): KeyFacts {
  const { name, plan, apis, createdAt, expires, revokedAt, secrets, limits } = record
  return {
    name,
    plan,
    apis,
    created_at: timeText(createdAt),
    expires: expires === undefined ? null : formatDay(expires),
    revoked_at: timeOrNull(revokedAt),
    rate: limits?.perSecond ?? null,
    burst: limits?.burst ?? null,
    quota: limits?.quotaPerMonth ?? null,
    secrets: secrets.map((secret) => ({
      created_at: timeText(secret.createdAt),
      expires_at: timeOrNull(secret.expiresAt),
    })),
  }
}
