// A worker's part of the traffic sample (`--sample`): keeps answers with low lots until the primary
// collects them. Off by default; lots get rarer as the sample fills. Until then all are chosen, so
// waiting ones are bounded.

import { dayOf } from '../base/day.ts'
import type { AnswerFacts } from './answer-facts.ts'
import type { SampledCheck } from './sample-file.ts'

export type TrafficSampler = ReturnType<typeof createTrafficSampler>

const waitingMax = 4096

export function createTrafficSampler(now: () => number = Date.now) {
  let limit = 1
  let waiting: SampledCheck[] = []
  const below = (): number => (waiting.length < waitingMax ? limit : 0)
  return {
    /** Lots from here on do not matter now. */
    below,
    take: (answers: readonly AnswerFacts[]): void => {
      const day = dayOf(now())
      for (const { lot, address, decision } of answers) {
        if (lot < below()) waiting.push({ lot, day, policy: decision?.policy ?? '', address })
      }
    },
    drawBelow: (lot: number): void => {
      limit = lot
    },
    /** Chosen since the last call. */
    chosen: (): readonly SampledCheck[] => {
      const taken = waiting
      waiting = []
      return taken
    },
  }
}
