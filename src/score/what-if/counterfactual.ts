// What would be otherwise: the verdict without each feed, and the days on which the score falls if
// nothing is seen again. Both ask `judge` again; no part of the model is known here but which kinds
// fade and for how long evidence is kept.

import type { Day } from '../../base/day.ts'
import type { Level } from '../../model/kind.ts'
import { levelFloors } from '../../model/risk-level.ts'
import type { Verdict } from '../../model/verdict.ts'
import { daysKeptMax, halfLifeDays } from '../weight/decay.ts'
import { type JudgeInput, judge } from '../judge.ts'

export interface WithoutFeed {
  readonly feed: string
  readonly verdict: Verdict
}

/** One a feed that speaks here, in the order of the evidence. */
export function withoutFeeds(input: JudgeInput): readonly WithoutFeed[] {
  const feeds = new Set(input.evidence.map(({ voice }) => voice.id))
  return [...feeds].map((feed) => {
    const evidence = input.evidence.filter(({ voice }) => voice.id !== feed)
    return { feed, verdict: judge({ ...input, evidence }) }
  })
}

export interface LevelFall {
  readonly level: Level
  /** The least score of the level. */
  readonly least: number
  /** The first day with a lower score; `undefined` where what stands does not fade that far. */
  readonly day: Day | undefined
}

/**
 * For every level that `score` has reached, but the lowest, which ends nowhere. Feeds of kinds
 * without half-life are taken to go on listing; days of the others only pass.
 */
export function levelFallsOf(input: JudgeInput, score: number): readonly LevelFall[] {
  const reached = levelFloors.filter(({ least }) => least > 0 && least <= score)
  const days = new Map<Level, Day>()
  const end = lastChange(input)
  // Levels fall from the highest on, but a cap that ends may lift a score again: each is asked for.
  for (let day = input.asOf + 1; day <= end && days.size < reached.length; day++) {
    const later = judge({ ...input, asOf: day as Day }).score
    for (const { level, least } of reached) {
      if (later < least && !days.has(level)) days.set(level, day as Day)
    }
  }
  return reached.map(({ level, least }) => ({ level, least, day: days.get(level) }))
}

/** The last day on which a verdict can differ from that of the day before. */
function lastChange({ evidence, asOf }: JudgeInput): number {
  let last: number = asOf
  for (const { kind, lastSeen } of evidence) {
    if (halfLifeDays[kind] === undefined) continue
    last = Math.max(last, lastSeen + daysKeptMax + 1)
  }
  return last
}
