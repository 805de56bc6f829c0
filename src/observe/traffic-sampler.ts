// A worker's part in the sample of the operator's traffic (`--sample`): draws a lot for each
// answer, and keeps those whose lot is low enough until the primary asks for them, which holds the
// sample (src/observe). Off by default; then a request reads one member that is undefined. On,
// nearly all answers cost a random number: lots get rarer as the sample fills.
//
// An answer that is chosen is parsed again, some microseconds: its bytes are the only place where
// address and policy have already come together. While the sample fills all are chosen, so there is
// a bound on how many wait: of a second's answers those beyond it are not offered.

import { dayOf } from '../base/day.ts'
import type { SampledCheck } from './sample-file.ts'
import { parseAnswers } from './decision-log.ts'

export interface TrafficSampler {
  /** `answers`: JSON as the decision log takes it, of which `count` are about an address. */
  readonly take: (answers: Uint8Array, count: number) => void
  /** Lots that are not below this do not matter any more. */
  readonly drawBelow: (lot: number) => void
  /** What has been chosen since the last call. */
  readonly chosen: () => readonly SampledCheck[]
}

const waitingMax = 4096

export function createTrafficSampler(
  parts: { readonly random?: () => number; readonly now?: () => number } = {},
): TrafficSampler {
  const { random = Math.random, now = Date.now } = parts
  let below = 1
  let waiting: SampledCheck[] = []
  const keep = (answers: Uint8Array, lots: readonly number[]): void => {
    const day = dayOf(now())
    let place = 0
    for (const answer of parseAnswers(answers)) {
      // What is no address has no lot.
      if ('error' in answer) continue
      const lot = lots[place] ?? 1
      place += 1
      if (lot >= below || waiting.length >= waitingMax) continue
      const { ip, address = ip, decision } = answer
      waiting.push({ lot, day, policy: decision?.policy ?? '', address })
    }
  }
  return {
    take: (answers, count) => {
      if (waiting.length >= waitingMax) return
      if (count === 1) {
        const lot = random()
        if (lot < below) keep(answers, [lot])
        return
      }
      const lots = Array.from({ length: count }, random)
      if (lots.some((lot) => lot < below)) keep(answers, lots)
    },
    drawBelow: (lot) => {
      below = lot
    },
    chosen: () => {
      const taken = waiting
      waiting = []
      return taken
    },
  }
}
