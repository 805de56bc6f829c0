// Hot path: POST /v1/intelligence/ip-risk/check, from a whole body to the answer. What comes before
// (404, 405, 401, 403, rate, 413) is request.ts; the rest of contract 3.12 is here, in its order:
// 400, quota, 503, 200. Only a 200 costs one unit of the quota.
//
// The address stays in the body's bytes from its scan to the answer's bytes; it becomes a string only
// where the log names addresses or the answer has to wait, for then the body is gone.

import type { Authenticated } from '../account/keyring.ts'
import { newAsked } from '../table/asked.ts'
import { askBody, askText, textOf } from './body.ts'
import { charge } from './charge.ts'
import { countAnswer } from './counters.ts'
import { type Exchange, states } from './exchange.ts'
import { answerInsights } from './insights.ts'
import { replyBytes, replyError } from './reply.ts'

const asked = newAsked()
/** Whose address `asked` is; `undefined` outside of `answerCheck`. */
let asking: Exchange | undefined

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
  asking = exchange
  try {
    charge(exchange, key, answerCharged)
  } finally {
    asking = undefined
  }
  // Its unit is being leased; what is answered in a later turn of the loop is open until then, or
  // answered with close and then needs the text no more.
  if (exchange.state === states.open) exchange.checked = textOf(asked)
}

function answerCharged(exchange: Exchange): void {
  const { service, checked } = exchange
  const table = service.table()
  if (table === undefined) {
    replyError(exchange, 'upstream_unavailable')
    return
  }
  // In a later turn the text has become a string, which is an address still.
  if (asking !== exchange) askText(asked, checked)
  const { classification, body } = table.answer(asked)
  countAnswer(service.counters, classification)
  replyBytes(exchange, body)
}
