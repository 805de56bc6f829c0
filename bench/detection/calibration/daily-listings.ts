// What each feed listed on each day of the history, whole: every address or range as it was
// written, by its text. For measures over time; a build reads the same days folded (build/history).

import { formatRange } from '../../../src/ip/range.ts'
import type { Day } from '../../../src/base/day.ts'
import { openDuckDb } from '../../../build/history/duckdb.ts'
import { readDayRows } from '../../../build/history/day-file.ts'
import { dayFiles, storedFeeds } from '../../../build/history/history-days.ts'
import type { DailyListing } from './half-life.ts'

/** By feed id; feeds without days are left out. */
export async function readDailyListings(
  store: string,
  feedIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, DailyListing>> {
  const found = new Map<string, DailyListing>()
  const duck = await openDuckDb({ spill: store })
  try {
    for (const id of await storedFeeds(store)) {
      if (!feedIds.has(id)) continue
      const listed = new Map<string, Day[]>()
      const days: Day[] = []
      for (const { day, path } of await dayFiles({ store }, id)) {
        days.push(day)
        for (const { range } of await readDayRows(duck, path)) {
          const text = formatRange(range)
          const known = listed.get(text)
          if (known === undefined) listed.set(text, [day])
          else if (known.at(-1) !== day) known.push(day)
        }
      }
      if (days.length > 1) found.set(id, { days, listed })
    }
    return found
  } finally {
    await duck.close()
  }
}
