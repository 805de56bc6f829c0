// One calibration, whole: every feed's tally, lives and weight, and what the weights change. Data
// only; report/calibration.ts writes it down. The same input gives the same result.

import type { Feed } from '../../../build/catalogue/feed.ts'
import type { ParsedSnapshot } from '../../../build/evidence/read-snapshots.ts'
import { readDayRows } from '../../../build/history/day-file.ts'
import { openDuckDb } from '../../../build/history/duckdb.ts'
import { dayFiles, storedFeeds } from '../../../build/history/history-days.ts'
import { type History, noHistory, readHistory } from '../../../build/history/read-history.ts'
import { valueAt } from '../../../build/layer/layer.ts'
import type { Day } from '../../../src/base/day.ts'
import type { Outcome } from '../../../src/feedback/outcome.ts'
import { newAddressWords } from '../../../src/ip/address.ts'
import { bigintToWords, formatRange, parseRange } from '../../../src/ip/range.ts'
import { type Turnover, halfLifeDays } from '../../../src/score/weight/decay.ts'
import { turnoverOf } from '../../../src/score/weight/weigh-evidence.ts'
import { type LeftOut, leaveOneOut } from '../evaluation/leave-one-out.ts'
import { type WorldNetworks, newWorld, readWorldNetworks } from '../world/cells.ts'
import type { MeasuredInput } from '../world/measured-input.ts'
import { type LifetimeEstimate, estimateLifetime } from './entry-lifetime.ts'
import { type FeedTally, tallyAsFeeds, tallyFeeds } from './feed-tally.ts'
import {
  type DailyListing,
  type FeedHalfLife,
  halfLivesToKeep,
  measureHalfLives,
} from './half-life.ts'
import { type MeasuredWeight, measureWeight } from './measured-weight.ts'
import { type OutcomeTally, tallyOutcomes } from './outcome-tally.ts'
import { type WeightEffect, weightEffect } from './weight-effect.ts'

export interface FeedRow {
  readonly feed: Feed
  /** The snapshot's day; `undefined` where there is no snapshot. */
  readonly day: Day | undefined
  readonly tally: FeedTally | undefined
  /** What callers reported of its addresses; `undefined` where they reported nothing. */
  readonly outcomes: OutcomeTally | undefined
  /** `undefined` where there is no history, or one of too few days. */
  readonly lives: LifetimeEstimate | undefined
  /** As it was set by hand. */
  readonly before: number
  readonly weight: MeasuredWeight
  /** By class of network; none without a history of evidence that fades. */
  readonly halfLives: readonly FeedHalfLife[]
}

export interface Calibration {
  readonly asOf: Day
  readonly rows: readonly FeedRow[]
  readonly effect: WeightEffect
  /** Leave one out, with the weights set by hand and with these. */
  readonly crossBefore: readonly LeftOut[]
  readonly crossAfter: readonly LeftOut[]
}

export async function calibrate(
  input: MeasuredInput,
  options: {
    readonly feeds: readonly Feed[]
    /** Weights set by hand, by feed; where it names none, the catalogue's. */
    readonly byHand: ReadonlyMap<string, number>
    readonly networkFiles?: readonly string[] | undefined
    /** How addresses turned out, one of each. */
    readonly outcomes?: Iterable<Pick<Outcome, 'address' | 'outcome'>> | undefined
    readonly tell?: (text: string) => void
  },
): Promise<Calibration> {
  const { feeds, tell = () => undefined } = options
  const { files, tables, asOf } = input
  const land = await readWorldNetworks({ files, tables, networkFiles: options.networkFiles })
  tell('entries of the snapshots against each other')
  // Without history: what a feed no longer lists is not its word.
  const today = newWorld({ land, files, tables, asOf })
  const tallies = new Map([...tallyFeeds(today), ...tallyAsFeeds(today)])
  const reported = tallyOutcomes(today, options.outcomes ?? [])
  tell('lives of entries')
  const history =
    input.history === undefined
      ? noHistory
      : await readHistory({ store: input.history, feeds, asOf })
  const halfLivesOf = await measureAllHalfLives(input, feeds, land)
  const rows = feeds.map((feed): FeedRow => {
    const before = options.byHand.get(feed.id) ?? feed.weight
    const tally = tallies.get(feed.id)
    const outcomes = reported.get(feed.id)
    const weight = measureWeight({ ...feed, weight: before }, tally, outcomes)
    const days = files.filter((file) => file.feed.id === feed.id).map(({ day }) => day)
    const day = days.length === 0 ? undefined : (Math.max(...days) as Day)
    const lives = livesIn(history, feed)
    return { feed, day, tally, outcomes, lives, before, weight, halfLives: halfLivesOf(feed) }
  })
  tell('what the weights change')
  // With history, as a build judges; taken anew, because a history is used up by a build.
  const past =
    input.history === undefined
      ? noHistory
      : await readHistory({ store: input.history, feeds, asOf })
  const world = newWorld({
    land,
    files: withHalfLives(files, rows),
    tables,
    asOf,
    history: past,
  })
  const before = new Map(rows.map((row) => [row.feed.id, row.before]))
  const after = new Map(rows.map((row) => [row.feed.id, row.weight.weight]))
  const effect = weightEffect(world, { before, after })
  tell('leave one out')
  const crossBefore = leaveOneOut(world, before)
  const crossAfter = leaveOneOut(world, after)
  return { asOf, rows, effect, crossBefore, crossAfter }
}

/** With the half-lives that were measured, for the catalogue's may be those of another day. */
function withHalfLives(
  files: readonly ParsedSnapshot[],
  rows: readonly FeedRow[],
): readonly ParsedSnapshot[] {
  const measured = new Map<string, Feed>()
  for (const { feed, halfLives } of rows) {
    if (halfLives.length === 0) continue
    const { half_life_days: _, ...others } = feed
    const kept = halfLivesToKeep(feed, halfLives)
    const isKept = Object.keys(kept).length > 0
    measured.set(feed.id, isKept ? { ...others, half_life_days: kept } : others)
  }
  return files.map((file) => ({ ...file, feed: measured.get(file.feed.id) ?? file.feed }))
}

function livesIn(history: History, feed: Feed): LifetimeEstimate | undefined {
  const found = history.of(feed.id)
  if (found === undefined) return undefined
  return estimateLifetime(
    (function* () {
      for (const { seen } of found.lapsed()) yield seen
    })(),
    found.days,
  )
}

/** Independent feeds of a kind; proxies of both kinds are one. */
async function measureAllHalfLives(
  { history: store }: MeasuredInput,
  feeds: readonly Feed[],
  { networks: { networks, layers } }: WorldNetworks,
): Promise<(feed: Feed) => readonly FeedHalfLife[]> {
  if (store === undefined) return () => []
  const fading = feeds.filter(({ kind }) => kind !== 'network' && halfLifeDays[kind] !== undefined)
  const listings = await readDailyListings(store, new Set(fading.map(({ id }) => id)))
  const words = newAddressWords()
  const turnoverAt = (text: string): Turnover => {
    const range = parseRange(text)
    if (range === undefined) return 'elsewhere'
    bigintToWords(range.family, range.first, words)
    return turnoverOf(networks[valueAt(layers[range.family], words) - 1])
  }
  return (feed) => {
    const own = listings.get(feed.id)
    if (own === undefined) return []
    const others = fading.filter(
      (other) => other.group !== feed.group && familyOf(other.kind) === familyOf(feed.kind),
    )
    return measureHalfLives(
      own,
      others.flatMap(({ id }) => listings.get(id) ?? []),
      turnoverAt,
    )
  }
}

function familyOf(kind: Feed['kind']): Feed['kind'] {
  return kind === 'residential_proxy' ? 'proxy' : kind
}

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
