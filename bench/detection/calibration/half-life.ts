// How fast does a feed's word lose its worth, once it no longer lists an address? From the history:
// of the entries that left the feed, the share that is seen again k days later, by class of
// network.
//
//   confirmed   an independent feed of the kind names it on that day (compared with how many of the
//               feed's entries that feed names on the day on which they are still listed)
//   returned    the feed lists it again on that day, for the first time since it left, of those that
//               had not come back before (compared with the first day on which one could)
//
// Confirmation says more, for it does not hang on one publisher; where fewer than `eventsMin` such
// sightings are left, the returns are taken. Days without a snapshot say nothing. The half-life is
// the H of 2^(−k / H) that fits the shares best, each counted by its sightings.
//
//   H = Σ n·k² / Σ n·k·y        y = −log2(share at k / share at the start)

import type { Feed } from '../../../build/catalogue/feed.ts'
import type { Day } from '../../../src/base/day.ts'
import type { HalfLives } from '../../../src/model/evidence.ts'
import type { Turnover } from '../../../src/score/weight/decay.ts'
import { daysKeptMax } from '../../../src/score/weight/decay.ts'

/** The first and last day of absence of each bucket. */
export const absenceBuckets = [
  [1, 1],
  [2, 3],
  [4, 7],
  [8, 14],
  [15, 21],
  [22, 30],
  [31, 45],
  [46, 60],
] as const

/** Fewer sightings again are no measurement. */
export const eventsMin = 30
/** A half-life below it would say that the feed's word ends with the day. */
const daysMin = 0.5

/** A feed's days, and on which of them each address was listed, ascending. */
export interface DailyListing {
  readonly days: readonly Day[]
  readonly listed: ReadonlyMap<string, readonly Day[]>
}

/** Sightings again after so many days, of so many that could have been seen. */
export interface CurvePoint {
  readonly seen: number
  readonly asked: number
}

export interface HalfLifeCurve {
  readonly by: 'confirmed' | 'returned'
  /** What the shares are compared with. */
  readonly start: CurvePoint
  /** One a bucket. */
  readonly points: readonly CurvePoint[]
  /** One decimal; `undefined` where too little was seen again, or no fall is to be seen. */
  readonly days: number | undefined
}

export interface FeedHalfLife {
  readonly turnover: Turnover
  readonly departures: number
  readonly curve: HalfLifeCurve
}

export function measureHalfLives(
  own: DailyListing,
  others: readonly DailyListing[],
  turnoverOf: (address: string) => Turnover,
): readonly FeedHalfLife[] {
  const sums = new Map<Turnover, Sums>()
  for (const [address, days] of own.listed) {
    const turnover = turnoverOf(address)
    const sum = sums.get(turnover) ?? newSums()
    sums.set(turnover, sum)
    addAddress(sum, days, { own, others, address })
  }
  return [...sums].map(([turnover, sum]) => ({
    turnover,
    departures: sum.departures,
    curve: curveOf(sum),
  }))
}

interface Sums {
  departures: number
  readonly together: { seen: number; asked: number }
  readonly confirmed: { seen: number; asked: number }[]
  readonly returned: { seen: number; asked: number }[]
}

function newSums(): Sums {
  const points = () => absenceBuckets.map(() => ({ seen: 0, asked: 0 }))
  const together = { seen: 0, asked: 0 }
  return { departures: 0, together, confirmed: points(), returned: points() }
}

function addAddress(
  sum: Sums,
  days: readonly Day[],
  at: {
    readonly own: DailyListing
    readonly others: readonly DailyListing[]
    readonly address: string
  },
): void {
  const { own, others, address } = at
  const elsewhere = others.map(({ days: observed, listed }) => ({
    observed: new Set(observed),
    listed: new Set(listed.get(address) ?? []),
  }))
  const namedOn = (day: Day): boolean | undefined => {
    const asked = elsewhere.filter(({ observed }) => observed.has(day))
    return asked.length === 0 ? undefined : asked.some(({ listed }) => listed.has(day))
  }
  const listed = new Set(days)
  let left: Day | undefined
  for (const day of own.days) {
    if (listed.has(day)) {
      count(sum.together, namedOn(day))
      if (left !== undefined) count(sum.returned[bucketOf(day - left)], true)
      left = undefined
      continue
    }
    // The first day of absence counts from the last one listed.
    const last = left ?? lastBefore(days, day)
    if (last === undefined) continue
    if (left === undefined) sum.departures++
    left = last
    count(sum.returned[bucketOf(day - last)], false)
    count(sum.confirmed[bucketOf(day - last)], namedOn(day))
  }
}

function count(
  point: { seen: number; asked: number } | undefined,
  seen: boolean | undefined,
): void {
  if (point === undefined || seen === undefined) return
  point.asked++
  if (seen) point.seen++
}

function bucketOf(days: number): number {
  return absenceBuckets.findIndex(([, last]) => days <= last)
}

function lastBefore(days: readonly Day[], day: Day): Day | undefined {
  return days.findLast((one) => one < day)
}

function curveOf({ together, confirmed, returned }: Sums): HalfLifeCurve {
  const events = (points: readonly CurvePoint[]): number =>
    points.reduce((sum, { seen }) => sum + seen, 0)
  const isConfirmed = together.seen >= eventsMin && events(confirmed) >= eventsMin
  const [by, points] = isConfirmed
    ? (['confirmed', confirmed] as const)
    : (['returned', returned] as const)
  const start = isConfirmed ? together : (points.find(({ seen }) => seen > 0) ?? points[0]!)
  const days = events(points) < eventsMin ? undefined : fittedHalfLife(start, points)
  return { by, start, points, days }
}

/** Buckets without a sighting count as half a sighting: their logarithm would be no number. */
export function fittedHalfLife(
  start: CurvePoint,
  points: readonly CurvePoint[],
): number | undefined {
  let squares = 0
  let products = 0
  points.forEach((point, bucket) => {
    if (point === start || point.asked < eventsMin || start.seen === 0) return
    const [first, last] = absenceBuckets[bucket] ?? [0, 0]
    const middle = (first + last) / 2
    const share = Math.max(point.seen, 0.5) / point.asked
    const fall = -Math.log2(share / (start.seen / start.asked))
    const weight = Math.max(point.seen, 1)
    squares += weight * middle * middle
    products += weight * middle * fall
  })
  if (products <= 0) return undefined
  const days = Math.max(daysMin, squares / products)
  // Beyond what is kept there is no fall to be seen.
  return days > daysKeptMax ? undefined : Math.round(days * 10) / 10
}

/** Absences of so many days must have been watched. */
const watchedBucket = absenceBuckets.findIndex(([first]) => first === 22)

/**
 * Those that the catalogue is to have. What an independent feed confirms; of residential proxies,
 * of which there is no second list, the returns. Returns to other lists say how steady the list is,
 * and those to a list of several days are its window. A rule or situation of the specification
 * wins: Tor stays at one day, for a relay that is no exit must be none, and networks where many
 * share an address keep their kind's.
 */
export function halfLivesToKeep(
  feed: Pick<Feed, 'kind' | 'rolling' | 'half_life_days'>,
  measured: readonly FeedHalfLife[],
): HalfLives {
  const { half_life_days: known } = feed
  // Longer than any history here: found by comparing lists that are years apart, and set by hand.
  if (known !== undefined && Object.values(known).some((days = 0) => days > daysKeptMax))
    return known
  const kept: { -readonly [K in keyof HalfLives]: HalfLives[K] } = {}
  for (const { turnover, curve } of measured) {
    const isResidential = feed.kind === 'residential_proxy' && !feed.rolling
    const isTold = curve.by === 'confirmed' || isResidential
    const isWatched = (curve.points[watchedBucket]?.asked ?? 0) >= eventsMin
    if (feed.kind === 'tor' || turnover === 'shared' || !isTold || !isWatched) continue
    if (curve.days !== undefined) kept[turnover] = curve.days
  }
  return kept
}
