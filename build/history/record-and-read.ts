// A build's whole work on the history: it records what its feeds list today, and reads each feed's
// days, that one among them, while it records the next feed. Recording is JavaScript for the most
// part and reading is DuckDB's, so that together they take less time than one after the other.
//
// Invariant: what comes out is what `recordToday` and then `readHistory` give.

import { availableParallelism } from 'node:os'
import type { Feed } from '../catalogue/feed.ts'
import type { AggregateOptions } from './aggregate-days.ts'
import { openDuckDb } from './duckdb.ts'
import type { HistoryStoreOptions } from './history-store.ts'
import { type History, newHistoryReader } from './read-history.ts'
import { type RecordReport, type SnapshotEntries, recordToday } from './record-today.ts'

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
