// The history as a build reads it: for each feed when every range was listed, and which ranges it
// listed lately but not in the snapshot at hand. Read once, then plain memory.
//
// A build stages its own snapshots first (history-store.ts), so that what it reads here knows them.
// It calls `markListed` for each range of the snapshots. A range without a mark has lapsed: it
// fades with its age.

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
  type FeedDays,
  findFeedDays,
  findReadableDays,
} from './aggregate-days.ts'
import { type DuckDb, openDuckDb } from './duckdb.ts'
import { type KeptFeed, storedFeeds } from './history-days.ts'
import {
  countMaskDays,
  findRow,
  foldNested,
  type HistoryRanges,
  type ListedDays,
  listedDaysAt,
  newHistoryRangesBuilder,
} from './history-ranges.ts'
import type { HistoryStoreOptions } from './history-store.ts'
import { type RecordReport, recordToday, type SnapshotEntries } from './record-today.ts'

export interface FeedHistory {
  /** Days with a snapshot up to the day of the build, ascending; at least one. */
  readonly days: readonly Day[]
  /** Days of the window with a snapshot: what shares are taken of. */
  readonly daysObserved: number
  /** Distinct ranges seen lately enough to count. */
  readonly count: number
  /**
   * When this very range (as listed, before it is widened to a /64) was listed, as it was or inside
   * a wider one; `undefined` where the history does not know it. A marked range has not lapsed.
   */
  markListed(range: Range): ListedDays | undefined
  /**
   * Ranges without a mark. None for kinds that do not fade: what such a feed no longer lists is no
   * longer so.
   */
  lapsed(): Iterable<LapsedRange>
}

/** A range that the newest snapshot no longer lists. */
export interface LapsedRange {
  readonly range: Range
  readonly seen: ListedDays
  readonly details: EntryDetails
}

export interface History {
  /** `undefined` where the store has no snapshot of the feed up to that day. */
  of(feedId: string): FeedHistory | undefined
  /** Days that count as missing because their file is damaged: one line each. */
  readonly problems: readonly string[]
}

interface HistoryOptions extends AggregateOptions {
  readonly feeds: readonly KeptFeed[]
  readonly memoryBytes?: number | undefined
}

/** A history of nothing, for a build without a store. */
export const noHistory: History = { of: () => undefined, problems: [] }

export async function readHistory(options: HistoryOptions): Promise<History> {
  const { store, staging, feeds } = options
  const folders = staging === undefined ? [store] : [store, staging]
  const stored = new Set((await Promise.all(folders.map(storedFeeds))).flat())
  if (feeds.every(({ id }) => !stored.has(id))) return noHistory
  const duck = await openDuckDb({ spill: store, memoryBytes: options.memoryBytes })
  try {
    const reader = newHistoryReader(duck, options)
    for (const feed of feeds) reader.read(feed)
    return await reader.history()
  } finally {
    await duck.close()
  }
}

/**
 * Reads feed by feed, while the caller does something else. The engine may be closed when `history`
 * has come to its end.
 */
function newHistoryReader(duck: DuckDb, options: AggregateOptions) {
  const found = new Map<string, FeedHistory>()
  const problems: string[] = []
  const readAfter = async (before: Promise<void>, feed: KeptFeed) => {
    await before
    const read = await readFeed(duck, feed, options)
    problems.push(...read.problems)
    if (read.history !== undefined) found.set(feed.id, read.history)
  }
  let all = Promise.resolve()
  return {
    /** Puts a feed at the end of what is to be read; its days must not change any more. */
    read(feed: KeptFeed): void {
      all = readAfter(all, feed)
      // `history` throws it: a rejection before that call is no unhandled one.
      all.catch(() => undefined)
    },
    /** What was read, when all of it is. Throws what reading any of it throws. */
    async history(): Promise<History> {
      await all
      return { of: (feedId) => found.get(feedId), problems }
    },
  }
}

interface ReadFeed {
  readonly history: FeedHistory | undefined
  readonly problems: readonly string[]
}

async function readFeed(
  duck: DuckDb,
  feed: KeptFeed,
  options: AggregateOptions,
): Promise<ReadFeed> {
  const found = await findFeedDays(duck, feed, options)
  try {
    return await readDays(duck, { feed, found }, options)
  } catch (thrown) {
    // Damage inside a file shows only when it is read. Such a file counts as missing.
    const readable = await findReadableDays(duck, found, options)
    if (readable.files.length === found.files.length) throw thrown
    return readDays(duck, { feed, found: readable }, options)
  }
}

async function readDays(
  duck: DuckDb,
  of: { readonly feed: Pick<Feed, 'id' | 'kind'>; readonly found: FeedDays },
  options: AggregateOptions,
): Promise<ReadFeed> {
  const { feed, found } = of
  const { problems, files } = found
  const days = files.map(({ day }) => day)
  if (days.length === 0) return { history: undefined, problems }
  const details = newDetails()
  const tableOf = async (family: Family): Promise<HistoryRanges> => {
    const maker = newHistoryRangesBuilder(family, details.id)
    await aggregateDays(duck, { family, found }, options, (batch) => maker.add(batch))
    const table = maker.ranges()
    foldNested(table)
    return table
  }
  const tables = { 4: await tableOf(4), 6: await tableOf(6) }
  const fades = feed.kind !== 'network' && halfLifeDays[feed.kind] !== undefined
  return {
    history: {
      days,
      daysObserved: countMaskDays(found.observedMask),
      count: tables[4].count + tables[6].count,
      ...newListedMarks(tables, { fades, details: details.values }),
    },
    problems,
  }
}

/** Which ranges are marked and which have lapsed, over both families. */
function newListedMarks(
  tables: Readonly<Record<Family, HistoryRanges>>,
  feed: { readonly fades: boolean; readonly details: readonly EntryDetails[] },
): Pick<FeedHistory, 'markListed' | 'lapsed'> {
  const marked = { 4: new Uint8Array(tables[4].count), 6: new Uint8Array(tables[6].count) }
  const first = newAddressWords()
  const last = newAddressWords()
  return {
    markListed(range) {
      bigintToWords(range.family, range.first, first)
      bigintToWords(range.family, range.last, last)
      const table = tables[range.family]
      const row = findRow(table, first, last)
      if (row < 0) return undefined
      marked[range.family][row] = 1
      return listedDaysAt(table, row)
    },
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

/** Number 0 is no details. */
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

// A build's whole work on the history: it records what its feeds list today, and reads each feed's
// days, that one among them, while it records the next feed. Recording is JavaScript for the most
// part and reading is DuckDB's, so that together they take less time than one after the other.
//
// Invariant: what comes out is what `recordToday` and then `readHistory` give.

/**
 * On two cores recording and reading have one each: threads of DuckDB besides took a third more
 * processor time, and longer. On more cores DuckDB decides by itself.
 */
const threads = availableParallelism() > 2 ? undefined : 1

/**
 * The caller holds the store's lock, or its folder exists. Throws what recording and reading throw.
 */
export async function recordAndRead(
  files: readonly SnapshotEntries[],
  options: AggregateOptions & HistoryStoreOptions & { readonly without: ReadonlySet<string> },
): Promise<{ readonly recorded: RecordReport; readonly history: History }> {
  const { store, memoryBytes } = options
  const duck = await openDuckDb({ spill: store, memoryBytes, threads })
  try {
    const reading = await duck.beside()
    const reader = newHistoryReader(reading, options)
    try {
      const onFeed = (feed: Feed): void => reader.read(feed)
      const recorded = await recordToday(files, { ...options, duck, onFeed })
      return { recorded, history: await reader.history() }
    } finally {
      // Where recording failed, reading may still be at work.
      await reader.history().catch(() => undefined)
      await reading.close()
    }
  } finally {
    await duck.close()
  }
}
