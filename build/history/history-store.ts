// The writing half of the history: a day's observations of a feed are put in place whole. A file is
// written under a temporary name, flushed, renamed, and its folder flushed, so that a kill at any
// point leaves the day as it was or as it shall be. Writing needs the folder's lock; what a killed
// run left under temporary names is removed by the next writer. Reading needs nothing.

import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Day } from '../../src/base/day.ts'
import { dayOf, formatDay } from '../../src/base/day.ts'
import { assert } from '../../src/base/assert.ts'
import { IpriskError } from '../../src/base/coded-error.ts'
import { daysKeptMax } from '../../src/score/weight/decay.ts'
import { flushFolder, removeTemporaryFiles, temporaryName } from '../../src/base/disk.ts'
import { type FolderLock, acquireFolderLock } from '../fetch/fetch-lock.ts'
import { type DayContent, type ListedRange, dayContent } from './day-content.ts'
import { dayPath, storedDays, storedFeeds } from './history-days.ts'
import { type DuckDb, openDuckDb } from './duckdb.ts'
import { readDayRows, readDayMetadata, writeDayFile } from './day-file.ts'

/**
 * Evidence is dropped at 90 days; the month more tells since when, and for how long entries live.
 */
export const historyDays = 120

assert(historyDays > daysKeptMax, 'what still counts as evidence is not pruned')

export interface HistoryStore {
  /**
   * Adds what a fetch of `day` listed. An address counts as listed on a day if any fetch of that
   * day listed it: what is there already stays. The same again changes nothing.
   */
  addSnapshot(snapshot: DayListing): Promise<WrittenDay>
  /** Makes `listed` the whole of the day, in place of what was there. */
  setDay(snapshot: DayListing): Promise<WrittenDay>
  /**
   * Removes of each feed the days more than `keepDays` before its newest one. Age is measured in
   * the feed's own days, so that no clock can take a history away. Gives the number of files
   * removed.
   */
  prune(keepDays?: number): Promise<number>
  close(): Promise<void>
}

export interface DayListing {
  readonly feed: string
  readonly day: Day
  readonly listed: Iterable<ListedRange>
}

export interface WrittenDay {
  readonly state: 'written' | 'unchanged'
  readonly rowCount: number
}

export interface HistoryStoreOptions {
  readonly store: string
  readonly memoryBytes?: number | undefined
  /** The store's lock, where the caller has it and keeps it; by default it is taken until `close`. */
  readonly lock?: FolderLock | undefined
}

/** Takes a store's lock. Throws `history_locked` while another run has it. */
export async function lockHistory(store: string): Promise<FolderLock> {
  const lock = await acquireFolderLock(store)
  if (lock === undefined) {
    throw new IpriskError({
      code: 'history_locked',
      message: `Another run is writing the history in ${store}. Wait for it, then run this again.`,
      fault: 'environment',
      retryable: true,
    })
  }
  return lock
}

/** Opens the store for writing. Throws `history_locked` while another run has it. */
export async function openHistoryStore(options: HistoryStoreOptions): Promise<HistoryStore> {
  const { store } = options
  const lock = options.lock ?? (await lockHistory(store))
  const release = async (): Promise<void> =>
    options.lock === undefined ? lock.release() : undefined
  try {
    for (const feed of await storedFeeds(store)) await removeTemporaryFiles(join(store, feed))
    const duck = await openDuckDb({ spill: store, memoryBytes: options.memoryBytes })
    return newStore(store, duck, { ...lock, release })
  } catch (thrown) {
    await release()
    throw thrown
  }
}

function newStore(store: string, duck: DuckDb, lock: FolderLock): HistoryStore {
  return {
    async addSnapshot({ feed, day, listed }) {
      const path = checkedDayPath(store, feed, day)
      const content = dayContent(listed)
      const there = await metadataOf(duck, path, { feed, day })
      if (there === undefined || there.hash === content.hash) {
        return writeDay(duck, lock, { path, feed, day, content, hash: there?.hash })
      }
      const before = await readDayRows(duck, path).catch(() => [])
      const both = dayContent([...before, ...content.rows])
      return writeDay(duck, lock, { path, feed, day, content: both, hash: there.hash })
    },
    async setDay({ feed, day, listed }) {
      const path = checkedDayPath(store, feed, day)
      const hash = (await metadataOf(duck, path, { feed, day }))?.hash
      return writeDay(duck, lock, { path, feed, day, content: dayContent(listed), hash })
    },
    prune: async (keepDays = historyDays) => prune(store, keepDays),
    async close() {
      await duck.close()
      await lock.release()
    },
  }
}

/** What the file says of itself, if it is the day's file at all. */
async function metadataOf(
  duck: DuckDb,
  path: string,
  of: { readonly feed: string; readonly day: Day },
): Promise<{ readonly hash: string } | undefined> {
  const said = (await readDayMetadata(duck, [path])).get(path)
  return said?.feed === of.feed && said.day === of.day ? said : undefined
}

async function writeDay(
  duck: DuckDb,
  lock: FolderLock,
  file: {
    readonly path: string
    readonly feed: string
    readonly day: Day
    readonly content: DayContent
    /** Of what is there already. */
    readonly hash: string | undefined
  },
): Promise<WrittenDay> {
  const { path, content } = file
  const rowCount = content.rows.length
  if (file.hash === content.hash) return { state: 'unchanged', rowCount }
  const folder = dirname(path)
  if ((await mkdir(folder, { recursive: true })) !== undefined) await flushFolder(dirname(folder))
  const temporary = join(folder, temporaryName(basename(path)))
  await writeDayFile(duck, temporary, file)
  const handle = await open(temporary, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  assert(await lock.isHeld(), `the lock of the history above ${folder} was lost to another run`)
  await rename(temporary, path)
  await flushFolder(folder)
  return { state: 'written', rowCount }
}

async function prune(store: string, keepDays: number): Promise<number> {
  let removed = 0
  for (const feed of await storedFeeds(store)) {
    const days = await storedDays(store, feed)
    const newest = days.at(-1) ?? 0
    const old = days.filter((day) => newest - day > keepDays)
    for (const day of old) await rm(dayPath(store, feed, day), { force: true })
    if (old.length > 0) await flushFolder(join(store, feed))
    removed += old.length
  }
  return removed
}

/** A day yet to come would outlive the whole history, and by it everything else would be old. */
function checkedDayPath(store: string, feed: string, day: Day): string {
  if (day > dayOf(Date.now()) + 1) {
    throw new IpriskError({
      code: 'history_day',
      message: `${feed}: ${formatDay(day)} is yet to come; nothing can have been listed on it.`,
      fault: 'input',
    })
  }
  return dayPath(store, feed, day)
}
