// Hot path: POST /v1/intelligence/ip-risk/check, from a whole body to the answer. What comes before
// (404, 405, 401, 403, rate, 413) is request.ts; the rest of contract 3.12 is here, in its order:
// 400, quota, 503, 200. Only a 200 costs one unit of the quota.

import type { Authenticated } from '../account/keyring.ts'
import { newWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse.ts'
import { readIp } from './body.ts'
import { charge, refund } from './charge.ts'
import { countAnswer } from './counters.ts'
import type { Exchange } from './exchange.ts'
import { replyError, replyJson } from './reply.ts'

const words = newWords()

export function answerCheck(exchange: Exchange, key: Authenticated, body: Buffer): void {
  const text = readIp(body)
  if (text === undefined || parseAddress(text, words) === 0) {
    replyError(exchange, 'invalid_input')
    return
  }
  exchange.checked = text
  charge(exchange, key, answerCharged)
}

function answerCharged(exchange: Exchange, key: Authenticated): void {
  const { service, checked } = exchange
  const answer = service.table()?.check(checked)
  if (answer === undefined) {
    refund(exchange, key)
    replyError(exchange, 'upstream_unavailable')
    return
  }
  countAnswer(service.counters, answer.classification)
  replyJson(exchange, JSON.stringify(answer))
}
