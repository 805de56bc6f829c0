// The range that a score may lie in because weights are measured, not known.
//
//   low, high = least and greatest of score(w) over these cases:
//     every weight as it is; every weight at the low end of its interval; every one at the high end;
//     and, for each feed, that one alone at its low end and at its high end
//
// Intervals hold with 80 percent (build/evidence/weight-interval.ts). Single feeds are tried beside
// all together, because caps make the score no monotone function of the weights: a bot's or a
// relay's cap lowers it.
//
// Invariant: low <= score <= high.

import type { Evidence } from '../../model/evidence.ts'
import { type JudgeInput, judge } from '../judge.ts'

/** Both ends of a weight, 0 to 1. */
export interface WeightInterval {
  readonly low: number
  readonly high: number
}

/** `intervalOf` gives a feed's interval; `undefined` where its weight is certain. */
export function scoreRange(
  input: JudgeInput,
  score: number,
  intervalOf: (feed: string) => WeightInterval | undefined,
): readonly [number, number] {
  const feeds = new Set(input.evidence.map(({ voice }) => voice.id))
  const doubted = [...feeds].filter((feed) => {
    const interval = intervalOf(feed)
    return interval !== undefined && interval.low < interval.high
  })
  let low = score
  let high = score
  const judgeWith = (moved: readonly string[], end: keyof WeightInterval): void => {
    const evidence = input.evidence.map((one) => {
      const interval = moved.includes(one.voice.id) ? intervalOf(one.voice.id) : undefined
      return interval === undefined ? one : withWeight(one, interval[end])
    })
    const found = judge({ ...input, evidence }).score
    low = Math.min(low, found)
    high = Math.max(high, found)
  }
  // One feed alone is the same case as all of one.
  const cases = doubted.length > 1 ? [doubted, ...doubted.map((feed) => [feed])] : [doubted]
  for (const moved of doubted.length === 0 ? [] : cases) {
    judgeWith(moved, 'low')
    judgeWith(moved, 'high')
  }
  return [low, high]
}

function withWeight(evidence: Evidence, weight: number): Evidence {
  return { ...evidence, voice: { ...evidence.voice, weight } }
}
