// Hot path: `countRequest`, `countAnswer`, `countLabels`, `countDecision` and `countEvent`. No
// allocation, throw or closure there.
//
// What one worker counts, in typed arrays: three additions per request. The primary gathers
// snapshots for src/admin/metrics/prometheus-text.ts. Counts only grow, from 0 in every worker.

import type { Outcome } from '../policy/policy.ts'
import type { AnswerLabels } from '../table/answer/answer-reader.ts'
import {
  type Classification,
  classifications,
  levels,
  type OutcomeWord,
  outcomeWords,
} from '../model/kind.ts'
import {
  type LabelSnapshot,
  addLabelSnapshots,
  countLabel,
  labelSnapshot,
  newLabelCounts,
} from './label-counts.ts'
import { type LoopLag, noLoopLag } from './loop-lag.ts'

export const httpStatuses = [
  200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 413, 422, 429, 500, 503,
] as const
export type HttpStatus = (typeof httpStatuses)[number]

/** Upper bounds of the duration histogram, seconds. */
export const durationBounds = [
  0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025,
  0.05, 0.1, 0.25, 1, 5,
] as const

const boundsMs = Float64Array.from(durationBounds, (seconds) => seconds * 1000)
const statusIndex = new Uint8Array(600)
httpStatuses.forEach((status, i) => {
  statusIndex[status] = i
})
const levelIndex = new Map<string, number>(levels.map((name, i) => [name, i]))
const classificationIndex = new Map<string, number>(classifications.map((name, i) => [name, i]))

/** Other counts: index in `totals` by name. */
const totalIndex = {
  /** Milliseconds from request to answer, summed. */
  durationMsSum: 0,
  /** Connections closed by the framing guard. */
  refused: 1,
  /** Requests whose client left before the answer. */
  aborted: 2,
  rateLimited: 3,
  quotaLimited: 4,
  /** Outages of the store of keys and quotas. */
  outages: 5,
  /** Connections closed at accept, above the cap of all connections. */
  closedForAll: 6,
  /** Connections closed at accept, above the cap of their address. */
  closedForAddress: 7,
  /** Connections cut off: trickled bodies, or too much for strangers in one turn. */
  closedForWork: 11,
  /** Losses of acknowledged keys or units by the store. */
  losses: 8,
  /** Requests refused because unfinished bodies held all the room. */
  shed: 9,
  opened: 10,
  /** Connections to the gate closed at accept: their peers are not in `--gate-peers`. */
  closedForPeer: 16,
  /** Visitors at the gate whose address is a bogon. */
  privateVisitors: 17,
  /** Visitors at the gate judged; `answers` has them too. */
  gateAnswers: 18,
  /** Decisions for bouncers, made live; `answers` has them too. */
  bouncerAnswers: 19,
  /** Decision-log lines written, and those without room. */
  decisionsLogged: 12,
  decisionsLost: 13,
  /** Refused feedback: of a key above its daily share; without room, or disk. */
  feedbackOverShare: 14,
  feedbackNotKept: 15,
} as const
type TotalName = keyof typeof totalIndex
const totalNames = Object.keys(totalIndex) as readonly TotalName[]

export type RequestCounters = ReturnType<typeof newRequestCounters>

const countNames = [
  'requests',
  'testRequests',
  'gateRequests',
  'answers',
  'scores',
  'outcomes',
  'durations',
  'totals',
] as const
const labelNames = ['countries', 'providers', 'decisions', 'observed', 'gateDegraded'] as const

/** Counts as sent to the primary, with the process's own costs. */
export interface CounterSnapshot
  extends
    Readonly<Record<(typeof countNames)[number], readonly number[]>>,
    Readonly<Record<(typeof labelNames)[number], LabelSnapshot>>,
    Readonly<Omit<RequestCounters, (typeof countNames | typeof labelNames)[number]>> {
  readonly pool: PoolCounts
  readonly loop: LoopLag
  readonly residentBytes: number
  readonly cpuSeconds: number
}

export function mapNames<Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>
}

export function newRequestCounters() {
  return {
    /** Keyed by index in `httpStatuses`. */
    requests: new Float64Array(httpStatuses.length),
    /** For test keys, which no other count includes. */
    testRequests: new Float64Array(httpStatuses.length),
    /** For the gate, which `requests` excludes; by index in `httpStatuses`. */
    gateRequests: new Float64Array(httpStatuses.length),
    /** Visitors of the gate let in undecided, or by another policy than named, by code. */
    gateDegraded: newLabelCounts(1),
    /** Keyed by index in `classifications`. */
    answers: new Float64Array(classifications.length),
    /** For single checks. */
    scores: new Float64Array(levels.length),
    /** For single checks; columns are `levels`. */
    countries: newLabelCounts(levels.length),
    providers: newLabelCounts(levels.length),
    /** For single checks, by outcome label (src/policy/policy.ts). */
    decisions: newLabelCounts(1),
    /** For single checks, by policy and rule: matches of rules in observation. */
    observed: newLabelCounts(1),
    outcomes: new Float64Array(outcomeWords.length),
    /** Keyed by index in `durationBounds`, not cumulative; the last is above all bounds. */
    durations: new Float64Array(durationBounds.length + 1),
    totals: new Float64Array(totalNames.length),
    /** The store's last answer. */
    storeReachable: true,
    keysReadable: true,
    keysSkipped: 0,
    connections: 0,
    /** Room held by unfinished bodies. */
    bodyBytes: 0,
  }
}

/**
 * Counts a request's status and duration. Takes two instants, because a passed difference would be
 * a number on the heap.
 */
export function countRequest(
  counters: RequestCounters,
  status: HttpStatus,
  startedMs: number,
  nowMs: number,
): void {
  const { requests, durations, totals } = counters
  const durationMs = nowMs - startedMs
  requests[statusIndex[status]!]! += 1
  let bucket = 0
  while (bucket < boundsMs.length && durationMs > boundsMs[bucket]!) bucket += 1
  durations[bucket]! += 1
  totals[totalIndex.durationMsSum]! += durationMs
}

export function countTestRequest({ testRequests }: RequestCounters, status: HttpStatus): void {
  testRequests[statusIndex[status]!]! += 1
}

/** `degraded` is a code, or `''`. */
export function countGateRequest(
  { gateRequests, gateDegraded }: RequestCounters,
  status: HttpStatus,
  degraded: string,
): void {
  gateRequests[statusIndex[status]!]! += 1
  if (degraded !== '') countLabel(gateDegraded, degraded, 0)
}

/** The last word and its index: consecutive checks mostly have the same. */
const lastClassification = { word: '', index: 0 }
const lastLevel = { word: '', index: 0 }

export function countAnswer(counters: RequestCounters, classification: Classification): void {
  counters.answers[indexOf(classification, classificationIndex, lastClassification)]! += 1
}

function indexOf(
  word: string,
  indices: ReadonlyMap<string, number>,
  last: { word: string; index: number },
): number {
  if (word !== last.word) {
    last.index = indices.get(word)!
    last.word = word
  }
  return last.index
}

export function countLabels(
  { scores, countries, providers }: RequestCounters,
  { level, provider, country }: Omit<AnswerLabels, 'score'>,
): void {
  const column = indexOf(level, levelIndex, lastLevel)
  scores[column]! += 1
  countLabel(countries, country, column)
  if (provider !== '') countLabel(providers, provider, column)
}

export function countDecision(
  { decisions, observed }: RequestCounters,
  { label, observedLabels }: Pick<Outcome, 'label' | 'observedLabels'>,
): void {
  countLabel(decisions, label, 0)
  for (let i = 0; i < observedLabels.length; i++) countLabel(observed, observedLabels[i]!, 0)
}

export function countOutcome({ outcomes }: RequestCounters, outcome: OutcomeWord): void {
  outcomes[outcomeWords.indexOf(outcome)]! += 1
}

/** Counts by index in `classifications`, from a pool thread. */
export function addAnswerCounts(counters: RequestCounters, added: readonly number[]): void {
  added.forEach((count, i) => {
    counters.answers[i]! += count
  })
}

export function countEvent(
  { totals }: Pick<RequestCounters, 'totals'>,
  name: Exclude<TotalName, 'durationMsSum'>,
): void {
  totals[totalIndex[name]]! += 1
}

export function countStoreOutage(counters: RequestCounters): void {
  counters.storeReachable = false
  countEvent(counters, 'outages')
}

export function counterSnapshot(
  counters: RequestCounters,
  pool: PoolCounts = idlePool,
  loop: LoopLag = noLoopLag,
): CounterSnapshot {
  const { user, system } = process.cpuUsage()
  return {
    ...counters,
    ...mapNames(countNames, (name) => [...counters[name]]),
    ...mapNames(labelNames, (name) => labelSnapshot(counters[name])),
    pool,
    loop,
    residentBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1e6,
  }
}

/** For a pool that never worked. */
const idlePool = {
  threads: 0,
  requests: 0,
  /** Items waiting for a thread. */
  waiting: 0,
  refused: 0,
  tasks: 0,
  items: 0,
  deaths: 0,
  /** For items, from `run` to the start of their task. */
  waitMs: 0,
  /** For tasks, in their thread. */
  runMs: 0,
}
export type PoolCounts = Readonly<typeof idlePool>

const poolSums = ['refused', 'tasks', 'items', 'deaths', 'waitMs', 'runMs'] as const

export const emptyCounterSnapshot: CounterSnapshot = {
  ...counterSnapshot(newRequestCounters()),
  residentBytes: 0,
  cpuSeconds: 0,
}

/** Sums counts; states, gauges and costs are the second one's. */
export function addCounterSnapshots(
  left: CounterSnapshot,
  right: CounterSnapshot,
): CounterSnapshot {
  const add = (name: (typeof countNames)[number]): readonly number[] =>
    left[name].map((value, i) => value + (right[name][i] ?? 0))
  return {
    ...right,
    ...mapNames(countNames, add),
    ...mapNames(labelNames, (name) => addLabelSnapshots(left[name], right[name])),
    pool: { ...right.pool, ...mapNames(poolSums, (name) => left.pool[name] + right.pool[name]) },
  }
}

/** Answers by source: the API, the gate, a CrowdSec bouncer. */
export function answersBySource(counters: CounterSnapshot): Readonly<Record<string, number>> {
  const { gateAnswers: gate, bouncerAnswers: bouncer } = counterTotals(counters)
  const all = counters.answers.reduce((sum, count) => sum + count, 0)
  return { check: all - gate - bouncer, gate, bouncer }
}

export function counterTotals({ totals }: CounterSnapshot): Readonly<Record<TotalName, number>> {
  const named = totalNames.map((name) => [name, totals[totalIndex[name]] ?? 0])
  return Object.fromEntries(named) as Record<TotalName, number>
}
