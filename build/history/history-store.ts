// The writing half of the history: a day's observations of a feed are put in place whole. A file is
// written under a temporary name, flushed, renamed, and its folder flushed, so that a kill at any
// point leaves the day as it was or as it shall be. Writing needs the folder's lock; what a killed
// run left under temporary names is removed by the next writer. Reading needs nothing.

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

/** Where `staging` is given, days are written there, and the store stays as it is. */
export interface HistoryStoreOptions extends HistoryFolders {
  /** The store's lock, where the caller holds it; by default it is taken until `close`. */
  readonly lock?: FileLock | undefined
  /** The caller's engine; by default one is opened until `close`. */
  readonly duck?: DuckDb | undefined
}

/** Takes a store's lock. Throws `history_locked` while another run has it. */
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

/** Opens the store for writing. Throws `history_locked` while another run has it. */
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
    /**
     * Adds what a fetch of `day` listed. An address counts as listed on a day if any fetch of that
     * day listed it: what is there already stays. The same again changes nothing.
     */
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
    /** Makes `listed` the whole of the day, in place of what was there. */
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

/** Where the day is and the hash of its content; `undefined` where no file is just that day's. */
async function storedDay(
  duck: DuckDb,
  folders: HistoryFolders,
  { feed, day }: Pick<DayListing, 'feed' | 'day'>,
): Promise<{ readonly path: string; readonly hash: string } | undefined> {
  const file = (await dayFiles(folders, feed)).find((file) => file.day === day)
  if (file === undefined) return undefined
  const said = (await readDayMetadata(duck, [file.path])).get(file.path)
  return said?.feed === feed && said.day === day ? { ...file, hash: said.hash } : undefined
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
 * Removes the days that are past keeping, and says how many. `known`: feeds whose evidence may count
 * for longer. The caller holds the store's lock.
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

/** A day yet to come would outlive the whole history, and by it everything else would be old. */
function checkedDayPath(folder: string, feed: string, day: Day): string {
  if (day > dayOf(Date.now()) + 1) {
    throw inputError(
      'history_day',
      `${feed}: ${formatDay(day)} is yet to come; nothing can have been listed on it.`,
    )
  }
  return dayPath(folder, feed, day)
}
