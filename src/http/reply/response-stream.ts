// Writes an answer piece by piece under back-pressure: the next pieces are asked for only while the
// client takes what is written. It goes out in chunks (RFC 9112, 7.1); one that is cut off has no
// last chunk, which clients see.
//
// uWebSockets.js (20.0.8) closes a connection only by an end that writes `Connection: close`,
// behind chunks among them, where no client can read it. So an answer whose connection must close
// is gathered and goes out with its length, unless the client has asked for the end; the queue of
// the pool bounds how many. While the server drains, the header asks the client to close.
//
// Invariants: every write happens in a cork and while the exchange is not gone; at most
// `piecesAhead` pieces are asked for and not yet written.

import { logAnswer } from './request-log.ts'
import { countRequest } from '../../observe/request-counters.ts'
import { type Exchange, closeExchange, requestIdOf, exchangeStates } from '../exchange/exchange.ts'
import { contentHeaders, keepAliveHeader } from './check-header-bytes.ts'
import { ratelimitHeaders } from './ratelimit-and-retry-after.ts'

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

interface AnswerBody {
  /** False if the client takes no more for now. */
  readonly put: (lead: string, piece: Uint8Array) => boolean
  readonly end: (last: string) => void
}

/** To be called in a cork, while the exchange is open. */
export function streamJson(exchange: Exchange, pieces: ResponsePieces): void {
  const { res } = exchange
  const ready = new Map<number, Uint8Array>()
  const at = { asked: 0, written: 0, blocked: false }

  const writeReady = (): void => {
    let piece = ready.get(at.written)
    while (piece !== undefined && !at.blocked) {
      ready.delete(at.written)
      at.blocked = !body.put(at.written === 0 ? pieces.before : pieces.between, piece)
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
    body.end(pieces.after)
    if (exchange.service.logRequests) logAnswer(exchange, 200)
    closeExchange(exchange)
  }

  exchange.state = exchangeStates.answered
  const isStreamed = exchange.keepAlive || exchange.closesItself
  const body = isStreamed ? chunkedBody(exchange) : gatheredBody(exchange)
  res.onWritable(() => {
    if (exchange.state === exchangeStates.gone) return true
    at.blocked = false
    res.cork(writeReady)
    return true
  })
  askMore()
}

function chunkedBody(exchange: Exchange): AnswerBody {
  const { res, service } = exchange
  const close = !exchange.keepAlive || service.draining
  writeHead(exchange, close ? contentHeaders : contentHeaders + keepAliveHeader)
  if (close) res.writeHeader('connection', 'close')
  return {
    put: (lead, piece) => {
      // Charged from the first byte on.
      exchange.refundableUnits = 0
      res.write(lead)
      return res.write(piece)
    },
    end: (last) => res.end(last),
  }
}

function gatheredBody(exchange: Exchange): AnswerBody {
  const gathered: Uint8Array[] = []
  return {
    put: (lead, piece) => {
      // A copy, because the piece's memory is reused.
      gathered.push(Buffer.from(lead), Buffer.from(piece))
      return true
    },
    end: (last) => {
      exchange.refundableUnits = 0
      writeHead(exchange, contentHeaders)
      exchange.res.end(Buffer.concat([...gathered, Buffer.from(last)]), true)
    },
  }
}

function writeHead(exchange: Exchange, headers: string): void {
  exchange.res.writeHeader('x-request-id', requestIdOf(exchange))
  exchange.res.writeHeader('content-type', headers + ratelimitHeaders(exchange, performance.now()))
}
