// Where the history lies: `<store>/<feed-id>/<YYYY-MM-DD>.parquet`. A day's file is there whole or
// not at all (history-store.ts), so names alone say which days a feed has a snapshot of, and a
// missing name is a missing snapshot: no evidence of absence.
//
// A build alone also reads its staging folder (build/acceptance/history-transaction.ts): a staged day
// stands in place of the store's.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../../src/base/assert.ts'
import { type Day, formatDay, parseDay } from '../../src/base/day.ts'
import { daysKeptMax, longestKept } from '../../src/score/weight/decay.ts'
import type { Feed } from '../catalogue/feed.ts'

/**
 * Most evidence is dropped at 90 days; the month more tells since when, and for how long entries
 * live. Of a feed whose evidence counts for longer, one day a month is kept until then.
 */
const historyDays = 120

assert(historyDays > daysKeptMax, 'what still counts as evidence is not pruned')

const ending = '.parquet'

export interface HistoryFolders {
  readonly store: string
  /** Where a build's own days wait for its table's judgement; it need not exist. */
  readonly staging?: string | undefined
}

export interface DayFile {
  readonly day: Day
  readonly path: string
}

export function dayPath(store: string, feedId: string, day: Day): string {
  return join(store, feedId, `${formatDay(day)}${ending}`)
}

/** The feeds with a folder in the store, sorted. A store that does not exist has none. */
export async function storedFeeds(store: string): Promise<readonly string[]> {
  const entries = await namesIn(store)
  return entries.filter((name) => !name.startsWith('.')).sort()
}

/** The days that a feed has a snapshot of, ascending. */
export async function storedDays(store: string, feedId: string): Promise<readonly Day[]> {
  const days: Day[] = []
  for (const name of await namesIn(join(store, feedId))) {
    const day = name.endsWith(ending) ? parseDay(name.slice(0, -ending.length)) : undefined
    if (day !== undefined) days.push(day)
  }
  return days.sort((a, b) => a - b)
}

/** The same with staged days, and where each lies. */
export async function dayFiles({ store, staging }: HistoryFolders, feedId: string) {
  const paths = new Map<Day, string>()
  for (const folder of staging === undefined ? [store] : [store, staging]) {
    for (const day of await storedDays(folder, feedId)) paths.set(day, dayPath(folder, feedId, day))
  }
  return [...paths].map(([day, path]) => ({ day, path })).sort((a, b) => a.day - b.day)
}

/** What of a feed decides how long its history is kept. */
export type KeptFeed = Pick<Feed, 'id' | 'kind' | 'half_life_days'>

/** Days for which what the feed listed counts. */
export function evidenceDays({ kind, half_life_days }: Omit<KeptFeed, 'id'>): number {
  return kind === 'network' ? daysKeptMax : longestKept(kind, half_life_days)
}

/**
 * The files of days that are too old to keep. Age is measured in the feed's own days (`files`,
 * ascending), so that no clock can take a history away. Of months past `historyDays` the first day
 * stays while evidence of it counts.
 */
export function pastKeeping(files: readonly DayFile[], countedDays: number): readonly DayFile[] {
  const newest = files.at(-1)?.day ?? 0
  return files.filter(({ day }, at) => {
    const before = files[at - 1]
    const age = newest - day
    if (age <= historyDays) return false
    return age > countedDays || (before !== undefined && monthOf(before.day) === monthOf(day))
  })
}

function monthOf(day: Day): string {
  return formatDay(day).slice(0, 7)
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw thrown
  }
}
