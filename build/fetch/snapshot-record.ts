// What the store writes down of each stored file, in `<feed-id>/snapshots.json`, and the same in
// `snapshots.next.json` while a set is being put in place. Only its form: snapshot-store.ts reads
// and writes the files.

import { type Day, formatDay, parseDay } from '../../src/base/day.ts'
import { isJsonObject, parseJson } from '../../src/base/json-object.ts'

export interface SnapshotRecord {
  readonly sha256: string
  readonly bytes: number
  /** The day of the fetch, or the mirror's word on it. Never a file's time. */
  readonly day: Day
  readonly from: 'mirror' | 'publisher'
  /** Without any credential. */
  readonly url: string
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  /** ISO 8601, UTC. */
  readonly fetchedAt: string
  /** The day of the first fetch that gave these bytes; absent in records of older versions. */
  readonly since?: Day | undefined
}

/** One set: the files of a feed that were fetched together, by name. */
export interface SnapshotSet {
  readonly files: ReadonlyMap<string, SnapshotRecord>
  /** Of a set in the making: the temporary names of those that are new. */
  readonly temporary: ReadonlyMap<string, string>
}

/** The form of the json; another version is not read. */
const VERSION = 1

export function formatSnapshotSet(set: SnapshotSet): string {
  const files = Object.fromEntries(
    [...set.files].sort(byName).map(([name, record]) => {
      const day = formatDay(record.day)
      const since = record.since === undefined ? undefined : formatDay(record.since)
      return [name, { ...record, day, since, temporary: set.temporary.get(name) }]
    }),
  )
  return `${JSON.stringify({ version: VERSION, files }, undefined, 2)}\n`
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

/** The inverse of `formatSnapshotSet`; `undefined` for anything else. */
export function parseSnapshotSet(text: string): SnapshotSet | undefined {
  const root = parseJson(text)
  if (!isJsonObject(root) || root['version'] !== VERSION || !isJsonObject(root['files']))
    return undefined
  const files = new Map<string, SnapshotRecord>()
  const temporary = new Map<string, string>()
  for (const [name, value] of Object.entries(root['files'])) {
    const record = isPlainName(name) ? parseRecord(value) : undefined
    if (record === undefined) return undefined
    files.set(name, record)
    const beside = (value as Record<string, unknown>)['temporary']
    if (typeof beside === 'string' && isPlainName(beside)) temporary.set(name, beside)
  }
  return { files, temporary }
}

function parseRecord(value: unknown): SnapshotRecord | undefined {
  if (!isJsonObject(value)) return undefined
  const { sha256, bytes, from, url, etag, lastModified, fetchedAt } = value
  const day = typeof value['day'] === 'string' ? parseDay(value['day']) : undefined
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return undefined
  if (!Number.isSafeInteger(bytes) || day === undefined) return undefined
  if (from !== 'mirror' && from !== 'publisher') return undefined
  if (typeof url !== 'string' || typeof fetchedAt !== 'string') return undefined
  return {
    sha256,
    bytes: bytes as number,
    day,
    from,
    url,
    etag: textOrNone(etag),
    lastModified: textOrNone(lastModified),
    fetchedAt,
    since: typeof value['since'] === 'string' ? parseDay(value['since']) : undefined,
  }
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A name within the folder, never a path out of it. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(name) && name !== '.' && name !== '..'
}
