// One calibration, whole: every feed's tally, lives and weight, and what the weights change. Data
// only; calibration-report.ts writes it down. The same input gives the same result.

import type { Day } from '../../../src/base/day.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { type History, noHistory, readHistory } from '../../../build/history/read-history.ts'
import { tallyAsFeeds } from './as-tally.ts'
import { type LeftOut, leaveOneOut } from '../evaluation/leave-one-out.ts'
import { type WeightEffect, weightEffect } from './weight-effect.ts'
import type { MeasuredInput } from '../world/measured-input.ts'
import { type LifetimeEstimate, estimateLifetime } from './entry-lifetime.ts'
import { type FeedTally, tallyFeeds } from './feed-tally.ts'
import { type MeasuredWeight, measureWeight } from './measured-weight.ts'
import { newWorld, readWorldNetworks } from '../world/cells.ts'

export interface FeedRow {
  readonly feed: Feed
  /** The snapshot's day; `undefined` where there is no snapshot. */
  readonly day: Day | undefined
  readonly tally: FeedTally | undefined
  /** `undefined` where there is no history, or one of too few days. */
  readonly lives: LifetimeEstimate | undefined
  /** As it was set by hand. */
  readonly before: number
  readonly weight: MeasuredWeight
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
  tell('lives of entries')
  const history =
    input.history === undefined
      ? noHistory
      : await readHistory({ store: input.history, feeds, asOf })
  const rows = feeds.map((feed): FeedRow => {
    const before = options.byHand.get(feed.id) ?? feed.weight
    const tally = tallies.get(feed.id)
    const weight = measureWeight({ ...feed, weight: before }, tally)
    const days = files.filter((file) => file.feed.id === feed.id).map(({ day }) => day)
    const day = days.length === 0 ? undefined : (Math.max(...days) as Day)
    return { feed, day, tally, lives: livesIn(history, feed), before, weight }
  })
  tell('what the weights change')
  // With history, as a build judges; taken anew, because a history is used up by a build.
  const past =
    input.history === undefined
      ? noHistory
      : await readHistory({ store: input.history, feeds, asOf })
  const world = newWorld({ land, files, tables, asOf, history: past })
  const before = new Map(rows.map((row) => [row.feed.id, row.before]))
  const after = new Map(rows.map((row) => [row.feed.id, row.weight.weight]))
  const effect = weightEffect(world, { before, after })
  tell('leave one out')
  const crossBefore = leaveOneOut(world, before)
  const crossAfter = leaveOneOut(world, after)
  return { asOf, rows, effect, crossBefore, crossAfter }
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
