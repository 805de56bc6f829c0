// Records: making, revoking, rotating; and the limits that follow from a plan and a key.

import { describe, expect, it } from 'vitest'
import type { KeyLimitOverrides, KeyRecord } from '../../../src/account/keys/key-record.ts'
import {
  keyState,
  newRecord,
  revokedRecord,
  rotatedRecord,
} from '../../../src/account/keys/key-record.ts'
import { effectiveLimits } from '../../../src/account/keys/key-limits.ts'
import { hashSecret } from '../../../src/account/keys/secret-hash.ts'
import type { Day } from '../../../src/base/day.ts'
import type { Plan } from '../../../src/config/plan.ts'

const day = 86_400_000
const made = { id: 'aaaaaaaaaaaa', secret: 'first', now: 1000 }
const key = newRecord({ name: 'n', plan: 'team', apis: ['ip-risk'] }, made)
const hashes = (record: KeyRecord): string[] => record.secrets.map((secret) => secret.hash)
const hash = (secret: string): string => hashSecret(secret).toString('hex')

describe('a record', () => {
  it('holds the hash of the secret and not the secret', () => {
    expect(hashes(key)).toEqual([hash('first')])
    expect(JSON.stringify(key)).not.toContain('first')
  })

  it('keeps the time of its first revocation', () => {
    const revoked = revokedRecord(key, 5000)
    expect(revoked.revokedAt).toBe(5000)
    expect(revokedRecord(revoked, 9000).revokedAt).toBe(5000)
    expect(key.revokedAt).toBeUndefined()
  })

  it('is live until the first instant of the day of its expiry', () => {
    const expiring = { ...key, expires: 3 as Day }
    expect(keyState(expiring, 3 * day - 1)).toBe('live')
    expect(keyState(expiring, 3 * day)).toBe('expired')
    expect(keyState(revokedRecord(expiring, 1), 3 * day)).toBe('revoked')
    expect(keyState(key, Number.MAX_SAFE_INTEGER / 2)).toBe('live')
  })
})

describe('rotation', () => {
  const once = rotatedRecord(key, { secret: 'second', now: 2000, oldExpiresAt: 9000 })

  it('leaves the old secret its grace', () => {
    expect(once.secrets).toEqual([
      { hash: hash('first'), createdAt: 1000, expiresAt: 9000 },
      { hash: hash('second'), createdAt: 2000 },
    ])
  })

  it('never leaves more than two, and drops the oldest', () => {
    const twice = rotatedRecord(once, { secret: 'third', now: 3000, oldExpiresAt: 10_000 })
    expect(hashes(twice)).toEqual([hash('second'), hash('third')])
  })

  it('drops the old one at once where there is no grace', () => {
    const hard = rotatedRecord(once, { secret: 'third', now: 3000, oldExpiresAt: 3000 })
    expect(hashes(hard)).toEqual([hash('third')])
  })

  it('never lengthens the life of a secret', () => {
    const short: KeyRecord = { ...key, secrets: [{ hash: 'x', createdAt: 1, expiresAt: 4000 }] }
    const change = { secret: 'second', now: 2000, oldExpiresAt: 9000 }
    expect(rotatedRecord(short, change).secrets[0]?.expiresAt).toBe(4000)
    expect(rotatedRecord(short, { ...change, now: 4000 }).secrets).toHaveLength(1)
  })
})

describe('limits', () => {
  const team: Plan = {
    name: 'team',
    apis: ['ip-risk'],
    rate: { perSecond: 50, burst: 100 },
    quotaPerMonth: 1000,
    insights: 'never',
  }
  const open: Plan = { name: 'open', apis: ['ip-risk'], insights: 'never' }

  it.each<[string, Plan, KeyLimitOverrides | undefined, ReturnType<typeof effectiveLimits>]>([
    ['the plan’s', team, undefined, { rate: team.rate!, quotaPerMonth: 1000 }],
    ['none', open, undefined, {}],
    [
      'rate: twice as burst',
      team,
      { perSecond: 10 },
      { rate: { perSecond: 10, burst: 20 }, quotaPerMonth: 1000 },
    ],
    ['burst alone', team, { burst: 7 }, { rate: { perSecond: 50, burst: 7 }, quotaPerMonth: 1000 }],
    ['burst without any rate', open, { burst: 7 }, {}],
    [
      'all',
      open,
      { perSecond: 1, burst: 5, quotaPerMonth: 9 },
      { rate: { perSecond: 1, burst: 5 }, quotaPerMonth: 9 },
    ],
  ])('are %s', (_, plan, own, limits) => {
    expect(effectiveLimits(plan, own)).toEqual(limits)
  })
})
