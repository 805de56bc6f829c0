// Hot path: `takeCheck`. No allocation, throw, closure or regular expression there.
//
// A worker's part in what the console shows of traffic (only where it is on): scores, and the
// networks, countries and providers that are asked about most. A check costs one addition; the
// names of one in 64 are counted, and all of the first 256 of a minute, so that few are counted
// exactly; of many (a thousand a second) one in 512. Of a piece of a batch a few answers stand for
// all of it. The decisions of checks are counted anyway (request-counters.ts); those of pieces are
// counted here.

import { trafficNamesMax } from '../base/limits.ts'
import type { AnswerFacts } from './answer-facts.ts'
import { mapNames } from './request-counters.ts'
import { createTopSketch, type TopRow } from './top-sketch.ts'

export type TrafficCounter = ReturnType<typeof createTrafficCounter>

const minuteMs = 60_000
const allUpTo = 256
const fewUpTo = 65_536
/** Powers of two. */
const oneInFew = 64
const oneInMany = 512

export function createTrafficCounter(now: () => number = Date.now) {
  const scores = new Float64Array(scoreBands)
  const decisions = new Map<string, number>()
  let tops = newTops()
  /** Checks of this minute; who looks at the console in between does not begin anew. */
  let seen = 0
  let minute = 0

  const takeNames = ({ network, country, provider }: AnswerFacts, weight: number): void => {
    if (network !== undefined) tops.networks.add(`AS${network.asn} ${network.organization}`, weight)
    if (country !== undefined) tops.countries.add(country, weight)
    if (provider !== '') tops.providers.add(provider, weight)
  }
  const countDecision = ({ decision }: AnswerFacts, weight: number): void => {
    if (decision === undefined) return
    const name = `${decision.policy}/${decision.action}`
    const known = decisions.get(name)
    if (known !== undefined || decisions.size < decisionsMax) {
      decisions.set(name, (known ?? 0) + weight)
    }
  }
  return {
    /** Counts a check answered in the loop; returns how many checks its names stand for, often 0. */
    takeCheck: (score: number): number => {
      scores[bandOf(score)]! += 1
      seen += 1
      if (seen <= allUpTo) return 1
      const oneIn = seen <= fewUpTo ? oneInFew : oneInMany
      return (seen & (oneIn - 1)) === 0 ? oneIn : 0
    },
    takeNames,
    /** Answers that the pool has made; these stand for `count`. */
    takePiece: (answers: readonly AnswerFacts[], count: number): void => {
      for (const answer of answers) {
        const weight = count / answers.length
        scores[bandOf(answer.score)]! += weight
        countDecision(answer, weight)
        takeNames(answer, weight)
      }
    },
    /** What has been counted since the last call. */
    taken: (): TrafficCounts => {
      const given: TrafficCounts = {
        scores: Array.from(scores, Math.round),
        decisions: Array.from(decisions, ([name, count]) => [name, Math.round(count)]),
        top: mapNames(topKinds, (kind) => tops[kind].rows()),
      }
      scores.fill(0)
      decisions.clear()
      tops = newTops()
      const current = Math.floor(now() / minuteMs)
      if (current !== minute) seen = 0
      minute = current
      return given
    },
  }
}

/** Actions of a thousand policies; those beyond are not counted for a minute. */
const decisionsMax = 1024

const newTops = () => mapNames(topKinds, () => createTopSketch(trafficNamesMax))

function bandOf(score: number): number {
  return score < 100 ? (score / 10) | 0 : scoreBands - 1
}

/** What of an answer is counted by name. */
export const topKinds = ['networks', 'countries', 'providers'] as const
export type TopKind = (typeof topKinds)[number]

/** What a worker has counted since it was asked last, for the primary. No address is in it. */
export interface TrafficCounts {
  /** Checks by tens of the score: 0–9, …, 90–100. */
  readonly scores: readonly number[]
  /** `policy/action` and how often. */
  readonly decisions: readonly (readonly [decision: string, count: number])[]
  readonly top: Readonly<Record<TopKind, readonly TopRow[]>>
}

export const scoreBands = 10
