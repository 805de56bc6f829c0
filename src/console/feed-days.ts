// The entries of each feed by day, in a small file of the state folder: a table only knows its own
// day. Written when a table of another day answers.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../base/coded-error.ts'
import type { Log } from '../base/log.ts'
import { replaceOwnFile } from '../base/system/own-files.ts'
import type { TableInfo } from '../table/served-table.ts'

/** By feed and day; days since 1970. */
export type FeedDays = Readonly<Record<string, Readonly<Record<string, number>>>>

const daysKept = 60

export type FeedDaysFile = ReturnType<typeof openFeedDays>

export function openFeedDays(state: string, log: Log) {
  const path = join(state, 'feed-days.json')
  let days = read(path)
  return {
    days: () => days,
    /** Writes only if something is new. */
    note: async (table: Pick<TableInfo, 'asOf' | 'sources'> | undefined): Promise<void> => {
      if (table === undefined) return
      const next = withDay(days, table)
      if (JSON.stringify(next) === JSON.stringify(days)) return
      days = next
      try {
        await replaceOwnFile(path, JSON.stringify(days))
      } catch (error) {
        log.warn({ path }, `The entries of feeds by day cannot be kept: ${messageOf(error)}`)
      }
    },
  }
}

/** Foreign content counts as nothing. */
function read(path: string): FeedDays {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as FeedDays) : {}
  } catch {
    return {}
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
