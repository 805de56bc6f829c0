// Where the history lies: `<store>/<feed-id>/<YYYY-MM-DD>.parquet`. A day's file is there whole or
// not at all (history-store.ts), so which days a feed has a snapshot of is read from names alone, and a
// missing name is a missing snapshot: no evidence of absence.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Day, formatDay, parseDay } from '../../src/base/day.ts'

const ending = '.parquet'

export function dayFileName(day: Day): string {
  return `${formatDay(day)}${ending}`
}

export function dayPath(store: string, feedId: string, day: Day): string {
  return join(store, feedId, dayFileName(day))
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

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw thrown
  }
}
