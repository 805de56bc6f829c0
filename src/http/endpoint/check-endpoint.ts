// Hot path: POST /v1/intelligence/ip-risk/check, from a whole body to the answer. What comes before
// (404, 405, 401, 403, rate, 413) is request-handler.ts; the rest of contract 3.12 is here, in its order:
// 400, quota, 503, 200. Only a 200 costs one unit of the quota.
//
// An address that is good is answered with the others of its turn of the loop (check-batcher.ts). It stays bytes
// from its scan to the answer; it becomes a string only where the log names addresses or its unit has to
// be leased, for then the bytes are gone.

import type { Authenticated } from '../../account/keyring.ts'
import { type Query, newQuery } from '../../table/lookup/query.ts'
import type { Located } from '../../table/lookup/locate.ts'
import type { Table } from '../../table/table.ts'
import { parseCheckBody, parseAddressText, queryText } from './check-body.ts'
import { chargeQuota } from './charge-quota.ts'
import { countAnswer } from '../exchange/request-counters.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { answerInsightsCheck } from './insights-endpoint.ts'
import { replyBytes, replyError } from '../reply/reply.ts'
import { enqueueCheck, newCheckBatcher } from './check-batcher.ts'

const query = newQuery()
const batcher = newCheckBatcher(answerQuery)

/** What is being answered; without an exchange outside of `answerAsked`. */
interface CurrentCheck {
  exchange: Exchange | undefined
  query: Query
  table: Table | undefined
  found: Located | undefined
}

const currentCheck: CurrentCheck = {
  exchange: undefined,
  query,
  table: undefined,
  found: undefined,
}

export function answerCheck(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  if (!parseCheckBody(query, body)) {
    replyError(exchange, 'invalid_input')
    return
  }
  if (exchange.insights) {
    exchange.checkedAddress = queryText(query)
    chargeQuota(exchange, key, answerInsightsCheck)
    return
  }
  if (exchange.service.logAddresses) exchange.checkedAddress = queryText(query)
  enqueueCheck(batcher, exchange, query)
}

function answerQuery(
  exchange: Exchange,
  about: Query,
  table: Table | undefined,
  found: Located | undefined,
): void {
  const { key } = exchange
  if (key === undefined) throw new Error('A check without a key came to be answered.')
  currentCheck.exchange = exchange
  currentCheck.query = about
  currentCheck.table = table
  currentCheck.found = found
  try {
    chargeQuota(exchange, key, answerCharged)
  } finally {
    currentCheck.exchange = undefined
  }
  // Its unit is being leased; what is answered in a later turn of the loop is open until then, or
  // answered with close and then needs the text no more.
  if (exchange.state === exchangeStates.open) exchange.checkedAddress = queryText(about)
}

function answerCharged(exchange: Exchange): void {
  const { service, checkedAddress } = exchange
  let { query: about, table, found } = currentCheck
  if (currentCheck.exchange !== exchange) {
    // In a later turn the text has become a string, which is an address still.
    parseAddressText(query, checkedAddress)
    about = query
    table = service.table()
    found = undefined
  }
  if (table === undefined) {
    replyError(exchange, 'upstream_unavailable')
    return
  }
  const { classification, body } = table.answer(about, found)
  countAnswer(service.counters, classification)
  replyBytes(exchange, body)
}
