// What the decision log, the traffic sample and the traffic counts record of an answer that one of
// them has chosen: plain data, so that a pool thread can send it.

import type { Outcome } from '../policy/policy.ts'
import type { AnswerBytes } from '../table/answer/answer-writer.ts'
import { judgedText } from '../table/answer/check-address.ts'
import type { Query } from '../table/lookup/query.ts'

export type AnswerFacts = Readonly<ReturnType<typeof factsOf>>

/** `answer` is the newest one, and answers `query`. */
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
    /** Drawn from 0 to 1: the decision log and the sample take low ones. */
    lot,
    /** Canonical text of the judged address. */
    address: judgedText(located, words),
    classification,
    score,
    network: hasNetwork ? reader.parts.network(located.network) : undefined,
    country: hasPlace ? answer.country : undefined,
    /** The provider of a proxy or a bot, or ''. */
    provider,
    lists,
    decision: outcome?.decision,
    observed: outcome?.observed.length === 0 ? undefined : outcome?.observed,
    table: reader.id,
  }
}

/** Which answers of a batch piece are wanted. */
export interface WantedFacts {
  /** Those with lots below. */
  readonly below: number
  /** A few that represent all. */
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
      // Reservoir sampling: each answer has the same chance.
      let drawn = fewMax
      if (wantsFew) drawn = count <= fewMax ? count - 1 : Math.floor(Math.random() * count)
      const isFew = drawn < fewMax
      if (lot >= below && !isFew) return
      const facts = factsOf(query, answer, outcome, lot)
      if (lot < below) chosen.push(facts)
      if (isFew) few[drawn] = facts
    },
    collected: () => ({ chosen, few, count }),
  }
}
