// The history as a build reads it: when each feed listed each range, and which ranges it no longer
// lists. A build stages its own snapshots first, so they are included; it then calls `markListed`
// for their ranges. Ranges without a mark have lapsed and fade with age.

import { availableParallelism } from 'node:os'
import type { Day } from '../../src/base/day.ts'
import { type Family, newAddressWords } from '../../src/ip/address.ts'
import { bigintToWords, type Range, wordsToBigint } from '../../src/ip/range.ts'
import { halfLifeDays } from '../../src/score/weight/decay.ts'
import type { Feed } from '../catalogue/feed.ts'
import { newInterner } from '../layer/intern.ts'
import { wordsPerStart } from '../layer/layer.ts'
import {
  aggregateDays,
  type AggregateOptions,
  type EntryDetails,
  findFeedDays,
  findReadableDays,
  windowDays,
} from './aggregate-days.ts'
import { connectBeside, type DuckDb, withDuckDb } from './duckdb.ts'
import type { KeptFeed } from './history-days.ts'
import {
  findRow,
  foldNested,
  type HistoryRanges,
  type ListedDays,
  listedDaysAt,
  newHistoryRangesBuilder,
} from './history-ranges.ts'
import type { HistoryStoreOptions } from './history-store.ts'
import { recordToday, type SnapshotEntries } from './record-today.ts'

export type FeedHistory = Awaited<ReturnType<typeof readDays>>

export interface History {
  /** `undefined` without a snapshot of the feed up to that day. */
  of(feedId: string): FeedHistory | undefined
  /** Damaged files, whose days count as missing. */
  readonly problems: readonly string[]
}

export const noHistory: History = { of: () => undefined, problems: [] }

export function readHistory(options: AggregateOptions & { readonly feeds: readonly KeptFeed[] }) {
  return withDuckDb({ spill: options.store }, async (duck) => {
    const reader = newHistoryReader(duck, options)
    for (const feed of options.feeds) reader.read(feed)
    return reader.history()
  })
}

/** Reads feed by feed in the background. Close the engine only after `history` has settled. */
function newHistoryReader(duck: DuckDb, options: AggregateOptions) {
  const histories = new Map<string, FeedHistory>()
  const problems: string[] = []
  const readAfter = async (before: Promise<void>, feed: KeptFeed) => {
    await before
    const { found, history } = await readFeed(duck, feed, options)
    problems.push(...found.problems)
    if (found.files.length > 0) histories.set(feed.id, history)
  }
  let all = Promise.resolve()
  return {
    /** Queues a feed, whose days must not change any more. */
    read(feed: KeptFeed): void {
      all = readAfter(all, feed)
      // `history` throws it; this avoids an unhandled rejection before that call.
      all.catch(() => undefined)
    },
    /** Waits for all queued feeds; throws their errors. */
    async history(): Promise<History> {
      await all
      return { of: (feedId) => histories.get(feedId), problems }
    },
  }
}

async function readFeed(duck: DuckDb, feed: KeptFeed, options: AggregateOptions) {
  const { asOf } = options
  const found = await findFeedDays(duck, feed, options)
  try {
    return { found, history: await readDays(duck, { feed, found, asOf }) }
  } catch (thrown) {
    // Damage inside a file shows only on reading; such a file counts as missing.
    const readable = await findReadableDays(duck, found, asOf)
    if (readable.files.length === found.files.length) throw thrown
    return { found: readable, history: await readDays(duck, { feed, found: readable, asOf }) }
  }
}

async function readDays(
  duck: DuckDb,
  of: Omit<Parameters<typeof aggregateDays>[1], 'family'> & { readonly feed: KeptFeed },
) {
  const { feed, found, asOf } = of
  const details = newDetails()
  const tableOf = async (family: Family): Promise<HistoryRanges> => {
    const maker = newHistoryRangesBuilder(family, details.id)
    await aggregateDays(duck, { family, found, asOf }, (batch) => maker.add(batch))
    const table = maker.ranges()
    foldNested(table)
    return table
  }
  const tables = { 4: await tableOf(4), 6: await tableOf(6) }
  const days: readonly Day[] = found.files.map(({ day }) => day)
  const fades = feed.kind !== 'network' && halfLifeDays[feed.kind] !== undefined
  return {
    days,
    /** Days of the window with a snapshot, the base of shares. */
    daysObserved: days.filter((day) => asOf - day < windowDays).length,
    /** Distinct ranges seen recently enough to count. */
    count: tables[4].count + tables[6].count,
    ...newListedMarks(tables, { fades, details: details.values }),
  }
}

function newListedMarks(
  tables: Readonly<Record<Family, HistoryRanges>>,
  feed: { readonly fades: boolean; readonly details: readonly EntryDetails[] },
) {
  const marked = { 4: new Uint8Array(tables[4].count), 6: new Uint8Array(tables[6].count) }
  const first = newAddressWords()
  const last = newAddressWords()
  return {
    /**
     * When this exact range (not widened to a /64) or a wider one was listed; `undefined` if
     * unknown. Marks it as not lapsed.
     */
    markListed(range: Range): ListedDays | undefined {
      bigintToWords(range.family, range.first, first)
      bigintToWords(range.family, range.last, last)
      const table = tables[range.family]
      const row = findRow(table, first, last)
      if (row < 0) return undefined
      marked[range.family][row] = 1
      return listedDaysAt(table, row)
    },
    /** Ranges that the newest snapshot no longer lists; none for kinds that do not fade. */
    *lapsed() {
      if (!feed.fades) return
      for (const family of [4, 6] as const) {
        const table = tables[family]
        for (let row = 0; row < table.count; row++) {
          if (marked[family][row] === 1) continue
          const details = feed.details[table.detail[row] ?? 0] ?? noDetails
          yield { range: rangeAt(table, row), seen: listedDaysAt(table, row), details }
        }
      }
    },
  }
}

const noDetails: EntryDetails = { lists: undefined, provider: undefined, category: undefined }

function newDetails() {
  const details = newInterner<EntryDetails>(
    ({ lists = '', provider = '', category = '' }) => JSON.stringify([lists, provider, category]),
    0,
  )
  details.id(noDetails)
  return details
}

function rangeAt(table: HistoryRanges, row: number): Range {
  const { family } = table
  const stride = wordsPerStart(family)
  const value = (column: Uint32Array): bigint =>
    wordsToBigint(family, column.subarray(row * stride, (row + 1) * stride))
  return { family, first: value(table.first), last: value(table.last) }
}

// Records what the feeds list today, and reads each feed's days while the next feed is recorded:
// recording is mostly JavaScript and reading is DuckDB's. Same result as `recordToday` followed by
// `readHistory`.

/** On two cores, DuckDB threads beside recording took longer and a third more processor time. */
const threads = availableParallelism() > 2 ? undefined : 1

/** The caller holds the store's lock. Throws the errors of recording and reading. */
export function recordAndRead(
  files: readonly SnapshotEntries[],
  options: AggregateOptions & HistoryStoreOptions & { readonly without: ReadonlySet<string> },
) {
  return withDuckDb({ spill: options.store, threads }, async (duck) => {
    const reading = await connectBeside(duck)
    const reader = newHistoryReader(reading, options)
    try {
      const onFeed = (feed: Feed): void => reader.read(feed)
      const recorded = await recordToday(files, { ...options, duck, onFeed })
      return { recorded, history: await reader.history() }
    } finally {
      // If recording failed, reading may still be running.
      await reader.history().catch(() => undefined)
      await reading.close()
    }
  })
}
