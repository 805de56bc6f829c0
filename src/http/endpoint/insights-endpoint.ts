// Insights of a check (contract 3.15 and 5.2), which the pool answers. Such a check is charged
// before the pool is asked for room; a 503 gives the unit back.

import type { Authenticated } from '../../account/keyring.ts'
import { addAnswerCounts, countLabels } from '../../observe/request-counters.ts'
import { includeFault, invalidInput } from '../../api/input-fault.ts'
import { type Exchange, type InsightsMode, insightsModes } from '../exchange/exchange.ts'
import { chargeThen } from './charge-quota.ts'
import { enterPoolOr503, onPoolResult } from './pool-request.ts'
import { observeAnswers, wantedFacts } from '../reply/observe-answers.ts'
import { type Refusal, replyBytes } from '../reply/reply.ts'

/** For an `include` with an unknown value. */
export const includeRefusal: Refusal = { code: invalidInput, ...includeFault }

/** `undefined` for an `include` that does not exist. */
export function insightsModeOf(
  { insights }: Pick<Authenticated, 'insights'>,
  query: string | undefined,
): InsightsMode | undefined {
  const asked = asksForInsights(query)
  if (asked === undefined) return undefined
  if (insights === 'always' || (asked && insights === 'on_request')) return insightsModes.given
  return asked ? insightsModes.absent : insightsModes.none
}

/**
 * Whether `include` has `insights`, alone or in a list with commas. Empty values count as absent;
 * `undefined` for any other.
 */
function asksForInsights(query: string | undefined): boolean | undefined {
  if (query === undefined || query === '') return false
  const values = new URLSearchParams(query)
    .getAll('include')
    .flatMap((value) => value.split(','))
    .filter((value) => value !== '')
  return values.every((value) => value === 'insights') ? values.length > 0 : undefined
}

/** `checkedAddress` is valid. */
export function answerInsightsCheck(exchange: Exchange, key: Authenticated): void {
  chargeThen(exchange, key, () => {
    const ticket = enterPoolOr503(exchange)
    if (ticket === undefined) return
    const policy = exchange.service.policies.itemPolicy(key, exchange.policy)
    const text = exchange.checkedAddress
    const result = ticket.run({ kind: 'insights', text, policy, facts: wantedFacts(exchange) })
    onPoolResult(exchange, { result, kind: 'answered' }, ({ json, answers, labels, facts }) => {
      addAnswerCounts(exchange.service.counters, answers)
      if (labels !== undefined) countLabels(exchange.service.counters, labels)
      observeAnswers(exchange, facts, policy?.revision)
      replyBytes(exchange, json)
    })
  })
}
