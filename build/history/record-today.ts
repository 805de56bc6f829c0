// A build's contribution to the history: what each feed lists today, unfolded. A feed with an
// unreadable file adds nothing: half a feed looks like one that dropped the rest. Nor do AS facts
// and hand-kept tables, which have no days.

import { groupBy } from '../../src/base/counts.ts'
import type { Day } from '../../src/base/day.ts'
import { messageOf } from '../../src/base/coded-error.ts'
import { type Feed, whyInadmissible } from '../catalogue/feed.ts'
import { type Entry, rangeOf } from '../parse/entry.ts'
import type { ListedRange } from './day-content.ts'
import { type HistoryStoreOptions, openHistoryStore } from './history-store.ts'

export interface SnapshotEntries {
  readonly feed: Feed
  readonly entries: readonly Entry[]
  readonly day: Day
  readonly problem: string | undefined
}

/** Adds snapshots to the store or its staging folder. Throws the errors of opening it. */
export async function recordToday(
  files: readonly SnapshotEntries[],
  options: HistoryStoreOptions & {
    readonly without?: ReadonlySet<string> | undefined
    /** Called once a feed's day is final, even if the feed added nothing. */
    readonly onFeed?: ((feed: Feed) => void) | undefined
  },
) {
  /** `problems`: feeds that were not added, one line each. */
  const report = { writtenCount: 0, unchangedCount: 0, problems: [] as string[] }
  const store = await openHistoryStore(options)
  try {
    for (const [feed, own] of groupBy(files, ({ feed }) => feed)) {
      const without = options.without?.has(feed.id) === true
      const isUsed = !without && isComplete(feed, own)
      const listed = isUsed ? own.flatMap(({ entries }) => admissibleRanges(feed, entries)) : []
      if (listed.length > 0) {
        const day = Math.max(...own.map(({ day }) => day)) as Day
        try {
          const { state } = await store.addSnapshot({ feed: feed.id, day, listed })
          report[`${state}Count`]++
        } catch (thrown) {
          report.problems.push(`${feed.id}: not added to the history: ${messageOf(thrown)}`)
        }
      }
      options.onFeed?.(feed)
    }
    return report
  } finally {
    await store.close()
  }
}

export function admissibleRanges(feed: Feed, entries: readonly Entry[]): ListedRange[] {
  const listed: ListedRange[] = []
  for (const entry of entries) {
    const { lists, provider, category } = entry
    const range = rangeOf(entry)
    if (range === undefined || whyInadmissible(feed, range) !== undefined) continue
    listed.push({
      range,
      lists: lists === 1 ? undefined : lists,
      provider: provider === '' ? undefined : provider,
      category,
    })
  }
  return listed
}

function isComplete(feed: Feed, own: readonly SnapshotEntries[]): boolean {
  if (feed.kind === 'network' || feed.files.length === 0) return false
  return own.every(({ problem }) => problem === undefined)
}
