// Insights of a check (contract 3.15: insights, 5.2: errors), which the pool answers. Such a check
// is charged before the pool is asked for room; a 503 refunds the unit.

import type { Authenticated } from '../../account/keyring.ts'
import { addAnswerCounts, countLabels } from '../../observe/request-counters.ts'
import { includeFault, invalidInput } from '../../api/input-fault.ts'
import { prefixAsked } from '../../context/asked-members.ts'
import { type Exchange, insightsModes } from '../exchange/exchange.ts'
import { chargeThen, judgeThen } from './charge-quota.ts'
import { enterPoolOr503, onPoolResult } from './pool-request.ts'
import { observeAnswers, wantedFacts } from '../reply/observe-answers.ts'
import { type Refusal, replyBytes } from '../reply/reply.ts'

export const includeRefusal: Refusal = { code: invalidInput, ...includeFault }

/** Stores what the request's `include` asks for; false for an unknown value. */
export function takeInclude(
  exchange: Exchange,
  key: Pick<Authenticated, 'insights'>,
  query: string | undefined,
): boolean {
  const asked = askedNames(query)
  if (asked === undefined) return false
  const wanted = asked.includes('insights')
  const { insights } = key
  if (asked === onlyPrefix) exchange.asked = prefixAsked
  else if (asked.length > 0) {
    exchange.asked = { prefix: asked.includes('prefix'), detections: asked.includes('detections') }
  }
  if (insights === 'always' || (wanted && insights === 'on_request'))
    exchange.insights = insightsModes.given
  else if (wanted) exchange.insights = insightsModes.absent
  return true
}

const names = ['insights', 'prefix', 'detections']
const none: readonly string[] = []
const onlyPrefix: readonly string[] = ['prefix']

/** Values are comma-separated, and empty ones count as absent; `undefined` for any other. */
function askedNames(query: string | undefined): readonly string[] | undefined {
  if (query === undefined || query === '') return none
  // What iprisk-client sends with each check.
  if (query === 'include=prefix') return onlyPrefix
  const values = new URLSearchParams(query)
    .getAll('include')
    .flatMap((value) => value.split(','))
    .filter((value) => value !== '')
  return values.every((value) => names.includes(value)) ? values : undefined
}

export function answerInsightsCheck(exchange: Exchange, key: Authenticated): void {
  const ask = (): void => {
    const ticket = enterPoolOr503(exchange)
    if (ticket === undefined) return
    const policy = exchange.service.policies.itemPolicy(key, exchange.policy)
    const { asked, checkedAddress: text, context } = exchange
    const facts = wantedFacts(exchange)
    const result = ticket.run({ kind: 'insights', text, context, policy, facts, asked })
    onPoolResult(exchange, { result, kind: 'answered' }, ({ json, answers, labels, facts }) => {
      addAnswerCounts(exchange.service.counters, answers)
      if (labels !== undefined) countLabels(exchange.service.counters, labels)
      observeAnswers(exchange, facts, policy?.revision)
      replyBytes(exchange, json)
    })
  }
  chargeThen(exchange, key, () => judgeThen(exchange, [exchange.context], ask))
}
