// A key as people and other programs may see it: every member of its record but the hashes of its
// secrets. Used by listings and by the audit log. Times are ISO 8601, UTC; limits that are absent
// are null.

import { formatDay } from '../../base/day.ts'
import { formatTime } from '../../base/text/number-format.ts'
import { optionalMember } from '../../base/optional-member.ts'
import type { KeySummary } from '../../api/admin-answers.ts'
import type { KeyRecord } from './key-record.ts'

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
    ...optionalMember('test', test),
    secrets: secrets.map((secret) => ({
      created_at: formatTime(secret.createdAt),
      expires_at: timeOrNull(secret.expiresAt),
    })),
  }
}
