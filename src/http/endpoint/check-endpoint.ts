// Hot path: POST /v1/intelligence/ip-risk/check, from a whole body to the answer. What comes before
// (404, 405, 401, 403, rate, 413) is request-handler.ts; the rest of contract 3.12 is here, in its order:
// 400, quota, 503, 200. Only a 200 costs one unit of the quota.
//
// An address that is good is answered with the others of its turn of the loop (check-batcher.ts). It stays bytes
// from its scan to the answer; it becomes a string only where the log names addresses or its unit has to
// be leased, for then the bytes are gone.

import type { Authenticated } from '../../account/keyring.ts'
import { type Asked, newAsked } from '../../table/lookup/query.ts'
import type { Located } from '../../table/lookup/locate.ts'
import type { Table } from '../../table/table.ts'
import { askBody, askText, textOf } from './check-body.ts'
import { charge } from './charge-quota.ts'
import { countAnswer } from '../exchange/request-counters.ts'
import { type Exchange, states } from '../exchange/exchange.ts'
import { answerInsights } from './insights-endpoint.ts'
import { replyBytes, replyError } from '../reply/reply.ts'
import { joinWave, newWave } from './check-batcher.ts'

const asked = newAsked()
const wave = newWave(answerAsked)

/** What is being answered; without an exchange outside of `answerAsked`. */
interface Turn {
  exchange: Exchange | undefined
  asked: Asked
  table: Table | undefined
  found: Located | undefined
}

const turn: Turn = { exchange: undefined, asked, table: undefined, found: undefined }

export function answerCheck(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  if (!askBody(asked, body)) {
    replyError(exchange, 'invalid_input')
    return
  }
  if (exchange.insights) {
    exchange.checked = textOf(asked)
    charge(exchange, key, answerInsights)
    return
  }
  if (exchange.service.logAddresses) exchange.checked = textOf(asked)
  joinWave(wave, exchange, asked)
}

function answerAsked(
  exchange: Exchange,
  about: Asked,
  table: Table | undefined,
  found: Located | undefined,
): void {
  const { key } = exchange
  if (key === undefined) throw new Error('A check without a key came to be answered.')
  turn.exchange = exchange
  turn.asked = about
  turn.table = table
  turn.found = found
  try {
    charge(exchange, key, answerCharged)
  } finally {
    turn.exchange = undefined
  }
  // Its unit is being leased; what is answered in a later turn of the loop is open until then, or
  // answered with close and then needs the text no more.
  if (exchange.state === states.open) exchange.checked = textOf(about)
}

function answerCharged(exchange: Exchange): void {
  const { service, checked } = exchange
  let { asked: about, table, found } = turn
  if (turn.exchange !== exchange) {
    // In a later turn the text has become a string, which is an address still.
    askText(asked, checked)
    about = asked
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
