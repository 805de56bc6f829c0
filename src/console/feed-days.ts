// The entries of each feed by day, in a small file of the state folder: a table only knows its own
// day. Written when a table of another day answers.

import { join } from 'node:path'
import type { Log } from '../base/log.ts'
import type { TableInfo } from '../table/served-table.ts'
import { openKeptFile } from './kept-file.ts'

/** Keyed by feed and day; days since 1970. */
export type FeedDays = Readonly<Record<string, Readonly<Record<string, number>>>>

const daysKept = 60

export type FeedDaysFile = ReturnType<typeof openFeedDays>

export function openFeedDays(state: string, log: Log) {
  const file = openKeptFile(join(state, 'feed-days.json'), log)
  const read = file.read()
  let days = typeof read === 'object' && read !== null ? (read as FeedDays) : {}
  return {
    days: () => days,
    /** Writes only if something is new. */
    note: async (table: Pick<TableInfo, 'asOf' | 'sources'> | undefined): Promise<void> => {
      if (table === undefined) return
      const next = withDay(days, table)
      if (JSON.stringify(next) === JSON.stringify(days)) return
      days = next
      await file.write(days)
    },
  }
}

/** Drops old days, and feeds without any left. */
export function withDay(
  days: FeedDays,
  { asOf, sources }: Pick<TableInfo, 'asOf' | 'sources'>,
): FeedDays {
  const own = new Map(sources.map(({ id, entries }) => [id, entries]))
  const ids = new Set([...Object.keys(days), ...own.keys()])
  const kept = [...ids].flatMap((id) => {
    const entries = own.get(id)
    const all: Readonly<Record<string, number>> = {
      ...days[id],
      ...(entries === undefined ? {} : { [asOf]: entries }),
    }
    const young = Object.entries(all).filter(([day]) => Number(day) > asOf - daysKept)
    return young.length === 0 ? [] : [[id, Object.fromEntries(young)] as const]
  })
  return Object.fromEntries(kept)
}
