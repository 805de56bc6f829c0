// Alternative verdicts: without each feed, with other weights, and the days on which the score
// falls if nothing is seen again. All call `judge` again.

import type { Day } from '../../base/day.ts'
import { type Classification, type Level, levelFloors } from '../../model/kind.ts'
import { confidenceOf } from '../finding/confidence.ts'
import type { Findings } from '../finding/finding.ts'
import { judge, type JudgeInput } from '../judge.ts'
import { halfLifeDays, longestKept } from '../weight/decay.ts'

/** One for each feed of the evidence, in its order. */
export function withoutFeeds(input: JudgeInput) {
  const feeds = new Set(input.evidence.map(({ voice }) => voice.id))
  return [...feeds].map((feed) => {
    const evidence = input.evidence.filter(({ voice }) => voice.id !== feed)
    return { feed, verdict: judge({ ...input, evidence }) }
  })
}

/**
 * For every level that `score` has reached except the lowest. Feeds of kinds without half-life are
 * assumed to keep listing; the others age. `day` is the first with a lower score, if any.
 */
export function levelFallsOf(input: JudgeInput, score: number) {
  const reached = levelFloors.filter(({ least }) => least > 0 && least <= score)
  const days = new Map<Level, Day>()
  const end = lastChange(input)
  // A cap that ends may raise a score again, so each level is checked.
  for (let day = input.asOf + 1; day <= end && days.size < reached.length; day++) {
    const later = judge({ ...input, asOf: day as Day }).score
    for (const { level, least } of reached) {
      if (later < least && !days.has(level)) days.set(level, day as Day)
    }
  }
  return reached.map(({ level, least }) => ({ level, least, day: days.get(level) }))
}

/** The last day on which a verdict can change. */
function lastChange({ evidence, asOf }: JudgeInput): number {
  let last: number = asOf
  for (const { kind, lastSeen, voice } of evidence) {
    if (halfLifeDays[kind] === undefined) continue
    last = Math.max(last, lastSeen + longestKept(kind, voice.halfLives) + 1)
  }
  return last
}

const classKinds = ['tor', 'residential_proxy', 'vpn', 'proxy', 'hosting', 'bot'] as const

/** Other classes with any strength of their kind: the strongest first, then by order of classes. */
export function alternativesOf(findings: Findings, classification: Classification) {
  return classKinds
    .map((kind) => {
      const { strength, counted, inferred } = findings[kind]
      const confidence = confidenceOf(counted, inferred)
      return { classification: kind === 'bot' ? 'known_bot' : kind, strength, confidence } as const
    })
    .filter((one) => one.classification !== classification && one.strength > 0)
    .toSorted((a, b) => b.strength - a.strength)
}

// The range of a score by the uncertainty of its measured weights.
//
//   low, high = least and greatest of score(w) over these cases:
//     all weights unchanged; all at the low end of their intervals; all at the high end;
//     and, for each feed, that one alone at its low end and at its high end
//
// Intervals hold with 80 percent (build/evidence/source-list.ts). Because of caps the score is not
// monotone in the weights, so single feeds are tried, too. Invariant: low <= score <= high.

type WeightInterval = Readonly<Record<'low' | 'high', number>>

/** `undefined` from `intervalOf`: the feed's weight is certain. */
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
      return interval === undefined
        ? one
        : { ...one, voice: { ...one.voice, weight: interval[end] } }
    })
    const found = judge({ ...input, evidence }).score
    low = Math.min(low, found)
    high = Math.max(high, found)
  }
  // With a single feed, both cases are the same.
  const cases = doubted.length > 1 ? [doubted, ...doubted.map((feed) => [feed])] : [doubted]
  for (const moved of doubted.length === 0 ? [] : cases) {
    judgeWith(moved, 'low')
    judgeWith(moved, 'high')
  }
  return [low, high]
}
