// A row of a store is a key or an invalid row: every member at its limits and one beyond, and what
// an invalid row tells about itself.

import { describe, expect, it } from 'vitest'
import {
  isSkipped,
  oldestFirst,
  parseRecord,
  readRecord,
  recordFault,
  recordOf,
  shownId,
  skippedText,
  sortRows,
} from '../../../src/account/keys/read-record.ts'
import type { KeyRecord } from '../../../src/account/keys/key-record.ts'

const id = 'abcdefghijk1'
const secret = { hash: 'a'.repeat(64), createdAt: 0 }
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const lastDay = Math.floor(lastInstant / 86_400_000)

const row = (members: object = {}): object => {
  const needed = { id, name: '', plan: 'free', apis: [], createdAt: 0, secrets: [secret] }
  return { ...needed, ...members }
}
const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `name-${at}`)

/** Members at a limit, and the same one step beyond. */
const limits: readonly (readonly [what: string, within: object, beyond: object])[] = [
  ['a name of 100 characters', { name: 'n'.repeat(100) }, { name: 'n'.repeat(101) }],
  ['a printable name', { name: 'Zoë, 1 °C' }, { name: 'a\u0000b' }],
  ['a plan of 64 characters', { plan: 'p'.repeat(64) }, { plan: 'p'.repeat(65) }],
  ['a plan in small letters', { plan: 'a_1-b' }, { plan: 'Plan' }],
  ['100 APIs', { apis: names(100) }, { apis: names(101) }],
  ['APIs that differ', { apis: ['check', 'batch'] }, { apis: ['check', 'check'] }],
  ['the first instant', { createdAt: 0 }, { createdAt: -1 }],
  ['the last instant', { createdAt: lastInstant }, { createdAt: lastInstant + 1 }],
  ['a whole instant', { revokedAt: 1 }, { revokedAt: 1.5 }],
  ['the last day', { expires: lastDay }, { expires: lastDay + 1 }],
  ['a rate above 0', { limits: { perSecond: 0.001 } }, { limits: { perSecond: 0 } }],
  ['a rate of a million', { limits: { perSecond: 1e6 } }, { limits: { perSecond: 1e6 + 0.001 } }],
  ['a burst of one', { limits: { burst: 1 } }, { limits: { burst: 0 } }],
  ['a burst of ten million', { limits: { burst: 1e7 } }, { limits: { burst: 1e7 + 1 } }],
  ['a quota of one', { limits: { quotaPerMonth: 1 } }, { limits: { quotaPerMonth: 0 } }],
  [
    'a quota of 15 digits',
    { limits: { quotaPerMonth: 1e15 - 1 } },
    { limits: { quotaPerMonth: 1e15 } },
  ],
  ['one policy', { policies: ['default'] }, { policies: [] }],
  ['32 policies', { policies: names(32) }, { policies: names(33) }],
  ['a test key', { test: true }, { test: false }],
  ['one secret', { secrets: [secret] }, { secrets: [] }],
  ['two secrets', { secrets: [secret, secret] }, { secrets: [secret, secret, secret] }],
  ['no secret once revoked', { secrets: [], revokedAt: 1 }, { secrets: [], revokedAt: -1 }],
  [
    'a secret that ends',
    { secrets: [{ ...secret, expiresAt: lastInstant }] },
    { secrets: [{ ...secret, expiresAt: lastInstant + 1 }] },
  ],
  [
    'a hash of 64 digits',
    { secrets: [{ ...secret, hash: '0123456789abcdef'.repeat(4) }] },
    { secrets: [{ ...secret, hash: 'a'.repeat(63) }] },
  ],
  ['unknown members', { tomorrow: 1 }, { tomorrow: 1, plan: undefined }],
]

describe('a row', () => {
  it.each(limits)('may have %s and nothing beyond', (_, within, beyond) => {
    expect(recordFault(id, row(within))).toBeUndefined()
    const member = Object.keys(beyond).at(-1)!
    expect(recordFault(id, row(beyond))).toMatch(new RegExp(`^its (?:${member}|secrets) must be `))
  })

  it('must be an object with the id that it is stored under', () => {
    expect(recordFault('abcdefghijk', row())).toBe('its id must be 12 letters and digits')
    expect(recordFault(id, [row()])).toBe('it must be an object')
    expect(recordFault(id, row({ id: 'abcdefghijk2' }))).toBe('its id is that of a different key')
  })

  it('may have 16,384 characters', () => {
    const text = (chars: number): string => {
      const bare = JSON.stringify(row({ more: '' }))
      return bare.replace('"more":""', `"more":"${'m'.repeat(chars - bare.length)}"`)
    }
    expect(parseRecord(id, text(16_384))).toMatchObject({ id, plan: 'free' })
    expect(parseRecord(id, text(16_385))).toEqual({
      id,
      isRevoked: false,
      why: 'it has more than 16384 characters',
    })
    expect(parseRecord(id, '{')).toEqual({ id, isRevoked: false, why: 'it is not JSON' })
  })
})

describe('an invalid row', () => {
  it('says whether its key was revoked', () => {
    const revoked = (members: object) => readRecord(id, row({ plan: 1, ...members }))
    expect(revoked({})).toMatchObject({ isRevoked: false })
    expect(revoked({ revokedAt: null })).toMatchObject({ isRevoked: false })
    expect(revoked({ revokedAt: 5 })).toMatchObject({ isRevoked: true })
    expect(readRecord(id, 'text')).toMatchObject({ isRevoked: false })
  })

  it('is kept apart and cannot be changed as a key', () => {
    const sound = readRecord(id, row())
    const unsound = readRecord('abcdefghijk2', row())
    expect([isSkipped(sound), isSkipped(unsound)]).toEqual([false, true])
    expect(sortRows([unsound, sound])).toEqual({ records: [sound], skipped: [unsound] })
    expect(recordOf(sound)).toBe(sound)
    expect(() => recordOf(unsound)).toThrow(/abcdefghijk2/)
  })

  it('is named so that a terminal can show it', () => {
    expect(shownId(id)).toBe(id)
    expect(shownId('a\u001bb')).toBe('"a\\u001bb"')
    expect(shownId('x'.repeat(24))).toBe(`"${'x'.repeat(24)}"`)
    expect(shownId('x'.repeat(25))).toBe(`"${'x'.repeat(24)}…"`)
    expect(skippedText({ id, why: 'it is not JSON', isRevoked: false })).toBe(
      `The record of key ${id} is invalid, so the key gets 401: it is not JSON.`,
    )
  })
})

it('lists keys oldest first, those of one instant by id', () => {
  const key = (name: string, createdAt: number): KeyRecord =>
    ({ ...row(), id: name, createdAt }) as KeyRecord
  const records = [key('c', 2), key('b', 1), key('a', 2), key('d', 0)]
  const sorted = oldestFirst({ records, skipped: [] }).records.map((record) => record.id)
  expect(sorted).toEqual(['d', 'b', 'a', 'c'])
})
