// POST /v1/intelligence/ip-risk/check/batch (contract 3.16): many addresses, answered in order, each
// byte for byte as a check of its own. Small ones are answered here and at once, others by the pool,
// from the reading of their body on. Where the pool has no room the body is read here, for the errors
// that come before the 503 (3.12); that takes a tenth of what its answers would.

import type { Authenticated } from '../account/keyring.ts'
import { countAddresses, cutBatch, readBatch } from '../pool/batch.ts'
import { placeOf } from '../pool/place.ts'
import type { Ticket } from '../pool/pool.ts'
import { giveSlab, shared, takeSlab } from '../pool/slab.ts'
import { answerTexts } from '../pool/work.ts'
import { admitBatch } from './admit.ts'
import { charge } from './charge.ts'
import { countAnswers } from './counters.ts'
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
    admitBatch(exchange, key, count, () => {
      exchange.units = valid
      charge(exchange, key, () => streamPieces(exchange, ticket, { bytes: rewritten, cuts }))
    })
  })
}

/** The first of its errors; what the 503 was charged goes back. */
function refuse(exchange: Exchange, key: Authenticated, read: ReturnType<typeof cutBatch>): void {
  admitBatch(exchange, key, read.count, () => {
    exchange.units = read.valid
    charge(exchange, key, () => replyError(exchange, 'upstream_unavailable'))
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
      const { json, answers } = answerTexts(table, texts, here)
      countAnswers(exchange.service.counters, answers)
      const text = Buffer.from(json.buffer, json.byteOffset, json.length).toString()
      replyJson(exchange, before + text + after)
    })
  })
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
