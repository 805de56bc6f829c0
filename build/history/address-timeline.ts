// The history of one address: for each feed, on which days it was listed. Facts as listed: an IPv6
// address is not widened to its /64, and nothing is weighed.

import { type Day, dayOf } from '../../src/base/day.ts'
import { type Range, formatRange } from '../../src/ip/range.ts'
import { type DayFile, dayFiles, storedFeeds } from './history-days.ts'
import { type DuckDb, readParquetSql, withDuckDb } from './duckdb.ts'
import { readDayMetadata } from './day-file.ts'

/** `missing`: the feed has no snapshot of the day. */
export type DayState = 'listed' | 'absent' | 'missing'

export type FeedTimeline = AddressTimeline['feeds'][number]
export type AddressTimeline = Awaited<ReturnType<typeof addressTimeline>>

/** `asOf`: the last day shown; by default `lastDay` of the store. */
export async function addressTimeline(options: {
  readonly store: string
  readonly address: Range
  readonly asOf?: Day | undefined
  readonly dayCount: number
}) {
  const { store, address, dayCount } = options
  const stored = await snapshotsIn(store)
  const asOf = options.asOf ?? lastDay(stored) ?? dayOf(Date.now())
  const upTo = stored.filter(({ day }) => day <= asOf)
  const days = Array.from({ length: dayCount }, (_, at) => (asOf - dayCount + 1 + at) as Day)
  return withDuckDb({ spill: store }, async (duck) => {
    const metadata = await readDayMetadata(
      duck,
      upTo.map(({ path }) => path),
    )
    const isIntact = (snapshot: Stored): boolean => {
      const known = metadata.get(snapshot.path)
      return known?.feed === snapshot.feed && known.day === snapshot.day
    }
    const snapshots = upTo.filter(isIntact)
    const problems = upTo
      .filter((snapshot) => !isIntact(snapshot))
      .map(({ path }) => `${path} is damaged; the day counts as missing`)
    const found = await find(duck, snapshots, address)
    return { asOf, days, problems, ...perFeed(snapshots, found, days) }
  })
}

/**
 * The newest day on which two feeds have a snapshot, because single files state days weeks ahead.
 */
function lastDay(stored: readonly Stored[]): Day | undefined {
  const newestFirst = stored.map(({ day }) => day).sort((a, b) => b - a)
  return newestFirst.find((day, at) => newestFirst[at + 1] === day) ?? newestFirst[0]
}

interface Stored extends DayFile {
  readonly feed: string
}

async function snapshotsIn(store: string): Promise<readonly Stored[]> {
  const stored: Stored[] = []
  for (const feed of await storedFeeds(store)) {
    for (const file of await dayFiles({ store }, feed)) stored.push({ feed, ...file })
  }
  return stored
}

async function find(
  duck: DuckDb,
  snapshots: readonly Stored[],
  { family, first: value }: Range,
): Promise<ReadonlyMap<string, readonly Range[]>> {
  const found = new Map<string, Range[]>()
  if (snapshots.length === 0) return found
  const [high, low] = [value >> 64n, value & ((1n << 64n) - 1n)]
  const files = readParquetSql(snapshots.map(({ path }) => path)).replace(
    /\)$/,
    ', filename = true)',
  )
  // The upper halves alone let DuckDB skip row groups by their bounds.
  await duck.stream(
    `select filename, first_high, first_low, last_high, last_low from ${files}
     where family = ${family} and first_high <= ${high} and last_high >= ${high}
       and (first_high < ${high} or first_low <= ${low})
       and (last_high > ${high} or last_low >= ${low})`,
    ({ count, columns }) => {
      const half = (column: number, row: number): bigint => columns[column]?.getItem(row) as bigint
      for (let row = 0; row < count; row++) {
        const path = columns[0]?.getItem(row) as string
        const first = (half(1, row) << 64n) | half(2, row)
        const last = (half(3, row) << 64n) | half(4, row)
        found.set(path, [...(found.get(path) ?? []), { family, first, last }])
      }
    },
  )
  return found
}

function perFeed(
  snapshots: readonly Stored[],
  found: ReadonlyMap<string, readonly Range[]>,
  days: readonly Day[],
) {
  const all = [...new Set(snapshots.map(({ feed }) => feed))].map((feed) => {
    const own = snapshots.filter((snapshot) => snapshot.feed === feed)
    const observed = new Set(own.map(({ day }) => day))
    const listed = own.filter(({ path }) => found.has(path)).map(({ day }) => day)
    const states = days.map((day): DayState => {
      if (!observed.has(day)) return 'missing'
      return listed.includes(day) ? 'listed' : 'absent'
    })
    return {
      feed,
      /** One per day shown, oldest first. */
      states,
      /** Over all stored days. */
      firstSeen: listed[0]!,
      lastSeen: listed.at(-1)!,
      daysListed: states.filter((state) => state === 'listed').length,
      daysObserved: states.filter((state) => state !== 'missing').length,
      ranges: narrowestFirst(own.flatMap(({ path }) => found.get(path) ?? [])),
    }
  })
  return {
    /** Feeds that ever listed the address. */
    feeds: all.filter(({ ranges }) => ranges.length > 0),
    /** Feeds with snapshots of these days that never listed it. */
    silent: all
      .filter(({ ranges, daysObserved }) => ranges.length === 0 && daysObserved > 0)
      .map(({ feed, daysObserved }) => ({ feed, daysObserved })),
  }
}

function narrowestFirst(ranges: readonly Range[]): readonly string[] {
  const width = ({ first, last }: Range): bigint => last - first
  const sorted = [...ranges].sort((a, b) =>
    width(a) < width(b) ? -1 : width(a) > width(b) ? 1 : 0,
  )
  return [...new Set(sorted.map(formatRange))]
}
