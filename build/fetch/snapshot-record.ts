// What the store writes down of each stored file, in `<feed-id>/snapshots.json`, and the same in
// `snapshots.next.json` while a set is being put in place. Only its form: snapshot-store.ts reads
// and writes the files.

import { z } from 'zod'
import { type Day, formatDay, parseDay } from '../../src/base/day.ts'
import { parseJson } from '../../src/base/json-object.ts'
import { dayText } from '../../src/config/setting-checks.ts'

/** A name within its folder, never a path out of it. */
export const plainName = z.string().regex(/^\.?[A-Za-z0-9][A-Za-z0-9._-]*$/)

export const writtenDay = z.codec(dayText, z.custom<Day>(), {
  decode: (text) => parseDay(text) as Day,
  encode: formatDay,
})

const record = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int(),
  /** The day of the fetch, or the mirror's word on it. Never a file's time. */
  day: writtenDay,
  from: z.enum(['mirror', 'publisher']),
  /** Without any credential. */
  url: z.string(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
  /** ISO 8601, UTC. */
  fetchedAt: z.string(),
  /** The day of the first fetch that gave these bytes; absent in records of older versions. */
  since: writtenDay.optional(),
  /** Of a new file in a set in the making: its name until then. */
  temporary: plainName.optional(),
})

/** Another version is not read. */
const written = z.object({ version: z.literal(1), files: z.record(plainName, record) })

export type SnapshotRecord = Readonly<z.output<typeof record>>

/** The files of a feed that were fetched together, by name. */
export type SnapshotSet = Readonly<Record<string, SnapshotRecord>>

export function formatSnapshotSet(set: SnapshotSet): string {
  const names = Object.keys(set).sort()
  const files = Object.fromEntries(names.map((name) => [name, set[name]!]))
  return `${JSON.stringify(z.encode(written, { version: 1, files }), undefined, 2)}\n`
}

/** The inverse of `formatSnapshotSet`; `undefined` for anything else. */
export function parseSnapshotSet(text: string): SnapshotSet | undefined {
  return written.safeParse(parseJson(text)).data?.files
}
