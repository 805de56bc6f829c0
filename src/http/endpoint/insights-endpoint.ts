// A check with insights (contract 3.15): which requests get them, and how the pool answers. It is
// charged like any check, before the pool is asked for room; a 503 gives the unit back.

import type { HttpRequest } from 'uWebSockets.js'
import type { Authenticated } from '../../account/keyring.ts'
import { addAnswerCounts } from '../exchange/request-counters.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { chargeThen } from './charge-quota.ts'
import { enterPoolOr503, onPoolResult } from './pool-request.ts'
import { replyBytes } from '../reply/reply.ts'

/** A plan without insights gives the plain answer, whether the request asks for them or not. */
export function wantsInsights(
  { insights }: Pick<Authenticated, 'insights'>,
  req: Pick<HttpRequest, 'getQuery'>,
): boolean {
  if (insights === 'never') return false
  return insights === 'always' || asksForInsights(req.getQuery())
}

/** `include=insights`, alone or in a list with commas; members unknown here are ignored. */
export function asksForInsights(query: string | undefined): boolean {
  if (query === undefined || query === '') return false
  return new URLSearchParams(query)
    .getAll('include')
    .some((value) => value.split(',').includes('insights'))
}

/** Charges and answers the check of `checkedAddress`, which is valid. */
export function answerInsightsCheck(exchange: Exchange, key: Authenticated): void {
  chargeThen(exchange, key, () => {
    const ticket = enterPoolOr503(exchange)
    if (ticket === undefined) return
    const result = ticket.run({ kind: 'insights', text: exchange.checkedAddress })
    onPoolResult(exchange, { result, kind: 'answered' }, ({ json, answers }) => {
      addAnswerCounts(exchange.service.counters, answers)
      replyBytes(exchange, json)
    })
  })
}
