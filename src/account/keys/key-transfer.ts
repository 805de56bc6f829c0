// Exports a store's keys to a file and imports them: hashes only. Importing is idempotent. If any
// conflicting key may not be replaced, nothing is imported; revoked keys stay revoked.

import type { KeyFile, KeyFileEntry } from '../../config/key-file.ts'
import { keyFileFormat, keyFileVersion } from '../../config/key-file.ts'
import { formatDay, parseDay } from '../../base/day.ts'
import { type KeyLimitOverrides, type KeyRecord, revokedRecord } from './key-record.ts'
import type { KeyRows } from './read-record.ts'
import { sameHash } from './secret-hash.ts'
import type { KeyStore } from './key-store.ts'

const instantText = (ms: number): string => new Date(ms).toISOString()

/** The known members, in one order. */
function limitsWritten(limits: KeyLimitOverrides | undefined): KeyLimitOverrides | undefined {
  if (limits === undefined) return undefined
  const { perSecond, burst, quotaPerMonth } = limits
  return { perSecond, burst, quotaPerMonth }
}

const optionalInstant = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : instantText(ms)

const optionalTime = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Date.parse(text)

function toFile(record: KeyRecord): KeyFileEntry {
  const { id, name, plan, apis, createdAt, expires, revokedAt, limits, policies, test, secrets } =
    record
  return {
    id,
    name,
    plan,
    apis: [...apis],
    created_at: instantText(createdAt),
    expires: expires === undefined ? undefined : formatDay(expires),
    revoked_at: optionalInstant(revokedAt),
    limits: limitsWritten(limits),
    policies: policies && [...policies],
    test,
    secrets: secrets.map((secret) => ({
      sha256: secret.hash,
      created_at: instantText(secret.createdAt),
      expires_at: optionalInstant(secret.expiresAt),
    })),
  }
}

export function fromFile(key: KeyFileEntry): KeyRecord {
  const { id, name, plan, apis, created_at, expires, revoked_at, limits, policies, test } = key
  return {
    id,
    name,
    plan,
    apis,
    createdAt: Date.parse(created_at),
    expires: expires === undefined ? undefined : parseDay(expires),
    revokedAt: optionalTime(revoked_at),
    limits: limitsWritten(limits),
    policies,
    test,
    secrets: key.secrets.map((secret) => ({
      hash: secret.sha256,
      createdAt: Date.parse(secret.created_at),
      expiresAt: optionalTime(secret.expires_at),
    })),
  }
}

/** All keys with secrets, oldest first. */
export function exportKeys({ records }: KeyRows, now: number): KeyFile {
  const keys = records.filter(({ secrets }) => secrets.length > 0).map(toFile)
  return { format: keyFileFormat, version: keyFileVersion, exported_at: instantText(now), keys }
}

/** Members in which two keys with one id differ. */
function differences(left: KeyFileEntry, right: KeyFileEntry): readonly string[] {
  const members = new Set([...Object.keys(left), ...Object.keys(right)]) as Set<keyof KeyFileEntry>
  return [...members].filter((member) =>
    member === 'secrets'
      ? !sameSecrets(left.secrets, right.secrets)
      : JSON.stringify(left[member]) !== JSON.stringify(right[member]),
  )
}

function sameSecrets(left: KeyFileEntry['secrets'], right: KeyFileEntry['secrets']): boolean {
  const bytes = (hash: string): Buffer => Buffer.from(hash, 'hex')
  return (
    left.length === right.length &&
    left.every((one, i) => {
      const other = right[i]!
      return (
        sameHash(bytes(one.sha256), bytes(other.sha256)) &&
        one.created_at === other.created_at &&
        one.expires_at === other.expires_at
      )
    })
  )
}

interface KeyConflict {
  readonly id: string
  readonly members: readonly string[]
  /** The stored key is revoked, the file's is not: it cannot be replaced. */
  readonly revoked: boolean
}

export type KeyImportPlan = Awaited<ReturnType<typeof planImport>>

/** What an import would do. */
export async function planImport(store: KeyStore, file: KeyFile) {
  const { records, skipped } = await store.list()
  const unreadable = new Map(skipped.map((row) => [row.id, row]))
  const known = new Map(records.map((record) => [record.id, toFile(record)]))
  const fresh: KeyRecord[] = []
  const conflicts: KeyConflict[] = []
  const replacements: KeyRecord[] = []
  let unchanged = 0
  for (const key of file.keys) {
    const { id } = key
    const there = known.get(id)
    const unread = unreadable.get(id)
    // The file's members may have any order; a record's have one.
    const record = fromFile(key)
    if (unread === undefined && there === undefined) {
      fresh.push(record)
      continue
    }
    const members = there
      ? differences(there, toFile(record))
      : ['everything: its record cannot be read']
    if (members.length === 0) {
      unchanged += 1
      continue
    }
    const isRevoked = there?.revoked_at !== undefined && key.revoked_at === undefined
    conflicts.push({ id, members, revoked: unread?.isRevoked ?? isRevoked })
    replacements.push(record)
  }
  return { fresh, unchanged, conflicts, replacements }
}

export async function importKeys(
  store: KeyStore,
  plan: KeyImportPlan,
  replace: boolean,
): Promise<void> {
  for (const record of plan.fresh) await store.create(record)
  if (!replace) return
  for (const record of plan.replacements) {
    // It may have been revoked since.
    await store.update(
      record.id,
      ({ revokedAt }) => ({ ...record, revokedAt: record.revokedAt ?? revokedAt }),
      ({ isRevoked }) => (isRevoked ? revokedRecord(record, Date.now()) : record),
    )
  }
}
