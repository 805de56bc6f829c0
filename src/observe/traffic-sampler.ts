// A worker's part in the sample of the operator's traffic (`--sample`): keeps the answers whose lot
// is low enough until the primary asks for them, which holds the sample. Off by default; on, lots
// get rarer as the sample fills. While it fills all are chosen, so there is a bound on how many
// wait: of a second's answers those beyond it are not offered.

import { dayOf } from '../base/day.ts'
import type { AnswerFacts } from './answer-facts.ts'
import type { SampledCheck } from './sample-file.ts'

export interface TrafficSampler {
  /** Lots from here on do not matter now. */
  readonly below: () => number
  readonly take: (answers: readonly AnswerFacts[]) => void
  /** Lots that are not below this do not matter any more. */
  readonly drawBelow: (lot: number) => void
  /** What has been chosen since the last call. */
  readonly chosen: () => readonly SampledCheck[]
}

const waitingMax = 4096

export function createTrafficSampler(now: () => number = Date.now): TrafficSampler {
  let limit = 1
  let waiting: SampledCheck[] = []
  const below = (): number => (waiting.length < waitingMax ? limit : 0)
  return {
    below,
    take: (answers) => {
      const day = dayOf(now())
      for (const { lot, address, decision } of answers) {
        if (lot < below()) waiting.push({ lot, day, policy: decision?.policy ?? '', address })
      }
    },
    drawBelow: (lot) => {
      limit = lot
    },
    chosen: () => {
      const taken = waiting
      waiting = []
      return taken
    },
  }
}
