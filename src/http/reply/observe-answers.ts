// Passes facts of answers to the decision log, the traffic sample and the traffic counters. Facts
// are made once for all three, and only for chosen answers.

import type { AnswerFacts, CollectedFacts, WantedFacts } from '../../observe/answer-facts.ts'
import { factsOf } from '../../observe/answer-facts.ts'
import type { Outcome } from '../../policy/policy.ts'
import type { AnswerBytes } from '../../table/answer/answer-writer.ts'
import type { Query } from '../../table/lookup/query.ts'
import { type AnswerObservers, type Exchange, requestIdOf } from '../exchange/exchange.ts'

/** Answers with a lot below it are chosen. */
function chosenBelow({ decisionLog, sampler }: AnswerObservers): number {
  return Math.max(decisionLog?.share ?? 0, sampler?.below() ?? 0)
}

/** For answers to a batch or by the pool. */
export function wantedFacts({ service: { observers } }: Exchange): WantedFacts | undefined {
  return observers && { below: chosenBelow(observers), few: observers.traffic !== undefined }
}

export function observeAnswers(
  exchange: Exchange,
  facts: CollectedFacts | undefined,
  revision: string | undefined,
): void {
  if (facts === undefined) return
  exchange.service.observers?.traffic?.takePiece(facts.few, facts.count, keyIdOf(exchange))
  recordFacts(exchange, facts.chosen, revision)
}

/** `revision` is that of the policies that decided. */
export function observeCheck(
  exchange: Exchange,
  observers: AnswerObservers,
  query: Query,
  answer: AnswerBytes,
  outcome: Outcome | undefined,
  revision: string | undefined,
): void {
  const weight = observers.traffic?.takeCheck(answer.score) ?? 0
  const below = chosenBelow(observers)
  const lot = below === 0 ? 1 : Math.random()
  if (weight === 0 && lot >= below) return
  const facts = factsOf(query, answer, outcome, lot)
  if (weight > 0) observers.traffic?.takeNames(facts, weight, keyIdOf(exchange))
  recordFacts(exchange, [facts], revision)
}

const keyIdOf = ({ key }: Exchange): string => key?.keyId ?? ''

function recordFacts(
  exchange: Exchange,
  facts: readonly AnswerFacts[],
  revision: string | undefined,
): void {
  const { observers } = exchange.service
  if (observers === undefined || facts.length === 0) return
  observers.sampler?.take(facts)
  if (observers.decisionLog === undefined) return
  const requestId = requestIdOf(exchange)
  const keyId = keyIdOf(exchange)
  observers.decisionLog.record(facts, { requestId, keyId, source: exchange.source, revision })
}
