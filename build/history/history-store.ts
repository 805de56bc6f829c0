// Writes the history: a feed's day is put in place atomically and flushed. Writing needs the
// folder's lock and first removes what a killed run left; reading does not.

import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Day } from '../../src/base/day.ts'
import { dayOf, formatDay } from '../../src/base/day.ts'
import { environmentError, inputError } from '../../src/base/coded-error.ts'
import {
  flushFolder,
  removeTemporaryFiles,
  replaceWith,
} from '../../src/base/system/atomic-file.ts'
import { type FileLock, acquireFileLock } from '../../src/base/system/file-lock.ts'
import { daysKeptMax } from '../../src/score/weight/decay.ts'
import { type DayContent, type ListedRange, dayContent } from './day-content.ts'
import {
  type HistoryFolders,
  dayFiles,
  dayPath,
  evidenceDays,
  type KeptFeed,
  pastKeeping,
  storedFeeds,
} from './history-days.ts'
import { type DuckDb, openDuckDb } from './duckdb.ts'
import { readDayRows, readDayMetadata, writeDayFile } from './day-file.ts'

export type HistoryStore = Awaited<ReturnType<typeof openHistoryStore>>

interface DayListing {
  readonly feed: string
  readonly day: Day
  readonly listed: Iterable<ListedRange>
}

/** With `staging`, days are written there and the store stays unchanged. */
export interface HistoryStoreOptions extends HistoryFolders {
  /** By default the store's lock is taken until `close`. */
  readonly lock?: FileLock | undefined
  /** By default an engine is opened until `close`. */
  readonly duck?: DuckDb | undefined
}

/** Throws `history_locked` while another run has the lock. */
export function lockHistory(store: string): FileLock {
  const lock = acquireFileLock(join(store, '.lock'))
  if (lock === undefined) {
    throw environmentError(
      'history_locked',
      `Another run is writing the history in ${store}. Wait for it, then run this again.`,
      { retryable: true },
    )
  }
  return lock
}

/** Throws `history_locked` while another run has the lock. */
export async function openHistoryStore(options: HistoryStoreOptions) {
  const { store } = options
  const lock = options.lock === undefined ? lockHistory(store) : undefined
  try {
    for (const feed of await storedFeeds(store)) await removeTemporaryFiles(join(store, feed))
    const duck = options.duck ?? (await openDuckDb({ spill: store }))
    return newStore(options, duck, lock)
  } catch (thrown) {
    lock?.release()
    throw thrown
  }
}

function newStore(folders: HistoryStoreOptions, duck: DuckDb, lock: FileLock | undefined) {
  const to = folders.staging ?? folders.store
  return {
    /** Adds what a fetch of `day` listed: any fetch of a day makes an address listed on it. */
    async addSnapshot({ feed, day, listed }: DayListing) {
      const path = checkedDayPath(to, feed, day)
      const content = dayContent(listed)
      const there = await storedDay(duck, folders, { feed, day })
      if (there === undefined || there.hash === content.hash) {
        return writeDay(duck, { path, feed, day, content, hash: there?.hash })
      }
      const before = await readDayRows(duck, there.path).catch(() => [])
      const both = dayContent([...before, ...content.rows])
      return writeDay(duck, { path, feed, day, content: both, hash: there.hash })
    },
    /** Replaces the whole day. */
    async setDay({ feed, day, listed }: DayListing) {
      const path = checkedDayPath(to, feed, day)
      const there = await storedDay(duck, folders, { feed, day })
      return writeDay(duck, { path, feed, day, content: dayContent(listed), hash: there?.hash })
    },
    async close(): Promise<void> {
      if (folders.duck === undefined) await duck.close()
      lock?.release()
    },
  }
}

/** The stored day's path and hash; `undefined` unless the file is really that day's. */
async function storedDay(
  duck: DuckDb,
  folders: HistoryFolders,
  { feed, day }: Pick<DayListing, 'feed' | 'day'>,
): Promise<{ readonly path: string; readonly hash: string } | undefined> {
  const file = (await dayFiles(folders, feed)).find((file) => file.day === day)
  if (file === undefined) return undefined
  const known = (await readDayMetadata(duck, [file.path])).get(file.path)
  return known?.feed === feed && known.day === day ? { ...file, hash: known.hash } : undefined
}

async function writeDay(
  duck: DuckDb,
  file: {
    readonly path: string
    readonly feed: string
    readonly day: Day
    readonly content: DayContent
    readonly hash: string | undefined
  },
) {
  const { path, content } = file
  const rowCount = content.rows.length
  if (file.hash === content.hash) return { state: 'unchanged', rowCount } as const
  const folder = dirname(path)
  if ((await mkdir(folder, { recursive: true })) !== undefined) await flushFolder(dirname(folder))
  await replaceWith(path, 0o644, (temporary) => writeDayFile(duck, temporary, file))
  return { state: 'written', rowCount } as const
}

/**
 * Removes days that are too old and returns their number. `known`: feeds whose evidence may count
 * longer. The caller holds the lock.
 */
export async function pruneHistory(store: string, known: readonly KeptFeed[]): Promise<number> {
  let removed = 0
  for (const feed of await storedFeeds(store)) {
    const own = known.find(({ id }) => id === feed)
    const countedDays = own === undefined ? daysKeptMax : evidenceDays(own)
    const old = pastKeeping(await dayFiles({ store }, feed), countedDays)
    for (const { path } of old) await rm(path, { force: true })
    if (old.length > 0) await flushFolder(join(store, feed))
    removed += old.length
  }
  return removed
}

/** A future day would outlive the history and make everything else old. */
function checkedDayPath(folder: string, feed: string, day: Day): string {
  if (day > dayOf(Date.now()) + 1) {
    throw inputError('history_day', `${feed}: ${formatDay(day)} is in the future.`)
  }
  return dayPath(folder, feed, day)
}
