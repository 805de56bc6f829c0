// Hot path: `takeCheck`. No allocation, throw, closure or regular expression there.
//
// A worker's part of the console's traffic (if enabled): scores, and the most frequent networks,
// countries, providers and keys, and the networks blocked most. A check costs one addition; names are
// counted for the first 256 checks of a minute, then for one in 64, above a thousand a second for
// one in 512. A few answers represent each batch piece, whose decisions are counted here; those of
// checks are in request-counters.ts.

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
  /** Checks of this minute, whenever the console polls. */
  let seen = 0
  let minute = 0

  const takeNames = (facts: AnswerFacts, weight: number, key = ''): void => {
    const { network, country, provider, decision } = facts
    if (network !== undefined) {
      const name = `AS${network.asn} ${network.organization}`
      tops.networks.add(name, weight)
      if (decision?.action === 'block') tops.blocked.add(name, weight)
    }
    if (country !== undefined) tops.countries.add(country, weight)
    if (provider !== '') tops.providers.add(provider, weight)
    if (key !== '') tops.keys.add(key, weight)
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
    /** Counts a check; returns how many checks its names represent, often 0. */
    takeCheck: (score: number): number => {
      scores[bandOf(score)]! += 1
      seen += 1
      if (seen <= allUpTo) return 1
      const oneIn = seen <= fewUpTo ? oneInFew : oneInMany
      return (seen & (oneIn - 1)) === 0 ? oneIn : 0
    },
    takeNames,
    /** Answers of the pool, which represent `count`. */
    takePiece: (answers: readonly AnswerFacts[], count: number, key = ''): void => {
      for (const answer of answers) {
        const weight = count / answers.length
        scores[bandOf(answer.score)]! += weight
        countDecision(answer, weight)
        takeNames(answer, weight, key)
      }
    },
    /** Counts since the last call. */
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

/** Actions of a thousand policies; further ones are dropped until the next call. */
const decisionsMax = 1024

const newTops = () => mapNames(topKinds, () => createTopSketch(trafficNamesMax))

function bandOf(score: number): number {
  return score < 100 ? (score / 10) | 0 : scoreBands - 1
}

export const topKinds = ['networks', 'countries', 'providers', 'blocked', 'keys'] as const
export type TopKind = (typeof topKinds)[number]

/** A worker's counts since the last call, without addresses. */
export interface TrafficCounts {
  /** Checks by tens of the score: 0–9, …, 90–100. */
  readonly scores: readonly number[]
  /** `policy/action` and count. */
  readonly decisions: readonly (readonly [decision: string, count: number])[]
  readonly top: Readonly<Record<TopKind, readonly TopRow[]>>
}

export const scoreBands = 10
