// What the decision log, the sample of traffic and the counts of traffic read of an answer: one
// record, made where the answer is, and only of answers that one of them has chosen. Plain data, so
// that a pool thread can send it.

import type { Outcome } from '../policy/policy.ts'
import type { AnswerBytes } from '../table/answer/answer-writer.ts'
import { judgedText } from '../table/answer/check-address.ts'
import type { Query } from '../table/lookup/query.ts'

export type AnswerFacts = Readonly<ReturnType<typeof factsOf>>

/** `answer` is the newest one, and that to `query`. */
export function factsOf(
  { words }: Query,
  answer: AnswerBytes,
  outcome: Outcome | undefined,
  lot: number,
) {
  const { located, reader, classification, score, provider, lists } = answer
  const hasNetwork = !located.bogon && located.network !== 0
  const hasPlace = !located.bogon && located.location !== 0
  return {
    /** From 0 to 1, drawn for the answer: the decision log and the sample take the low ones. */
    lot,
    /** Canonical text of what was judged. */
    address: judgedText(located, words),
    classification,
    score,
    network: hasNetwork ? reader.parts.network(located.network) : undefined,
    country: hasPlace ? answer.country : undefined,
    /** Of a proxy or a bot; empty where there is none. */
    provider,
    lists,
    /** `undefined` without policies. */
    decision: outcome?.decision,
    observed: outcome?.observed.length === 0 ? undefined : outcome?.observed,
    table: reader.id,
  }
}

/** Which answers of a piece of a batch are wanted. */
export interface WantedFacts {
  /** Those whose lots are below. */
  readonly below: number
  /** A few that stand for all of them. */
  readonly few: boolean
}

export type CollectedFacts = ReturnType<ReturnType<typeof collectFacts>['collected']>

const fewMax = 4

export function collectFacts({ below, few: wantsFew }: WantedFacts) {
  const chosen: AnswerFacts[] = []
  const few: AnswerFacts[] = []
  let count = 0
  return {
    add: (query: Query, answer: AnswerBytes, outcome: Outcome | undefined): void => {
      count += 1
      const lot = Math.random()
      // Reservoir sampling: each answer has the same chance to be one of the few.
      let drawn = fewMax
      if (wantsFew) drawn = count <= fewMax ? count - 1 : Math.floor(Math.random() * count)
      const isFew = drawn < fewMax
      if (lot >= below && !isFew) return
      const facts = factsOf(query, answer, outcome, lot)
      if (lot < below) chosen.push(facts)
      if (isFew) few[drawn] = facts
    },
    /** `chosen` in the order of the answers; `count` of all answers. */
    collected: () => ({ chosen, few, count }),
  }
}
