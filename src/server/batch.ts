// POST /v1/intelligence/ip-risk/check/batch (contract 3.16): many addresses, answered in order, each
// byte for byte as a check of its own. Small ones are answered here and at once, others by the pool,
// from the reading of their body on. Where the pool has no room the body is read here, for the errors
// that come before the 503 (3.12); that takes a tenth of what its answers would.

import type { Authenticated } from '../account/keyring.ts'
import { admitResults } from '../account/limiter.ts'
import { addressesARequest } from '../api/batch.ts'
import { countAddresses, cutBatch, readBatch } from '../pool/batch.ts'
import { placeOf } from '../pool/place.ts'
import type { Ticket } from '../pool/pool.ts'
import { giveSlab, shared, takeSlab } from '../pool/slab.ts'
import { answerTexts } from '../pool/work.ts'
import { charge } from './charge.ts'
import { countAnswers, countLimited, limitedBy } from './counters.ts'
import { type Exchange, states } from './exchange.ts'
import { tryPool, whenDone } from './offload.ts'
import { replyError, replyJson } from './reply.ts'
import { piecesAhead, streamJson } from './stream.ts'

const before = '{"results":['
const after = ']}'
/** For the answers of small batches, each gone before the next. */
const here = new Uint8Array(1 << 17)

export function answerBatch(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  if (placeOf({ kind: 'batch', bodyBytes: body.length }) === 'here') {
    answerHere(exchange, key, body)
    return
  }
  const ticket = tryPool(exchange)
  if (ticket === undefined) {
    refuse(exchange, key, cutBatch(body))
    return
  }
  // Copied: the body is dead after this call.
  const kept = shared(body)
  const result = ticket.run({ kind: 'read', body: kept })
  whenDone(exchange, { result, kind: 'read' }, ({ count, valid, cuts, rewritten = kept }) => {
    if (!isAdmitted(exchange, key, count)) return
    exchange.units = valid
    charge(exchange, key, () => streamPieces(exchange, ticket, { bytes: rewritten, cuts }))
  })
}

/** The first of its errors; what the 503 was charged goes back. */
function refuse(exchange: Exchange, key: Authenticated, read: ReturnType<typeof cutBatch>): void {
  if (!isAdmitted(exchange, key, read.count)) return
  exchange.units = read.valid
  charge(exchange, key, () => replyError(exchange, 'upstream_unavailable'))
}

function answerHere(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const texts = readBatch(body)
  if (!isAdmitted(exchange, key, texts?.length ?? 0) || texts === undefined) return
  exchange.units = countAddresses(texts)
  charge(exchange, key, () => {
    const table = exchange.service.table()
    if (table === undefined) {
      replyError(exchange, 'upstream_unavailable')
      return
    }
    const { json, answers } = answerTexts(table, texts, here)
    countAnswers(exchange.service.counters, answers)
    replyJson(
      exchange,
      before + Buffer.from(json.buffer, json.byteOffset, json.length).toString() + after,
    )
  })
}

/** Whether it is a batch and its key has rate for all of it; else its error is answered. */
function isAdmitted(exchange: Exchange, key: Authenticated, count: number): boolean {
  if (count === 0) {
    replyError(exchange, 'invalid_input')
    return false
  }
  const { limiter, counters } = exchange.service
  // The first request's worth was spent when the request was admitted.
  const more = Math.ceil(count / addressesARequest) - 1
  const result =
    more === 0 ? admitResults.granted : limiter.admit(key.allowance, more, exchange.startedMs)
  if (result === admitResults.granted) return true
  if (result === admitResults.exceeded) countLimited(counters, limitedBy.rate)
  const exceeded = result === admitResults.exceeded
  replyError(exchange, exceeded ? 'rate_limit_exceeded' : 'upstream_unavailable')
  return false
}

/** The pieces of a batch; piece i is bytes[cuts[i] … cuts[i + 1]). */
interface Cut {
  readonly bytes: Uint8Array
  readonly cuts: Uint32Array
}

/** The first byte goes out when the first piece is there: until then any error can be told. */
function streamPieces(exchange: Exchange, ticket: Ticket, { bytes, cuts }: Cut): void {
  const { counters } = exchange.service
  /** Of a piece that is asked for and not yet written; so many are never at once. */
  const slabs = Array.from({ length: piecesAhead }, takeSlab)
  let underWay = 0
  const ask = (index: number, give: (json: Uint8Array) => void): void => {
    const texts = bytes.subarray(cuts[index], cuts[index + 1])
    underWay += 1
    const result = ticket
      .run({ kind: 'checks', texts, into: slabs[index % piecesAhead]! })
      .finally(() => (underWay -= 1))
    whenDone(exchange, { result, kind: 'answered' }, ({ json, answers }) => {
      countAnswers(counters, answers)
      give(json)
    })
  }
  const { onEnd } = exchange
  exchange.onEnd = () => {
    onEnd?.()
    // A thread may still write to those of a request that was cut off.
    if (underWay === 0) slabs.forEach(giveSlab)
  }
  ask(0, (first) => {
    if (exchange.state !== states.open) return
    streamJson(exchange, {
      count: cuts.length - 1,
      ask: (index, give) => (index === 0 ? give(first) : ask(index, give)),
      before,
      between: ',',
      after,
    })
  })
}
