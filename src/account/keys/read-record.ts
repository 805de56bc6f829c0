// Validates key records from a store or backup, which may come from another version, a restored copy
// or a manual edit. An invalid row is skipped, never thrown for: its key gets 401, all others work.
// Messages name the key's id and the wrong member, never a value, which may be secret. Unknown
// members are kept.

import { environmentError } from '../../base/coded-error.ts'
import { type JsonObject, isJsonObject, isWhole, parseJson } from '../../base/json-object.ts'
import { redactKeys } from '../../base/key-form.ts'
import * as limits from '../../base/limits.ts'
import { escapeControls } from '../../base/text/clean-text.ts'
import type { KeyRecord } from './key-record.ts'
import { isKeyId } from './key-text.ts'

/** The largest record has about 2,500 characters; later versions may add members. */
const keyRecordCharsMax = 16_384

export interface SkippedKey {
  /** As stored; print it with `shownId`. */
  readonly id: string
  /** A clause. */
  readonly why: string
  readonly isRevoked: boolean
}

export type KeyRow = KeyRecord | SkippedKey

export interface KeyRows {
  readonly records: readonly KeyRecord[]
  readonly skipped: readonly SkippedKey[]
}

export const isSkipped = (row: KeyRow): row is SkippedKey => 'why' in row

const absentOr =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || test(value)

const within =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    isWhole(value, min, max)

/** Both end with the year 9999. */
const isInstant = within(0, 253_402_300_799_999)
export const isDay = within(0, 2_932_896)

/** A plan, an API or a policy, possibly of a later version. */
const isName = (value: unknown): boolean =>
  typeof value === 'string' && /^[a-z][a-z0-9_-]{0,63}$/.test(value)

const isLabel = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= limits.keyNameCharsMax && !/\p{C}/u.test(value)

const areNames =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    Array.isArray(value) &&
    within(min, max)(value.length) &&
    value.every(isName) &&
    new Set(value).size === value.length

const isSecret = (value: unknown): boolean =>
  isJsonObject(value) &&
  typeof value['hash'] === 'string' &&
  /^[0-9a-f]{64}$/.test(value['hash']) &&
  isInstant(value['createdAt']) &&
  absentOr(isInstant)(value['expiresAt'])

/** Only a revoked key may have none. */
const areSecrets = (value: unknown, { revokedAt }: JsonObject): boolean =>
  Array.isArray(value) &&
  within(revokedAt === undefined ? 1 : 0, limits.secretsLiveMax)(value.length) &&
  value.every(isSecret)

const isRate = (value: unknown): boolean =>
  typeof value === 'number' && value > 0 && value <= limits.ratePerSecondMax

const areLimits = (value: unknown): boolean =>
  isJsonObject(value) &&
  absentOr(isRate)(value['perSecond']) &&
  absentOr(within(1, limits.rateBurstMax))(value['burst']) &&
  absentOr(within(1, limits.quotaPerMonthMax))(value['quotaPerMonth'])

const apisMax = 100

const checks: readonly (readonly [
  name: keyof KeyRecord,
  isSound: (value: unknown, record: JsonObject) => boolean,
  allowed: string,
])[] = [
  ['name', isLabel, `printable text of at most ${limits.keyNameCharsMax} characters`],
  ['plan', isName, 'the name of a plan'],
  ['apis', areNames(0, apisMax), 'a list of distinct APIs'],
  ['createdAt', isInstant, 'milliseconds since 1970'],
  ['expires', absentOr(isDay), 'days since 1970, or absent'],
  ['revokedAt', absentOr(isInstant), 'milliseconds since 1970, or absent'],
  ['limits', absentOr(areLimits), 'an object of numbers within their limits, or absent'],
  ['policies', absentOr(areNames(1, limits.policiesMax)), 'a list of distinct names, or absent'],
  ['test', absentOr((value) => value === true), 'true, or absent'],
  ['secrets', areSecrets, `1 to ${limits.secretsLiveMax} secrets, each with its hash and instants`],
]

/** What is wrong with a record; `undefined` if it is valid. */
export function recordFault(id: string, value: unknown): string | undefined {
  if (!isKeyId(id)) return 'its id must be 12 letters and digits'
  if (!isJsonObject(value)) return 'it must be an object'
  if (value['id'] !== id) return 'its id is that of a different key'
  for (const [name, isSound, allowed] of checks) {
    if (!isSound(value[name], value)) return `its ${name} must be ${allowed}`
  }
  return undefined
}

export function readRecord(id: string, value: unknown): KeyRow {
  const why = recordFault(id, value)
  if (why === undefined) return value as KeyRecord
  const revoked = isJsonObject(value) ? (value['revokedAt'] ?? undefined) : undefined
  return { id, why, isRevoked: revoked !== undefined }
}

/** `open` extracts the record from a larger value. */
export function parseRecord(
  id: string,
  text: string,
  open: (value: unknown) => unknown = (value) => value,
): KeyRow {
  const skipped = { id, isRevoked: false }
  if (text.length > keyRecordCharsMax) {
    return { ...skipped, why: `it has more than ${keyRecordCharsMax} characters` }
  }
  const value = parseJson(text)
  return value === undefined ? { ...skipped, why: 'it is not JSON' } : readRecord(id, open(value))
}

export const missingRecord = (id: string): SkippedKey => ({
  id,
  why: 'its record is missing from the store',
  isRevoked: false,
})

/** `change` takes a valid row, `mend` an invalid one; without it, throws `key_unreadable`. */
export function updatedRecord(
  row: KeyRow,
  change: (record: KeyRecord) => KeyRecord,
  mend?: (skipped: SkippedKey) => KeyRecord,
): KeyRecord {
  if (!isSkipped(row)) return change(row)
  if (mend === undefined)
    throw environmentError('key_unreadable', `${skippedText(row)} ${skippedAdvice}`)
  return mend(row)
}

export const recordOf = (row: KeyRow): KeyRecord => updatedRecord(row, (record) => record)

export function sortRows(rows: Iterable<KeyRow>): KeyRows {
  const records: KeyRecord[] = []
  const skipped: SkippedKey[] = []
  for (const row of rows) {
    if (isSkipped(row)) skipped.push(row)
    else records.push(row)
  }
  return { records, skipped }
}

export const oldestFirst = ({ records, skipped }: KeyRows): KeyRows => ({
  records: records.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
  skipped,
})

const shownChars = 24

/** Invalid ids are escaped, cut and redacted. */
export function shownId(id: string): string {
  if (isKeyId(id)) return id
  const text = redactKeys(id.slice(0, 1000))
  const cut = text.length > shownChars ? `${text.slice(0, shownChars)}…` : text
  return escapeControls(JSON.stringify(cut))
}

export const skippedText = ({ id, why }: SkippedKey): string =>
  `The record of key ${shownId(id)} is invalid, so the key gets 401: ${why}.`

export const skippedAdvice =
  'Restore it with "iprisk state restore FILE", or revoke the key with "iprisk keys revoke ID".'
