// Writes an answer piece by piece under back-pressure: pieces go out in their order, and the next
// ones are asked for only while the client takes what is written. The length is not known ahead, so
// the answer goes out in chunks (RFC 9112, 7.1). One that is cut off has no last chunk, which
// clients see.
//
// Invariants: every write happens in a cork and while the exchange is not gone; at most
// `piecesAhead` pieces are asked for and not yet written.

import { logAnswer } from './request-log.ts'
import { countRequest } from '../exchange/request-counters.ts'
import { type Exchange, closeExchange, requestIdOf, exchangeStates } from '../exchange/exchange.ts'
import { contentHeaders, keepAliveHeader } from './check-header-bytes.ts'
import { ratelimitHeaders } from './ratelimit-headers.ts'

/** One piece that is written, one that is ready, one under way. */
export const piecesAhead = 3

export interface ResponsePieces {
  readonly count: number
  /** Asks for a piece; `give` takes it, in any order, in a cork. */
  readonly ask: (index: number, give: (piece: Uint8Array) => void) => void
  readonly before: string
  readonly between: string
  readonly after: string
}

/** Answers 200 with the pieces; to be called in a cork, while the exchange is open. */
export function streamJson(exchange: Exchange, pieces: ResponsePieces): void {
  const { res } = exchange
  const ready = new Map<number, Uint8Array>()
  const at = { asked: 0, written: 0, blocked: false }
  const close = !exchange.keepAlive || exchange.service.draining

  const writeReady = (): void => {
    let piece = ready.get(at.written)
    while (piece !== undefined && !at.blocked) {
      ready.delete(at.written)
      // Charged from the first byte on.
      exchange.refundableUnits = 0
      res.write(at.written === 0 ? pieces.before : pieces.between)
      at.blocked = !res.write(piece)
      at.written += 1
      piece = ready.get(at.written)
    }
    if (at.written === pieces.count) end()
    else askMore()
  }
  const askMore = (): void => {
    while (!at.blocked && at.asked < pieces.count && at.asked - at.written < piecesAhead) {
      const index = at.asked
      at.asked += 1
      pieces.ask(index, (piece) => {
        ready.set(index, piece)
        writeReady()
      })
    }
  }
  const end = (): void => {
    countRequest(exchange.service.counters, 200, exchange.startedMs, performance.now())
    res.end(pieces.after, close)
    if (exchange.service.logRequests) logAnswer(exchange, 200)
    closeExchange(exchange)
  }

  exchange.state = exchangeStates.answered
  res.writeHeader('x-request-id', requestIdOf(exchange))
  const kept = close ? contentHeaders : contentHeaders + keepAliveHeader
  res.writeHeader('content-type', kept + ratelimitHeaders(exchange, performance.now()))
  if (close) res.writeHeader('connection', 'close')
  res.onWritable(() => {
    if (exchange.state === exchangeStates.gone) return true
    at.blocked = false
    res.cork(writeReady)
    return true
  })
  askMore()
}
