// Checks and batches with a test key (contract 5.7: test keys): the same paths, shapes and errors,
// but the answers of test-cases.ts: no table, no quota, no real address. They do not count as
// answers.

import type { Authenticated } from '../../account/keyring.ts'
import type { CheckAnswer } from '../../api/check-answer.ts'
import { batchFaults, faultRowJson, invalidInput } from '../../api/input-fault.ts'
import { type JsonObject, parseJsonObject } from '../../base/json-object.ts'
import { contextAnswer, contextOf } from '../../context/context.ts'
import { factsOf } from '../../policy/condition/condition-members.ts'
import { withDecision } from '../../policy/decided-answer.ts'
import { chosenPolicyIndex } from '../../policy/policy.ts'
import { parseBatchBody } from '../../pool/batch-body.ts'
import { allowedPolicies, spendBatchRate, takePolicy } from '../endpoint/authorize.ts'
import { resumeExchange } from '../endpoint/charge-quota.ts'
import { checkFaultOf, parseIpWithJson } from '../endpoint/check-body.ts'
import { type Exchange, insightsModes } from '../exchange/exchange.ts'
import { replyError, replyJson } from '../reply/reply.ts'
import { type TestAddress, testAddressOf, testAnswer, testInsights } from './test-answer.ts'

const slowMs = 2000

const realAddress = {
  message:
    'A test key answers only for test addresses: send one from 198.18.0.0/24 or 2001:db8:0:1::/64, or use a key that begins with irk_.',
  param: 'ip',
} as const

export function answerTestCheck(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const ip = parseIpWithJson(body)
  const address = ip === undefined ? undefined : testAddressOf(ip)
  if (ip === undefined || address === undefined) {
    replyError(exchange, invalidInput, checkFaultOf(body))
  } else if (address === 'real') {
    replyError(exchange, invalidInput, realAddress)
  } else {
    if (isPolicyRefused(exchange, key, body)) return
    const answer = testAnswer(ip, address, exchange.asked)
    const mode = exchange.insights
    const insights = mode === insightsModes.given ? testInsights(address) : null
    const whole = mode === insightsModes.none ? answer : { ...answer, insights }
    replyAs(exchange, address, JSON.stringify(decidedTestAnswer(exchange, key, whole)))
  }
}

function replyAs(exchange: Exchange, { is }: Pick<TestAddress, 'is'>, json: string): void {
  if (is.kind === 'refusal') replyError(exchange, is.code)
  else if (is.kind !== 'slow') replyJson(exchange, json)
  else setTimeout(() => resumeExchange(exchange, () => replyJson(exchange, json)), slowMs)
}

/** An address that stands for a refusal or slowness applies it to the whole batch. */
export function answerTestBatch(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const batch = parseBatchBody(body, allowedPolicies(exchange, key))
  if (typeof batch === 'string') {
    replyError(exchange, invalidInput, batchFaults[batch])
    return
  }
  if (isPolicyRefused(exchange, key, body)) return
  let whole: Pick<TestAddress, 'is'> = { is: { kind: 'bogon' } }
  const { policy } = exchange
  const rows = batch.checks.map((check) => {
    if (typeof check === 'string') return check
    const { ip, context } = check
    const address = testAddressOf(ip)!
    if (address === 'real') return faultRowJson(ip, { message: realAddress.message })
    if (whole.is.kind !== 'refusal' && ['refusal', 'slow'].includes(address.is.kind)) {
      whole = address
    }
    exchange.policy = check.policy ?? policy
    exchange.context = context
    const answer = testAnswer(ip, address, exchange.asked)
    return JSON.stringify(decidedTestAnswer(exchange, key, answer))
  })
  spendBatchRate(exchange, key, { count: rows.length, param: batch.member }, () => {
    replyAs(exchange, whole, `{"results":[${rows.join(',')}]}`)
  })
}

// Policies apply to test answers (contract 5.7: test keys); own lists do not, because none names a
// test address.

/** A right policy is kept for the answer, as is context; a wrong one is answered. */
function isPolicyRefused(exchange: Exchange, key: Authenticated, body: Uint8Array): boolean {
  const object = parseJsonObject(body) as JsonObject
  exchange.policy = ''
  exchange.context = contextOf(object)
  if (!Object.hasOwn(object, 'policy')) return false
  const fault = takePolicy(exchange, key, object['policy'])
  if (fault !== undefined) replyError(exchange, invalidInput, fault)
  return fault !== undefined
}

function decidedTestAnswer<Answer extends CheckAnswer>(
  exchange: Exchange,
  key: Authenticated,
  answer: Answer,
): Answer {
  const { asked, policy, service } = exchange
  const set = service.policies.set()
  // Its neighbours are other cases.
  const prefix = `${answer.address ?? answer.ip}/${answer.version === 4 ? 32 : 128}`
  // No table has a place for it.
  const context = exchange.context && contextAnswer(exchange.context)
  const whole = { ...answer, ...(asked.prefix && !context && { prefix }), ...context }
  if (set === undefined) return whole
  const chosen = set.policies[chosenPolicyIndex(set, key.policies, policy)]!
  return withDecision(whole, chosen.outcomes[chosen.outcomeOf(factsOf(whole, []))]!)
}
