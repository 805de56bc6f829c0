// Key records as they are read from a store or a backup: rows may come from another version, a
// restored copy or somebody's hand, so each is checked before it is used. A row that fails is
// skipped: its key gets 401, and all other keys work on.
//
// Invariants: nothing here throws for what a row says; a text that is made here names the id of a
// key and the member that is wrong, never a value, for that may be a hash or a secret. Members that
// this version does not know are kept and ignored.

import { IpriskError } from '../../base/coded-error.ts'
import { type JsonObject, isJsonObject, isWhole, parseJson } from '../../base/json-object.ts'
import { redactKeys } from '../../base/key-form.ts'
import * as limits from '../../base/limits.ts'
import { escapeControls } from '../../base/text/control-characters.ts'
import type { KeyRecord } from './key-record.ts'
import type { KeyRows } from './key-store.ts'
import { isKeyId } from './key-text.ts'

/** A row that cannot be used. */
export interface SkippedKey {
  /** As the store has it: for people, `shownId` escapes and cuts it. */
  readonly id: string
  /** What is wrong, as the end of a sentence. */
  readonly why: string
  /** The row still says that the key is revoked. */
  readonly isRevoked: boolean
}

export type KeyRow = KeyRecord | SkippedKey

export const isSkipped = (row: KeyRow): row is SkippedKey => 'why' in row

const absentOr =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || test(value)

const within =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    isWhole(value, min, max)

/** Both end with the year 9999, as texts of four digits do. */
const isInstant = within(0, 253_402_300_799_999)
export const isDay = within(0, 2_932_896)

/** Of plans, APIs and policies, those of later versions included. */
const isName = (value: unknown): boolean =>
  typeof value === 'string' && /^[a-z][a-z0-9_-]{0,63}$/.test(value)

const isLabel = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= limits.keyNameCharsMax && !/\p{C}/u.test(value)

/** A list of different names. */
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

/** Only what is left of a revoked key may have none. */
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
  ['apis', areNames(0, apisMax), 'a list of different APIs'],
  ['createdAt', isInstant, 'milliseconds since 1970'],
  ['expires', absentOr(isDay), 'days since 1970, or absent'],
  ['revokedAt', absentOr(isInstant), 'milliseconds since 1970, or absent'],
  ['limits', absentOr(areLimits), 'an object of numbers within their bounds, or absent'],
  ['policies', absentOr(areNames(1, limits.policiesMax)), 'a list of different names, or absent'],
  ['test', absentOr((value) => value === true), 'true, or absent'],
  ['secrets', areSecrets, `1 to ${limits.secretsLiveMax} secrets, each with its hash and instants`],
]

/** What is wrong with a value as the record of that key; `undefined`: nothing is. */
export function recordFault(id: string, value: unknown): string | undefined {
  if (!isKeyId(id)) return 'an id is 12 letters and digits'
  if (!isJsonObject(value)) return 'it must be an object'
  if (value['id'] !== id) return 'its id is that of another key'
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

/** The row of that key; `open` gives the record of what the text is, where it holds more. */
export function parseRecord(
  id: string,
  text: string,
  open: (value: unknown) => unknown = (value) => value,
): KeyRow {
  const skipped = { id, isRevoked: false }
  if (text.length > limits.keyRecordCharsMax) {
    return { ...skipped, why: `it has more than ${limits.keyRecordCharsMax} characters` }
  }
  const value = parseJson(text)
  return value === undefined ? { ...skipped, why: 'it is not JSON' } : readRecord(id, open(value))
}

/** A row that a store names and does not have. */
export const missingRecord = (id: string): SkippedKey => ({
  id,
  why: 'the store has no record of it',
  isRevoked: false,
})

/**
 * What an update makes of a row: `change` of a record, `mend` of what is none. Throws
 * `key_unreadable` where there is no `mend`.
 */
export function updatedRecord(
  row: KeyRow,
  change: (record: KeyRecord) => KeyRecord,
  mend?: (skipped: SkippedKey) => KeyRecord,
): KeyRecord {
  if (!isSkipped(row)) return change(row)
  if (mend === undefined) throw unreadableKeyError(row)
  return mend(row)
}

/** The record of a row; throws `key_unreadable`. */
export const recordOf = (row: KeyRow): KeyRecord => updatedRecord(row, (record) => record)

/** Tells records from rows that cannot be used. */
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

/** An id for people: what is none is escaped and cut, and never the text of a key. */
export function shownId(id: string): string {
  if (isKeyId(id)) return id
  const text = redactKeys(id.slice(0, 1000))
  const cut = text.length > shownChars ? `${text.slice(0, shownChars)}…` : text
  return escapeControls(JSON.stringify(cut))
}

/** The same for logs, warnings and errors; the next step is the reader's. */
export function skippedText({ id, why }: SkippedKey): string {
  return `The record of the key ${shownId(id)} cannot be used, so the key gets 401: ${why}.`
}

/** What to do about it. */
export const skippedAdvice =
  '"iprisk state restore FILE" replaces it by that of a copy; "iprisk keys revoke ID" ends the key.'

function unreadableKeyError(skipped: SkippedKey): IpriskError {
  const message = `${skippedText(skipped)} ${skippedAdvice}`
  return new IpriskError({ code: 'key_unreadable', message, fault: 'environment' })
}
