// A worker's part in the sample of the operator's traffic (`--sample`): keeps the answers whose lot
// is low enough until the primary asks for them, which holds the sample. Off by default; on, lots
// get rarer as the sample fills. While it fills all are chosen, so there is a bound on how many
// wait: of a second's answers those beyond it are not offered.

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
    /** What has been chosen since the last call. */
    chosen: (): readonly SampledCheck[] => {
      const taken = waiting
      waiting = []
      return taken
    },
  }
}
