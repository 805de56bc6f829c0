// What the history says of one address: for each feed that ever listed it, day by day, whether it
// did. Raw facts as listed: an IPv6 address is not widened to its /64 here, and nothing is weighed.

import { type Day, dayOf } from '../../src/base/day.ts'
import { type Range, formatRange } from '../../src/ip/range.ts'
import { type DayFile, dayFiles, storedFeeds } from './history-days.ts'
import { type DuckDb, openDuckDb, readParquetSql } from './duckdb.ts'
import { readDayMetadata } from './day-file.ts'

export interface TimelineOptions {
  readonly store: string
  /** One address. */
  readonly address: Range
  /** The last day shown; by default `lastDay` of the store. */
  readonly asOf?: Day | undefined
  /** How many days are shown. */
  readonly dayCount: number
}

/** `missing`: the feed has no snapshot of the day, which says nothing. */
export type DayState = 'listed' | 'absent' | 'missing'

export interface FeedTimeline {
  readonly feed: string
  /** One state for each day shown, oldest first. */
  readonly states: readonly DayState[]
  /** Over all days kept. */
  readonly firstSeen: Day
  readonly lastSeen: Day
  /** Of the days shown. */
  readonly daysListed: number
  readonly daysObserved: number
  /** As it was listed: the narrowest range first. */
  readonly ranges: readonly string[]
}

export interface AddressTimeline {
  readonly asOf: Day
  readonly days: readonly Day[]
  /** Those that list it or did, by their names. */
  readonly feeds: readonly FeedTimeline[]
  /** Those that have snapshots of the days shown and never listed it. */
  readonly silent: readonly { readonly feed: string; readonly daysObserved: number }[]
  readonly problems: readonly string[]
}

export async function addressTimeline(options: TimelineOptions): Promise<AddressTimeline> {
  const { store, address, dayCount } = options
  const stored = await snapshotsIn(store)
  const asOf = options.asOf ?? lastDay(stored) ?? dayOf(Date.now())
  const upTo = stored.filter(({ day }) => day <= asOf)
  const days = Array.from({ length: dayCount }, (_, at) => (asOf - dayCount + 1 + at) as Day)
  if (upTo.length === 0) return { asOf, days, feeds: [], silent: [], problems: [] }
  const duck = await openDuckDb({ spill: store })
  try {
    const metadata = await readDayMetadata(
      duck,
      upTo.map(({ path }) => path),
    )
    const isIntact = (snapshot: Stored): boolean => {
      const said = metadata.get(snapshot.path)
      return said?.feed === snapshot.feed && said.day === snapshot.day
    }
    const snapshots = upTo.filter(isIntact)
    const problems = upTo
      .filter((snapshot) => !isIntact(snapshot))
      .map(({ path }) => `${path} is damaged; the day counts as missing`)
    const found = await find(duck, snapshots, address)
    return { asOf, days, problems, ...perFeed(snapshots, found, days) }
  } finally {
    await duck.close()
  }
}

/**
 * The newest day of which two feeds have a snapshot; of a store of one feed its newest. One file
 * that states a day weeks ahead (some do) would else push what there is to the left.
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

/** The ranges that hold the address, by the file that lists them. */
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
  // The first halves alone let DuckDB skip row groups by their bounds.
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
): Pick<AddressTimeline, 'feeds' | 'silent'> {
  const feeds: FeedTimeline[] = []
  const silent: { feed: string; daysObserved: number }[] = []
  for (const feed of new Set(snapshots.map(({ feed }) => feed))) {
    const own = snapshots.filter((snapshot) => snapshot.feed === feed)
    const observed = new Set(own.map(({ day }) => day))
    const listed = own.filter(({ path }) => found.has(path)).map(({ day }) => day)
    const [firstSeen, lastSeen] = [listed.at(0), listed.at(-1)]
    if (firstSeen === undefined || lastSeen === undefined) {
      const daysObserved = days.filter((day) => observed.has(day)).length
      if (daysObserved > 0) silent.push({ feed, daysObserved })
      continue
    }
    const states = days.map((day): DayState => {
      if (!observed.has(day)) return 'missing'
      return listed.includes(day) ? 'listed' : 'absent'
    })
    const daysListed = states.filter((state) => state === 'listed').length
    const daysObserved = states.filter((state) => state !== 'missing').length
    const ranges = narrowestFirst(own.flatMap(({ path }) => found.get(path) ?? []))
    feeds.push({ feed, states, firstSeen, lastSeen, daysListed, daysObserved, ranges })
  }
  return { feeds, silent }
}

function narrowestFirst(ranges: readonly Range[]): readonly string[] {
  const width = ({ first, last }: Range): bigint => last - first
  const sorted = [...ranges].sort((a, b) =>
    width(a) < width(b) ? -1 : width(a) > width(b) ? 1 : 0,
  )
  return [...new Set(sorted.map(formatRange))]
}
