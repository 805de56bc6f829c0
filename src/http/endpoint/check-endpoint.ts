// Hot path: all but `answerLater` and `withoutInsights`. No allocation, throw or closure there.
//
// POST /v1/intelligence/ip-risk/check, from a whole body to the answer: the part of contract 3.12
// (order of errors) after the body: 400, quota, 503, 200. Only a 200 costs one unit of the quota.
//
// A valid address is answered with the others of its turn of the loop (check-batcher.ts) and stays
// bytes from its scan to the answer. It becomes a string only where the log names addresses, where
// it gets insights or where its unit must be leased: the bytes are gone by the later turn.

import { quotaResults } from '../../account/limits/quota.ts'
import { invalidInput } from '../../api/input-fault.ts'
import type { Authenticated } from '../../account/keyring.ts'
import { completeAnswer } from '../../context/asked-members.ts'
import { contextAnswer } from '../../context/context.ts'
import { type Query, newQuery } from '../../table/lookup/query.ts'
import type { Located } from '../../table/lookup/locate.ts'
import { extendAnswer } from '../../table/answer/answer-writer.ts'
import type { Table } from '../../table/table.ts'
import * as bodies from './check-body.ts'
import { takePolicy } from './authorize.ts'
import { chargeQuota, chargeThen, judgeThen } from './charge-quota.ts'
import { decideAnswer } from './decide-answer.ts'
import { type Exchange, insightsModes } from '../exchange/exchange.ts'
import { answerInsightsCheck } from './insights-endpoint.ts'
import { replyBytes, replyError } from '../reply/reply.ts'
import { enqueueCheck, newCheckBatcher } from './check-batcher.ts'

const query = newQuery()
const batcher = newCheckBatcher(chargeAndAnswer)

export function answerCheck(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  if (!bodies.parseCheckBody(query, body)) {
    replyError(exchange, invalidInput, bodies.checkFaultOf(body))
    return
  }
  exchange.policy = ''
  exchange.context = bodies.bodyContextOf()
  if (bodies.namesPolicy() && exchange.service.policies.set() !== undefined) {
    const fault = takePolicy(exchange, key, bodies.bodyPolicyOf(body))
    if (fault !== undefined) {
      replyError(exchange, invalidInput, fault)
      return
    }
  }
  const isGiven = exchange.insights === insightsModes.given
  if (isGiven || exchange.service.logAddresses) {
    exchange.checkedAddress = bodies.queryText(query)
  }
  if (isGiven) answerInsightsCheck(exchange, key)
  else if (exchange.context !== undefined) answerLater(exchange, key, bodies.queryText(query))
  else if (exchange.service.policies.isHeavy())
    chargeAndAnswer(exchange, query, exchange.service.table(), undefined)
  else enqueueCheck(batcher, exchange, query)
}

function chargeAndAnswer(
  exchange: Exchange,
  about: Query,
  table: Table | undefined,
  found: Located | undefined,
): void {
  // request-handler.ts never passes on a check without its key.
  const key = exchange.key!
  const result = chargeQuota(exchange, key)
  if (result === quotaResults.granted) answerQuery(exchange, about, table, found)
  else if (result === quotaResults.pending) answerLater(exchange, key, bodies.queryText(about))
}

/** Apart from its callers: the closure would be garbage of every check that need not wait. */
function answerLater(exchange: Exchange, key: Authenticated, address: string): void {
  const answer = (): void => {
    bodies.parseAddressText(query, address)
    answerQuery(exchange, query, exchange.service.table(), undefined)
  }
  chargeThen(exchange, key, () => judgeThen(exchange, [exchange.context], answer))
}

function answerQuery(
  exchange: Exchange,
  about: Query,
  table: Table | undefined,
  found: Located | undefined,
): void {
  if (table === undefined) {
    replyError(exchange, 'upstream_unavailable')
    return
  }
  const body = answerBytes(exchange, about, table, found)
  const isAbsent = exchange.insights === insightsModes.absent
  replyBytes(exchange, isAbsent ? withoutInsights(body) : body)
}

/**
 * The answer to one address, counted and observed: for a check or a batch's element, by the
 * exchange's policy. Valid until the next answer.
 */
export function answerBytes(
  exchange: Exchange,
  about: Query,
  table: Table,
  found: Located | undefined,
): Uint8Array {
  const answer = table.answer(about, found)
  const { body } = answer
  const context = exchange.context && contextAnswer(exchange.context, answer)
  const outcome = decideAnswer(exchange, table, about, answer, context)
  const decided = outcome === undefined ? body : extendAnswer(body, outcome.tail)
  return completeAnswer(table, about, answer, decided, exchange.asked, context)
}

const noInsights = Buffer.from(',"insights":null}')

/** For a client that asked for insights that its plan lacks. */
function withoutInsights(body: Uint8Array): Uint8Array {
  return Buffer.concat([body.subarray(0, -1), noInsights])
}
