// Hot path: `takeCheck`. No allocation, throw, closure or regular expression there, but for the one
// answer in 64 or 512 that is read.
//
// A worker's part in what the console shows of traffic (only where it is on): scores, and the
// networks, countries and providers that are asked about most. A check costs one addition; one in
// 64 is parsed for its names, and all of the first 256 of a minute, so that few are counted exactly;
// of many (a thousand a second) one in 512. Of a piece of a batch four answers stand for all of it.
// The decisions of checks are counted anyway (request-counters.ts); those of pieces are counted here.

import type { CheckAnswer } from '../api/check-answer.ts'
import { trafficNamesMax } from '../base/limits.ts'
import { type TopSketch, createTopSketch } from './top-sketch.ts'
import { type TopKind, type TrafficCounts, scoreBands, topKinds } from './traffic-counts.ts'

export interface TrafficCounter {
  /** `answer`: JSON of a check that the loop has answered, which was counted by its labels. */
  readonly takeCheck: (score: number, answer: Uint8Array) => void
  /** JSON of one answer, whole, that the pool has made. */
  readonly takeAnswer: (answer: Uint8Array) => void
  /** JSON of checks with commas between, of which `count` are about an address. */
  readonly takePiece: (answers: Uint8Array, count: number) => void
  /** What has been counted since the last call. */
  readonly taken: () => TrafficCounts
}

const minuteMs = 60_000
const parsedFirst = 256
const fewUpTo = 65_536
/** Powers of two. */
const oneInFew = 64
const oneInMany = 512
const lookedAtOfPiece = 4

const begin = Buffer.from('{"classification":"')
/** No answer to a check without insights holds a list of objects, and quotes in texts are escaped. */
const between = Buffer.from('},{"')

type Tops = Readonly<Record<TopKind, TopSketch>>
type ReadAnswer = Partial<CheckAnswer>

export function createTrafficCounter(now: () => number = Date.now): TrafficCounter {
  const scores = new Float64Array(scoreBands)
  const decisions = new Map<string, number>()
  let tops = newTops()
  /** Checks of this minute; who looks at the console in between does not begin anew. */
  let seen = 0
  let minute = 0
  let pieces = 0

  const countNames = ({ network, location, proxy, bot }: ReadAnswer, weight: number): void => {
    if (network) tops.networks.add(`AS${network.asn} ${network.organization}`, weight)
    if (location) tops.countries.add(location.country_code, weight)
    const provider = proxy?.provider || bot?.provider || ''
    if (provider !== '') tops.providers.add(provider, weight)
  }
  const countDecision = ({ decision }: ReadAnswer, weight: number): void => {
    if (decision === undefined) return
    const name = `${decision.policy}/${decision.action}`
    const known = decisions.get(name)
    if (known !== undefined || decisions.size < decisionsMax) {
      decisions.set(name, (known ?? 0) + weight)
    }
  }
  const countAll = (answer: ReadAnswer, weight: number): void => {
    scores[bandOf(answer.risk_score ?? 0)]! += weight
    countDecision(answer, weight)
    countNames(answer, weight)
  }
  return {
    takeCheck: (score, answer) => {
      scores[bandOf(score)]! += 1
      seen += 1
      if (seen <= parsedFirst) countNames(parsed(answer), 1)
      else {
        const oneIn = seen <= fewUpTo ? oneInFew : oneInMany
        if ((seen & (oneIn - 1)) === 0) countNames(parsed(answer), oneIn)
      }
    },
    takeAnswer: (answer) => countAll(parsed(answer), 1),
    takePiece: (answers, count) => {
      if (count === 0) return
      pieces += 1
      const some = answersOf(answers, Math.min(count, lookedAtOfPiece), (pieces * golden) % 1)
      for (const answer of some) countAll(parsed(answer), count / some.length)
    },
    taken: () => {
      const given: TrafficCounts = {
        scores: Array.from(scores, Math.round),
        decisions: Array.from(decisions, ([name, count]) => [name, Math.round(count)]),
        top: Object.fromEntries(
          topKinds.map((kind) => [kind, tops[kind].rows()] as const),
        ) as TrafficCounts['top'],
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

/** Its multiples are spread evenly between 0 and 1. */
const golden = 0.618_033_988_749_895

/** Actions of a thousand policies; those beyond are not counted for a minute. */
const decisionsMax = 1024

function newTops(): Tops {
  return Object.fromEntries(
    topKinds.map((kind) => [kind, createTopSketch(trafficNamesMax)] as const),
  ) as Tops
}

function bandOf(score: number): number {
  return score < 100 ? (score / 10) | 0 : scoreBands - 1
}

/** Answers of a pool thread are in shared memory, which TextDecoder refuses. */
function parsed({ buffer, byteOffset, length }: Uint8Array): ReadAnswer {
  try {
    const text = Buffer.from(buffer, byteOffset, length).toString()
    return (JSON.parse(text) as ReadAnswer | null) ?? {}
  } catch {
    // Nobody's answer waits for what is counted of it.
    return {}
  }
}

/** Some answers of a piece, spread over it from a share of a part on. */
function answersOf(piece: Uint8Array, wanted: number, shift: number): readonly Uint8Array[] {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
  return Array.from({ length: wanted }, (_, part) => {
    const near = Math.floor(((part + shift) / wanted) * bytes.length)
    const found = bytes.indexOf(begin, near)
    const from = found < 0 ? bytes.indexOf(begin) : found
    const end = bytes.indexOf(between, from)
    return bytes.subarray(from, end < 0 ? bytes.length : end + 1)
  })
}
