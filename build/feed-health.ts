// Failing feeds by the last build's report and the snapshot store, worst first:
//
//   dead     an address is gone (404, 410)
//   moved    it answers with something else: a page, a body without entries, a fraction of the size
//   failing  it failed for a reason that may pass
//   frozen   its data are old or, of a kind that fades, unchanged
//   shrunk   it holds less than half of what it usually does, or is quarantined
//
// Only feeds that the last build used.

import { existsSync, readFileSync } from 'node:fs'
import { type Day, formatDay, parseDay } from '../src/base/day.ts'
import { formatCount } from '../src/base/text/number-format.ts'
import { halfLifeDays } from '../src/score/weight/decay.ts'
import type { BuildReport, FeedReport } from './build-report.ts'
import type { CatalogueFeed } from './catalogue/feed.ts'
import type { SnapshotRecord } from './fetch/snapshot-record.ts'
import { readStoredSnapshots } from './fetch/snapshot-store.ts'

const failingStates = ['dead', 'moved', 'failing', 'frozen', 'shrunk'] as const

interface FailingFeed {
  readonly id: string
  readonly state: (typeof failingStates)[number]
  readonly why: string
}

/** Days a feed's data may be old when fetched, by its cadence. */
const ageDaysMax: Readonly<Record<CatalogueFeed['cadence'], number>> = {
  hourly: 3,
  daily: 14,
  weekly: 45,
  monthly: 90,
  static: Infinity,
}

/** Empty without a report. */
export async function failingFeeds(
  catalogue: readonly CatalogueFeed[],
  { report, snapshots }: { readonly report: string; readonly snapshots: string },
): Promise<readonly FailingFeed[]> {
  if (!existsSync(report)) return []
  const { feeds = [], table } = JSON.parse(readFileSync(report, 'utf8')) as Partial<BuildReport>
  const asOf = parseDay(table?.as_of ?? '') ?? (0 as Day)
  const reports = new Map(feeds.map((one) => [one.id, one]))
  const failing: FailingFeed[] = []
  for (const feed of catalogue) {
    const said = reports.get(feed.id)
    if (said === undefined) continue
    const stored = await readStoredSnapshots(snapshots, feed.id)
    const found = judgeHealth(feed, said, stored, asOf)
    if (found !== undefined) failing.push({ id: feed.id, ...found })
  }
  const rank = ({ state }: FailingFeed): number => failingStates.indexOf(state)
  return failing.toSorted((a, b) => rank(a) - rank(b))
}

function judgeHealth(
  feed: CatalogueFeed,
  report: FeedReport,
  stored: readonly SnapshotRecord[],
  asOf: Day,
): Omit<FailingFeed, 'id'> | undefined {
  const { problem = '', trouble, quarantined, unique } = report
  if (trouble !== undefined) return { state: trouble, why: problem }
  if (report.state === 'missing') return { state: 'failing', why: problem }
  if (quarantined !== undefined) return { state: 'shrunk', why: quarantined.reasons.join('; ') }
  const fetched = Math.max(asOf, ...stored.map(({ day }) => day))
  const stated = parseDay(report.day ?? '') ?? fetched
  const max = ageDaysMax[feed.cadence]
  const limit = `${feed.cadence}: at most ${max}`
  if (fetched - stated > max) {
    const age = `${formatCount(fetched - stated)} days old when it was fetched`
    return { state: 'frozen', why: `its data are of ${report.day}, ${age} (${limit})` }
  }
  const since = Math.max(...stored.map((one) => one.since ?? fetched))
  const fades = feed.kind in halfLifeDays && halfLifeDays[feed.kind as never] !== undefined
  if (fades && stored.length > 0 && fetched - since > max) {
    const why = `it has been the same since ${formatDay(since as Day)}, ${fetched - since} days (${limit})`
    return { state: 'frozen', why }
  }
  const usual = feed.usual_entries ?? 0
  if (unique * 2 >= usual || feed.kind === 'network') return undefined
  const why = `it holds ${formatCount(unique)} entries; ${formatCount(usual)} are usual`
  return { state: 'shrunk', why }
}
