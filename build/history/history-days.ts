// The history's files: `<store>/<feed-id>/<YYYY-MM-DD>.parquet`. Day files are atomic
// (history-store.ts), so names alone say which snapshots exist; a missing one is not evidence of
// absence. A build also reads its staging folder, whose days replace the store's.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../../src/base/assert.ts'
import { type Day, formatDay, parseDay } from '../../src/base/day.ts'
import { daysKeptMax, longestKept } from '../../src/score/weight/decay.ts'
import type { Feed } from '../catalogue/feed.ts'

/**
 * Most evidence is dropped at 90 days; one more month shows entries' ages. Feeds whose evidence
 * counts longer keep one day a month.
 */
const historyDays = 120

assert(historyDays > daysKeptMax, 'what still counts as evidence is not pruned')

const ending = '.parquet'

export interface HistoryFolders {
  readonly store: string
  /** A build's own days until its table is accepted; it need not exist. */
  readonly staging?: string | undefined
}

export interface DayFile {
  readonly day: Day
  readonly path: string
}

export const dayPath = (store: string, feedId: string, day: Day): string =>
  join(store, feedId, `${formatDay(day)}${ending}`)

export async function storedFeeds(store: string): Promise<readonly string[]> {
  const entries = await namesIn(store)
  return entries.filter((name) => !name.startsWith('.')).sort()
}

export async function storedDays(store: string, feedId: string): Promise<readonly Day[]> {
  const days: Day[] = []
  for (const name of await namesIn(join(store, feedId))) {
    const day = name.endsWith(ending) ? parseDay(name.slice(0, -ending.length)) : undefined
    if (day !== undefined) days.push(day)
  }
  return days.sort((a, b) => a - b)
}

/** With staged days and paths. */
export async function dayFiles({ store, staging }: HistoryFolders, feedId: string) {
  const paths = new Map<Day, string>()
  for (const folder of staging === undefined ? [store] : [store, staging]) {
    for (const day of await storedDays(folder, feedId)) paths.set(day, dayPath(folder, feedId, day))
  }
  return [...paths].map(([day, path]) => ({ day, path })).sort((a, b) => a.day - b.day)
}

export type KeptFeed = Pick<Feed, 'id' | 'kind' | 'half_life_days'>

export const evidenceDays = ({ kind, half_life_days }: Omit<KeptFeed, 'id'>): number =>
  kind === 'network' ? daysKeptMax : longestKept(kind, half_life_days)

/**
 * Files of days that are too old to keep, by the feed's own newest day (`files` ascend), so that no
 * clock can delete a history. Past `historyDays`, the first day of a month stays while it counts.
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

const monthOf = (day: Day): string => formatDay(day).slice(0, 7)

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw thrown
  }
}
