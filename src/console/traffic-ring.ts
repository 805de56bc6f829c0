// Two days' traffic by minute: differences of the primary's counters, and what workers
// count for the console (src/observe/traffic-counter.ts). The last point is of the current minute.
// Contains no address. open-console.ts keeps the points over restarts.
//
// Invariants: workers are polled at the end of each minute, and while a console is open at most
// every two seconds in total; a point never changes once its minute is over.

import { addTo, largestSums } from '../base/counts.ts'
import { trafficNamesMax } from '../base/limits.ts'
import {
  type CounterSnapshot,
  answersBySource,
  counterTotals,
  emptyCounterSnapshot,
  durationBounds,
  httpStatuses,
} from '../observe/request-counters.ts'
import { classifications } from '../model/kind.ts'
import { mergeTopRows } from '../observe/top-sketch.ts'
import { type TopKind, type TrafficCounts, scoreBands } from '../observe/traffic-counter.ts'
import { readDecisionLabel } from '../model/policy-form.ts'
import type { TrafficView } from '../api/admin-answers.ts'

/** A day is shown, and the one before summed up. */
const dayMinutes = 1440
export const trafficMinutesMax = 2 * dayMinutes

type Point = TrafficView['minutes'][number]

export type TrafficRing = ReturnType<typeof createTrafficRing>

export interface TrafficSources {
  readonly collectCounters: () => Promise<{ readonly total: CounterSnapshot }>
  readonly takeTraffic: () => Promise<readonly TrafficCounts[]>
}

const minuteMs = 60_000
const freshMs = 2000
/** The window of the most frequent names. */
const topMinutes = 60
const topShown = 20
/** Of each minute. */
const keysKept = 8

type OpenMinute = ReturnType<typeof openMinute>

/** Those of a file that are of the last two days; none where it is not one of points. */
export function keptPoints(value: unknown, nowMs: number): readonly Point[] {
  if (!Array.isArray(value)) return []
  const oldestMs = nowMs - trafficMinutesMax * minuteMs
  return value.filter((one): one is Point => {
    const { at, checks, classes, keys, statuses, limited } = (one ?? {}) as Partial<Point>
    const isPoint = [
      typeof checks,
      typeof classes,
      typeof keys,
      typeof statuses,
      typeof limited,
    ].join()
    const atMs = Date.parse(String(at))
    return isPoint === 'number,object,object,object,object' && atMs >= oldestMs && atMs < nowMs
  })
}

/** `kept`: the points of a server before this one. */
export function createTrafficRing(
  sources: TrafficSources,
  now: () => number,
  kept: readonly Point[] = [],
) {
  const points = [...kept]
  /** Keyed by minute, merged over workers. */
  const hour: TrafficCounts['top'][] = []
  // Created at the server's start: nothing was counted before.
  let open = openMinute(now(), emptyCounterSnapshot)
  // Two empty minutes enclose a time without a server.
  const lastMs = Date.parse(points.at(-1)?.at ?? '')
  if (open.startMs - lastMs > 2 * minuteMs) {
    const ends = [lastMs + minuteMs, open.startMs - minuteMs]
    points.push(
      ...ends.map((ms) => pointOf(openMinute(ms, emptyCounterSnapshot), emptyCounterSnapshot)),
    )
  }
  let latest: CounterSnapshot | undefined
  let lookedMs = -Infinity
  let looking: Promise<void> | undefined

  const lookNow = async (): Promise<void> => {
    const [{ total }, counted] = await Promise.all([
      sources.collectCounters(),
      sources.takeTraffic(),
    ])
    const nowMs = now()
    lookedMs = nowMs
    latest = total
    for (const counts of counted) addCounts(open, counts)
    if (nowMs < open.startMs + minuteMs) return
    points.push(pointOf(open, total))
    hour.push(mergedTops(open.tops, trafficNamesMax))
    points.splice(0, points.length - trafficMinutesMax)
    hour.splice(0, hour.length - topMinutes)
    open = openMinute(nowMs, total)
  }
  const look = (): Promise<void> => {
    looking ??= lookNow().finally(() => {
      looking = undefined
    })
    return looking
  }
  return {
    points: (): readonly Point[] => points,
    /** Polls the workers. */
    look,
    /** Points from `sinceMs` on, and the last hour's most frequent names. */
    view: async (sinceMs: number): Promise<TrafficView> => {
      if (now() - lookedMs >= freshMs) await look()
      const running = latest === undefined ? [] : [pointOf(open, latest)]
      const tops = mergedTops([...hour, ...open.tops], topShown)
      const dayMs = now() - dayMinutes * minuteMs
      return {
        minutes: [...points, ...running].filter(
          ({ at }) => Date.parse(at) >= Math.max(sinceMs, dayMs),
        ),
        before: sumsBefore(points, dayMs),
        top: byKind((kind) => tops[kind].map(([name, checks, error]) => ({ name, checks, error }))),
      }
    },
  }
}

/** For the day before that instant, where all but its first hour is known. */
function sumsBefore(points: readonly Point[], dayMs: number): TrafficView['before'] {
  const before = points.filter(({ at }) => Date.parse(at) < dayMs)
  const first = before[0]
  if (first === undefined || Date.parse(first.at) > dayMs - (dayMinutes - 60) * minuteMs)
    return null
  return {
    checks: before.reduce((sum, { checks }) => sum + checks, 0),
    decisions: Object.fromEntries(
      largestSums(before.flatMap(({ decisions }) => Object.entries(decisions))),
    ),
  }
}

function openMinute(nowMs: number, before: CounterSnapshot) {
  const startMs = Math.floor(nowMs / minuteMs) * minuteMs
  const scores = Array.from({ length: scoreBands }, () => 0)
  const tops: TrafficCounts['top'][] = []
  return { startMs, before, scores, decisions: new Map<string, number>(), tops }
}

function addCounts({ scores, decisions, tops }: OpenMinute, counts: TrafficCounts): void {
  counts.scores.forEach((count, band) => (scores[band]! += count))
  for (const [name, count] of counts.decisions) addTo(decisions, name, count)
  tops.push(counts.top)
}

function mergedTops(tops: readonly TrafficCounts['top'][], shown: number): TrafficCounts['top'] {
  return byKind((kind) =>
    mergeTopRows(
      tops.map((one) => one[kind]),
      { size: trafficNamesMax, shown },
    ),
  )
}

function byKind<Value>(of: (kind: TopKind) => Value): Readonly<Record<TopKind, Value>> {
  return {
    networks: of('networks'),
    countries: of('countries'),
    providers: of('providers'),
    blocked: of('blocked'),
    keys: of('keys'),
  }
}

function pointOf(
  { startMs, before, scores, decisions, tops }: OpenMinute,
  total: CounterSnapshot,
): Point {
  const difference = (member: 'answers' | 'requests' | 'durations'): readonly number[] =>
    total[member].map((count, i) => Math.max(0, count - (before[member][i] ?? 0)))
  const answers = difference('answers')
  const named = (names: readonly (string | number)[], counts: readonly number[]) =>
    Object.fromEntries(
      names.flatMap((name, i) => (counts[i]! > 0 ? [[String(name), counts[i]!]] : [])),
    )
  const [was, is] = [counterTotals(before), counterTotals(total)]
  return {
    at: new Date(startMs).toISOString(),
    checks: answers.reduce((sum, count) => sum + count, 0),
    classes: named(classifications, answers),
    sources: sourcesOf(before, total),
    keys: Object.fromEntries(mergedTops(tops, keysKept).keys),
    scores: [...scores],
    decisions: decisionsOf(before, total, decisions),
    statuses: named(httpStatuses, difference('requests')),
    limited: {
      rate: is.rateLimited - was.rateLimited,
      quota: is.quotaLimited - was.quotaLimited,
    },
    latency: latencyOf(difference('durations')),
  }
}

function sourcesOf(before: CounterSnapshot, total: CounterSnapshot): Point['sources'] {
  const was = answersBySource(before)
  const added = Object.entries(answersBySource(total)).map(
    ([source, count]) => [source, count - (was[source] ?? 0)] as const,
  )
  return Object.fromEntries(added.filter(([, count]) => count > 0))
}

/** For single checks, from their labels' differences; `besides` from workers. */
function decisionsOf(
  before: CounterSnapshot,
  total: CounterSnapshot,
  besides: ReadonlyMap<string, number>,
): Readonly<Record<string, number>> {
  const sums = new Map(besides)
  for (const [label, [count = 0]] of Object.entries(total.decisions)) {
    const added = count - (before.decisions[label]?.[0] ?? 0)
    if (added <= 0) continue
    const { policy, action } = readDecisionLabel(label)
    const name = action === '' ? policy : `${policy}/${action}`
    addTo(sums, name, added)
  }
  return Object.fromEntries(sums)
}

/** Assumes an even spread inside each step of the histogram. */
function latencyOf(counts: readonly number[]): Point['latency'] {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  const percentile = (share: number): number => {
    let before = 0
    for (const [step, count] of counts.entries()) {
      if (before + count >= share * all && count > 0) {
        const low = durationBounds[step - 1] ?? 0
        const high = durationBounds[step] ?? low
        return low + ((high - low) * (share * all - before)) / count
      }
      before += count
    }
    return durationBounds.at(-1) ?? 0
  }
  return { p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99) }
}
