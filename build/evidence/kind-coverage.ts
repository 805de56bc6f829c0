// Which kinds the feeds of a build cover on its day (contract 5.1: coverage; limits in
// src/model/coverage.ts). Hand-kept tables cover a kind partly at most.

import type { Day } from '../../src/base/day.ts'
import {
  type CoverageState,
  type CoveredKind,
  type TableCoverage,
  coveredKinds,
  freshDaysMax,
  usualShareMin,
} from '../../src/model/coverage.ts'
import type { Kind } from '../../src/model/kind.ts'
import type { Feed } from '../catalogue/feed.ts'
import { hostersFeed } from './builtin-feeds.ts'
import type { ParsedSnapshot, TakenSnapshot } from './read-snapshots.ts'

type FeedContent = ReturnType<typeof feedContents>[number]

export type CoverageByKind = Readonly<
  Record<CoveredKind, { readonly state: CoverageState; readonly newest: Day | undefined }>
>

/**
 * Distinct ranges and ASNs of fetched feeds, now and usually. Feeds without entries are left out.
 */
export function feedContents(
  files: readonly ParsedSnapshot[],
  held: ReadonlyMap<string, { readonly size: number; readonly usual: number | undefined }>,
) {
  const feeds = new Map<Feed, Day>()
  for (const { feed, day, entries, problem } of files) {
    if (feed.files.length === 0 || problem !== undefined || entries.length === 0) continue
    feeds.set(feed, Math.max(day, feeds.get(feed) ?? 0) as Day)
  }
  return [...feeds].map(([{ id, kind, usual_entries: first = 0 }, day]) => {
    const { size, usual = first } = held.get(id) ?? { size: 0, usual: 0 }
    return { kind, day, size, usual }
  })
}

export function coverageByKind(feeds: readonly FeedContent[], asOf: Day): CoverageByKind {
  const found = coveredKinds.map((kind) => {
    const own = feeds.filter((feed) => feed.kind === kind)
    const newest = own.length === 0 ? undefined : Math.max(...own.map(({ day }) => day))
    const fresh = own.filter(({ day }) => asOf - day < freshDaysMax[kind])
    const state = fresh.length === 0 ? 'missing' : stateOfFresh(fresh)
    return [kind, { state, newest: newest && Math.min(newest, asOf) }]
  })
  return Object.fromEntries(found) as CoverageByKind
}

/** Growth of one feed does not compensate for a truncated one. */
function stateOfFresh(fresh: readonly FeedContent[]): CoverageState {
  const usual = fresh.reduce((sum, feed) => sum + feed.usual, 0)
  const held = fresh.reduce((sum, feed) => sum + Math.min(feed.size, feed.usual), 0)
  return held >= usual * usualShareMin ? 'full' : 'partly'
}

/** The table's own coverage: that of feeds and hand-kept tables. */
export function tableCoverage(
  byFeeds: CoverageByKind,
  of: {
    readonly files: readonly ParsedSnapshot[]
    readonly addresses: Readonly<Record<Kind, number>>
  },
): TableCoverage {
  const byHand = new Set<string>([hostersFeed.kind])
  for (const { feed, entries } of of.files) {
    if (feed.files.length === 0 && entries.length > 0) byHand.add(feed.kind)
  }
  return coveredKinds.map((kind) => {
    const { state, newest } = byFeeds[kind]
    const whole = state === 'missing' && byHand.has(kind) ? 'partly' : state
    return { kind, state: whole, newest, addresses: of.addresses[kind] }
  })
}

/**
 * By source index, the oldest day of a feed's files: what it listed only before has lapsed.
 * Hand-kept tables have none.
 */
export function newestDays(
  files: readonly { readonly read: TakenSnapshot; readonly source: number }[],
  asOf: Day,
): ReadonlyMap<number, Day> {
  const days = new Map<number, Day>()
  for (const { read, source } of files) {
    if (read.feed.files.length === 0 || source < 0) continue
    days.set(source, Math.min(read.day, asOf, days.get(source) ?? Infinity) as Day)
  }
  return days
}
