// From days to ranges: a feed's distinct ranges with first day, last day and the recent days on
// which each was listed. DuckDB groups, spilling to disk if needed, and returns columns per family,
// ranges ascending.
//
// The window's days are a mask, bit n for n days before `asOf`: unlike counts, masks can be merged
// (two addresses of one /64).

import { assert } from '../../src/base/assert.ts'
import type { Day } from '../../src/base/day.ts'
import { IpriskError } from '../../src/base/coded-error.ts'
import type { Family } from '../../src/ip/address.ts'
import { wordsPerStart } from '../layer/layer.ts'
import {
  type DayFile,
  type HistoryFolders,
  type KeptFeed,
  dayFiles,
  evidenceDays,
  pastKeeping,
} from './history-days.ts'
import { type ResultColumn, type DuckDb, readParquetSql } from './duckdb.ts'
import { readDayMetadata } from './day-file.ts'

/** The window of percent_days_seen (contract 3.5: proxy). */
export const windowDays = 30

assert(windowDays <= 32, 'the days of the window are bits of one word')

export interface AggregateOptions extends HistoryFolders {
  readonly asOf: Day
}

type FeedDays = Awaited<ReturnType<typeof findFeedDays>>

/** Details of a range's newest entry. */
export interface EntryDetails {
  readonly lists: number | undefined
  readonly provider: string | undefined
  readonly category: string | undefined
}

/** Rows of one family; addresses as words, most significant first. */
export interface RangeColumns {
  readonly count: number
  readonly first: Uint32Array
  readonly last: Uint32Array
  readonly firstSeen: Uint32Array
  readonly lastSeen: Uint32Array
  readonly listed: Uint32Array
}

export interface RangeBatch extends RangeColumns {
  readonly details: ((row: number) => EntryDetails) | undefined
}

/** A feed's days up to `asOf`. A damaged or foreign file counts as a missing day. */
export async function findFeedDays(duck: DuckDb, feed: KeptFeed, options: AggregateOptions) {
  const { asOf } = options
  const past = (await dayFiles(options, feed.id)).filter(({ day }) => day <= asOf)
  const countedDays = evidenceDays(feed)
  const old = new Set(pastKeeping(past, countedDays))
  const stored = past.filter((file) => !old.has(file))
  const known = await readDayMetadata(duck, pathsOf(stored))
  const files: DayFile[] = []
  const problems: string[] = []
  let detailed = false
  for (const file of stored) {
    const { day, path } = file
    const statement = known.get(path)
    if (statement === undefined) problems.push(problemOf(path))
    else if (statement.feed !== feed.id || statement.day !== day) {
      problems.push(`${path} belongs to another day or feed; the day counts as missing`)
    } else {
      files.push(file)
      if (statement.detailCount > 0) detailed = true
    }
  }
  return {
    files,
    /** Ranges last seen longer ago are dropped, except those of the newest day. */
    countedDays,
    /** Whether any row has details. */
    detailed,
    problems,
  }
}

const pathsOf = (files: readonly DayFile[]): readonly string[] => files.map(({ path }) => path)

const problemOf = (path: string): string => `${path} is damaged; the day counts as missing`

/** Drops unreadable files. Reads each one, so call it only after a failure. */
export async function findReadableDays(duck: DuckDb, found: FeedDays, asOf: Day) {
  const files: DayFile[] = []
  const problems = [...found.problems]
  for (const file of found.files) {
    const alone = { ...found, files: [file], countedDays: asOf }
    try {
      for (const family of [4, 6] as const) {
        await aggregateDays(duck, { family, found: alone, asOf }, () => undefined)
      }
      files.push(file)
    } catch {
      problems.push(problemOf(file.path))
    }
  }
  return { ...found, files, problems }
}

/** `take` may keep a batch's arrays. */
export async function aggregateDays(
  duck: DuckDb,
  of: { readonly family: Family; readonly found: FeedDays; readonly asOf: Day },
  take: (batch: RangeBatch) => void,
): Promise<void> {
  const { family, found, asOf } = of
  const { files, detailed, countedDays } = found
  const newest = files.at(-1)?.day
  if (newest === undefined) return
  // What the newest snapshot lists is kept, however old it is.
  const oldest = Math.min(newest, asOf - countedDays)
  const query = aggregateQuery({ paths: pathsOf(files), family, oldest, detailed, asOf })
  await duck.stream(query, ({ count, columns }) => {
    take(batchOf(count, { columns, family, detailed }))
  })
}

function aggregateQuery(of: {
  readonly paths: readonly string[]
  readonly family: Family
  readonly oldest: number
  readonly detailed: boolean
  readonly asOf: Day
}): string {
  const { paths, family, oldest, detailed, asOf } = of
  // Narrow keys: grouping is bound by memory.
  const key =
    family === 4
      ? 'first_low::uinteger as f, last_low::uinteger as l'
      : 'first_high as fh, first_low as fl, last_high as lh, last_low as ll'
  const keyNames = family === 4 ? 'f, l' : 'fh, fl, lh, ll'
  const words = family === 4 ? 'f, l' : ['fh', 'fl', 'lh', 'll'].map(halves).join(', ')
  const details = detailed ? ', arg_max({a: lists, b: provider, c: category}, d) as details' : ''
  return `
    with rows as (
      select ${key}, (day - date '1970-01-01')::uinteger as d,
        ${detailed ? 'lists, provider, category,' : ''}
        case when ${asOf} - d < ${windowDays} then 1::uinteger << (${asOf} - d)::uinteger
          else 0::uinteger end as bit
      from ${readParquetSql(paths)} where family = ${family}
    ), grouped as (
      select ${keyNames}, min(d) as first_seen, max(d) as last_seen, bit_or(bit) as listed${details}
      from rows group by ${keyNames} having max(d) >= ${oldest}
    )
    select ${words}, first_seen, last_seen, listed
      ${detailed ? ', details.a, details.b, details.c' : ''}
    from grouped order by ${keyNames}`
}

const halves = (column: string): string =>
  `(${column} >> 32)::uinteger, (${column} & 4294967295)::uinteger`

function batchOf(
  count: number,
  from: {
    readonly columns: readonly ResultColumn[]
    readonly family: Family
    readonly detailed: boolean
  },
): RangeBatch {
  const { columns, family, detailed } = from
  const stride = wordsPerStart(family)
  const words = (at: number, width: number): Uint32Array => {
    const out = new Uint32Array(count * width)
    for (let word = 0; word < width; word++) {
      const column = columns[at + word]
      for (let row = 0; row < count; row++) out[row * width + word] = numberOf(column, row)
    }
    return out
  }
  const after = 2 * stride
  return {
    count,
    first: words(0, stride),
    last: words(stride, stride),
    firstSeen: words(after, 1),
    lastSeen: words(after + 1, 1),
    listed: words(after + 2, 1),
    details: detailed ? (row) => detailsAt(columns.slice(after + 3), row) : undefined,
  }
}

function detailsAt(columns: readonly ResultColumn[], row: number): EntryDetails {
  const [lists, provider, category] = columns.map((column) => column.getItem(row) ?? undefined)
  return {
    lists: lists as number | undefined,
    provider: provider as string | undefined,
    category: category as string | undefined,
  }
}

function numberOf(column: ResultColumn | undefined, row: number): number {
  const value = column?.getItem(row)
  if (typeof value === 'number') return value
  throw new IpriskError({
    code: 'history_column',
    message: `A column of the history holds ${typeof value} where a number must be.`,
    fault: 'bug',
  })
}
