// POST /v1/intelligence/ip-risk/check/batch (contract 3.16): many addresses, answered in order, each
// byte for byte as a check of its own. Small ones are answered here and at once, others by the pool,
// from the reading of their body on. The order of errors is 3.12's, with one exception: a pool
// without room says 503 before a large body is read, for only the pool reads it.

import type { Authenticated } from '../account/keyring.ts'
import { placeOf } from '../pool/place.ts'
import type { Ticket } from '../pool/pool.ts'
import { answerTexts, countAddresses, readBatch } from '../pool/work.ts'
import { admitBatch } from './admit.ts'
import { charge } from './charge.ts'
import { countAnswers } from './counters.ts'
import { type Exchange, states } from './exchange.ts'
import { enterPool, whenDone } from './offload.ts'
import { replyError, replyJson } from './reply.ts'
import { streamJson } from './stream.ts'

const before = '{"results":['
const after = ']}'

export function answerBatch(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  if (placeOf({ kind: 'batch', bodyBytes: body.length }) === 'here') {
    answerHere(exchange, key, body)
    return
  }
  const ticket = enterPool(exchange)
  if (ticket === undefined) return
  // Copied: the body is dead after this call.
  const result = ticket.run({ kind: 'read', body: Uint8Array.from(body) })
  whenDone(exchange, { result, kind: 'read' }, ({ count, valid, pieces }) => {
    admitBatch(exchange, key, count, () => {
      exchange.units = valid
      charge(exchange, key, () => streamPieces(exchange, ticket, pieces))
    })
  })
}

function answerHere(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const texts = readBatch(body) ?? []
  admitBatch(exchange, key, texts.length, () => {
    exchange.units = countAddresses(texts)
    charge(exchange, key, () => {
      const table = exchange.service.table()
      if (table === undefined) {
        replyError(exchange, 'upstream_unavailable')
        return
      }
      const { json, answers } = answerTexts(table, texts)
      countAnswers(exchange.service.counters, answers)
      replyJson(exchange, before + Buffer.from(json.buffer, 0, json.length).toString() + after)
    })
  })
}

/** The first byte goes out when the first piece is there: until then any error can be told. */
function streamPieces(exchange: Exchange, ticket: Ticket, pieces: readonly Uint8Array[]): void {
  const { counters } = exchange.service
  const ask = (index: number, give: (json: Uint8Array) => void): void => {
    const result = ticket.run({ kind: 'checks', texts: pieces[index]! })
    whenDone(exchange, { result, kind: 'answered' }, ({ json, answers }) => {
      countAnswers(counters, answers)
      give(json)
    })
  }
  ask(0, (first) => {
    if (exchange.state !== states.open) return
    streamJson(exchange, {
      count: pieces.length,
      ask: (index, give) => (index === 0 ? give(first) : ask(index, give)),
      before,
      between: ',',
      after,
    })
  })
}
