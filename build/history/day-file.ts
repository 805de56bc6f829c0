// A day's file: Parquet, one row per distinct range, sorted. Addresses are two UBIGINT halves, IPv4
// in the low one, which every Parquet reader keeps lossless (DuckDB writes a 128-bit integer as a
// double).
//
//   family  first_high  first_low  last_high  last_low  lists  provider  category  day
//   4       0           3405803776 0          3405804031 null  null      null      2026-08-22
//
// The key-value metadata is the manifest: iprisk_feed, iprisk_day, iprisk_rows, iprisk_details
// (rows with lists, provider or category) and iprisk_hash (day-content.ts).

import { type Day, formatDay, parseDay } from '../../src/base/day.ts'
import type { Family } from '../../src/ip/address.ts'
import type { DayContent, ListedRange } from './day-content.ts'
import { type DuckDb, type ParquetColumn, readParquetSql, sqlQuote } from './duckdb.ts'

const lowMask = (1n << 64n) - 1n

const columnsOf = (day: Day): readonly ParquetColumn<ListedRange>[] => [
  { name: 'family', type: 'tinyint', of: ({ range }) => range.family },
  { name: 'first_high', type: 'ubigint', of: ({ range }) => range.first >> 64n },
  { name: 'first_low', type: 'ubigint', of: ({ range }) => range.first & lowMask },
  { name: 'last_high', type: 'ubigint', of: ({ range }) => range.last >> 64n },
  { name: 'last_low', type: 'ubigint', of: ({ range }) => range.last & lowMask },
  { name: 'lists', type: 'uinteger', of: ({ lists }) => lists ?? null },
  { name: 'provider', type: 'text', of: ({ provider }) => provider ?? null },
  { name: 'category', type: 'text', of: ({ category }) => category ?? null },
  { name: 'day', type: 'date', of: () => day },
]

interface DayMetadata {
  readonly feed: string
  readonly day: Day
  readonly rowCount: number
  readonly detailCount: number
  readonly hash: string
}

export async function writeDayFile(
  duck: DuckDb,
  path: string,
  of: { readonly feed: string; readonly day: Day; readonly content: DayContent },
): Promise<void> {
  const { feed, day, content } = of
  const { rows, detailCount, hash } = content
  const about = {
    iprisk_feed: feed,
    iprisk_day: formatDay(day),
    iprisk_rows: String(rows.length),
    iprisk_details: String(detailCount),
    iprisk_hash: hash,
  }
  await duck.writeParquet({ path, columns: columnsOf(day), rows, about })
}

/** Throws if the file is damaged. */
export async function readDayRows(duck: DuckDb, path: string): Promise<ListedRange[]> {
  const rows: ListedRange[] = []
  await duck.stream(`select * exclude day from ${readParquetSql([path])}`, ({ count, columns }) => {
    const at = (column: number, row: number): unknown => columns[column]?.getItem(row)
    const text = (column: number, row: number): string | undefined =>
      (at(column, row) as string | null) ?? undefined
    for (let row = 0; row < count; row++) {
      const half = (column: number): bigint => at(column, row) as bigint
      rows.push({
        range: {
          family: at(0, row) as Family,
          first: (half(1) << 64n) | half(2),
          last: (half(3) << 64n) | half(4),
        },
        lists: (at(5, row) as number | null) ?? undefined,
        provider: text(6, row),
        category: text(7, row),
      })
    }
  })
  return rows
}

/** Keyed by path; files that are not complete day files are left out. */
export async function readDayMetadata(
  duck: DuckDb,
  paths: readonly string[],
): Promise<ReadonlyMap<string, DayMetadata>> {
  if (paths.length === 0) return new Map()
  const query =
    'select file_name, decode(key), decode(value) ' +
    `from parquet_kv_metadata([${paths.map(sqlQuote).join(', ')}])`
  try {
    return parseDayMetadata(await duck.all(query))
  } catch {
    // One damaged file fails the whole query: query each alone.
    if (paths.length === 1) return new Map()
    const found = new Map<string, DayMetadata>()
    for (const path of paths) {
      for (const [key, value] of await readDayMetadata(duck, [path])) found.set(key, value)
    }
    return found
  }
}

function parseDayMetadata(rows: readonly (readonly unknown[])[]): ReadonlyMap<string, DayMetadata> {
  const byPath = new Map<string, Map<string, string>>()
  for (const [path, key, value] of rows as readonly (readonly [string, string, string])[]) {
    const members = byPath.get(path) ?? new Map<string, string>()
    byPath.set(path, members.set(key, value))
  }
  const found = new Map<string, DayMetadata>()
  for (const [path, members] of byPath) {
    const feed = members.get('iprisk_feed')
    const day = parseDay(members.get('iprisk_day') ?? '')
    const hash = members.get('iprisk_hash')
    if (feed === undefined || day === undefined || hash === undefined) continue
    const count = (key: string): number => Number(members.get(key))
    const [rowCount, detailCount] = [count('iprisk_rows'), count('iprisk_details')]
    found.set(path, { feed, day, hash, rowCount, detailCount })
  }
  return found
}
