// The record of each stored file in `<feed-id>/snapshots.json`, and in `snapshots.next.json` while
// a set is being put in place. snapshot-store.ts reads and writes the files.

import { z } from 'zod'
import { type Day, formatDay, parseDay } from '../../src/base/day.ts'
import { parseJson } from '../../src/base/json-object.ts'
import { dayText } from '../../src/config/setting-checks.ts'

/** A name within its folder. */
export const plainName = z.string().regex(/^\.?[A-Za-z0-9][A-Za-z0-9._-]*$/)

export const writtenDay = z.codec(dayText, z.custom<Day>(), {
  decode: (text) => parseDay(text) as Day,
  encode: formatDay,
})

const record = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int(),
  /** The day of the fetch, or stated by the mirror; never a file's time. */
  day: writtenDay,
  from: z.enum(['mirror', 'publisher']),
  /** Without credentials. */
  url: z.string(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
  fetchedAt: z.string(),
  /** The first fetch of these bytes; absent in records of older versions. */
  since: writtenDay.optional(),
  /** The current name of a new file in an unfinished set. */
  temporary: plainName.optional(),
})

const written = z.object({ version: z.literal(1), files: z.record(plainName, record) })

export type SnapshotRecord = Readonly<z.output<typeof record>>

export type SnapshotSet = Readonly<Record<string, SnapshotRecord>>

export function formatSnapshotSet(set: SnapshotSet): string {
  const names = Object.keys(set).sort()
  const files = Object.fromEntries(names.map((name) => [name, set[name]!]))
  return `${JSON.stringify(z.encode(written, { version: 1, files }), undefined, 2)}\n`
}

/** `undefined` for invalid text. */
export const parseSnapshotSet = (text: string): SnapshotSet | undefined =>
  written.safeParse(parseJson(text)).data?.files
