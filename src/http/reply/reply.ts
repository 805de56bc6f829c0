// Hot path: `replyBytes` on a kept connection. No allocation, throw or closure there.
//
// Writes an answer. The constant headers go out in one `writeHeader` call with our own line end
// inside, which costs a third of separate calls; client text must never be in such a value.
// A client's own request id stands alone.
//
// An answer that ends its connection is written in a later turn of the loop (framing-guard.ts).
// Answers to HEAD and 304s always end theirs: uWebSockets.js (20.0.8) never counts an answer as
// complete that states a length and has no body, and kills the next request on the connection.

import { performance } from 'node:perf_hooks'
import { type ApiErrorCode, apiErrors, errorBody, type ErrorDetail } from '../../api/api-error.ts'
import { describeError } from '../../base/log.ts'
import {
  countGateRequest,
  countRequest,
  countTestRequest,
  type HttpStatus,
} from '../../observe/request-counters.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { closeExchange, exchangeStates, refundUnits, requestIdOf } from '../exchange/exchange.ts'
import { checkHeaderBytes, contentHeaders, keepAliveHeader } from './check-header-bytes.ts'
import { deferClose } from './defer-close.ts'
import { ratelimitHeaders, retryAfter } from './ratelimit-and-retry-after.ts'
import { logAnswer, loggedAddresses } from './request-log.ts'

const statusLines = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  204: '204 No Content',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  413: '413 Payload Too Large',
  422: '422 Unprocessable Content',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
} as const satisfies Readonly<Record<HttpStatus, string>>

/** Firewalls use Basic, and only after a challenge. */
const listChallengeHeaders = `${contentHeaders}\r\nwww-authenticate: Basic realm="iprisk", Bearer`
const challengeHeaders = `${contentHeaders}\r\nwww-authenticate: Bearer`

export interface Answer {
  readonly status: HttpStatus
  /** The first header; content-type by default. */
  readonly leading?: string
  /** The value of the first header, and all constant headers after it. */
  readonly headers: string
  readonly body: string | Uint8Array
  /** The length that a HEAD or a 304 states; by default that of `body`. */
  readonly bodyBytes?: number
}

export function replyJson(exchange: Exchange, body: string): void {
  reply(exchange, { status: 200, headers: contentHeaders, body })
}

export function replyAccepted(exchange: Exchange, body: string): void {
  reply(exchange, { status: 202, headers: contentHeaders, body })
}

export function replyFile(
  exchange: Exchange,
  answer: Answer & { readonly status: 200 | 304 },
): void {
  if (answer.status === 304) exchange.keepAlive = false
  reply(exchange, answer)
}

/** The bytes are valid only for this call. */
export function replyBytes(exchange: Exchange, body: Uint8Array): void {
  if (answersAtOnce(exchange)) {
    const { res, service, clientRequestId } = exchange
    exchange.state = exchangeStates.answered
    const nowMs = performance.now()
    countRequest(service.counters, 200, exchange.startedMs, nowMs)
    if (clientRequestId !== '') res.writeHeader('x-request-id', clientRequestId)
    // Whole milliseconds, which V8 passes on without a number on the heap.
    res.writeHeader('content-type', checkHeaderBytes(exchange, Math.floor(nowMs)))
    res.end(body)
    exchange.refundableUnits = 0
    if (service.logRequests) logAnswer(exchange, 200)
    closeExchange(exchange)
  } else {
    reply(exchange, { status: 200, headers: contentHeaders, body: body.slice() })
  }
}

/** States a length without a body: that of the file, for a 304 (RFC 9110, 8.6). */
function isBodiless({ headOnly }: Exchange, { status }: Answer): boolean {
  return (headOnly && status !== 204) || status === 304
}

function answersAtOnce({ state, keepAlive, service }: Exchange): boolean {
  return state === exchangeStates.open && keepAlive && !service.draining
}

export interface Refusal extends ErrorDetail {
  readonly code: ApiErrorCode
  /** For `method_not_allowed`: the value of the Allow header. */
  readonly allow?: string
}

/** `detail` replaces the code's usual text. */
export function replyError(exchange: Exchange, code: ApiErrorCode, detail?: ErrorDetail): void {
  replyRefusal(exchange, { ...detail, code })
}

export function replyRefusal(exchange: Exchange, refusal: Refusal): void {
  reply(exchange, errorAnswer(exchange, refusal))
}

/**
 * Answers an error while the request's body is still coming; the caller closes the connection. Not
 * for HEAD. To uWebSockets.js the answer must stay unfinished, or the connection could not be
 * closed later, and its chunks would end with `Connection: close` among them. So the body goes out
 * behind the last header, whose line end is the end of the body.
 */
export function beginErrorReply(exchange: Exchange, refusal: Refusal): void {
  const { res, service } = exchange
  const answer = errorAnswer(exchange, refusal)
  writeHead(exchange, answer, true)
  const bytes = Buffer.byteLength(answer.body) + 2
  const last = `close\r\ndate: ${new Date().toUTCString()}\r\ncontent-length: ${bytes}`
  res.writeHeader('connection', `${last}\r\n\r\n${answer.body}`)
  if (service.logRequests) logAnswer(exchange, answer.status)
  closeExchange(exchange)
}

function errorAnswer(exchange: Exchange, refusal: Refusal): Answer & { readonly body: string } {
  const { code, allow } = refusal
  // First, because the headers state what is left. A 200 that has begun has no units to refund.
  refundUnits(exchange)
  const challenge = exchange.source === 'lists' ? listChallengeHeaders : challengeHeaders
  let headers = code === 'invalid_api_key' ? challenge : contentHeaders
  const seconds = refusal.retrySeconds ?? retryAfter(exchange, code)
  if (seconds !== undefined) headers += `\r\nretry-after: ${seconds}`
  if (allow !== undefined) headers += `\r\nallow: ${allow}`
  return {
    status: apiErrors[code].status,
    headers,
    body: errorBody(code, requestIdOf(exchange), {
      ...refusal,
      isBouncers: exchange.source === 'bouncer',
    }),
  }
}

export function reply(exchange: Exchange, answer: Answer): void {
  if (exchange.state !== exchangeStates.open) return
  const atOnce = answersAtOnce(exchange)
  exchange.state = exchangeStates.answered
  if (atOnce) {
    write(exchange, answer, false)
    return
  }
  deferClose(() => {
    if (exchange.state !== exchangeStates.answered) return
    try {
      exchange.res.cork(() => write(exchange, answer, true))
      // Outside the cork, whose end has sent the answer off.
      if (isBodiless(exchange, answer)) exchange.res.close()
    } catch (error) {
      const { service } = exchange
      const requestId = requestIdOf(exchange)
      service.log.error({ requestId, ...describeError(error) }, 'An answer could not be written.')
      abandon(exchange)
    }
  })
}

/** Half an answer may have gone out: only a closed connection is clear to the client. */
function abandon(exchange: Exchange): void {
  try {
    exchange.res.close()
  } catch {
    // The answer was complete, and something threw afterwards.
  }
  closeExchange(exchange)
}

function write(exchange: Exchange, answer: Answer, close: boolean): void {
  const { res, service } = exchange
  writeHead(exchange, answer, close)
  if (answer.status === 204 && !close) {
    // A 204 states no length (RFC 9110, 8.6). uWebSockets.js cannot close behind one that does not.
    res.endWithoutBody()
  } else if (isBodiless(exchange, answer)) {
    // States the length without sending a body: headers go out, and `res` can still be closed.
    res.writeHeader('connection', 'close')
    res.tryEnd('', answer.bodyBytes ?? Buffer.byteLength(answer.body))
  } else {
    res.end(answer.body, close)
  }
  // Only now: an answer that waits for its turn may lose its client, and then costs nothing.
  if (answer.status === 200) exchange.refundableUnits = 0
  if (service.logRequests) logAnswer(exchange, answer.status)
  closeExchange(exchange)
}

export function writeHead(exchange: Exchange, answer: Omit<Answer, 'body'>, close: boolean): void {
  const { res, service, clientRequestId } = exchange
  const nowMs = performance.now()
  // Test keys are never answered by `replyBytes` or in pieces: their answers are counted only here.
  const { visit } = exchange
  if (visit !== undefined) countGateRequest(service.counters, answer.status, visit.degraded)
  else if (exchange.key?.isTest === true) countTestRequest(service.counters, answer.status)
  else countRequest(service.counters, answer.status, exchange.startedMs, nowMs)
  // uWebSockets.js begins an answer with 200 OK by itself.
  if (answer.status !== 200) res.writeStatus(statusLines[answer.status])
  const kept = close || exchange.headOnly ? '' : keepAliveHeader
  const leading = answer.leading ?? 'content-type'
  const headers = answer.headers + kept + ratelimitHeaders(exchange, nowMs)
  if (clientRequestId === '') {
    res.writeHeader(leading, `${headers}\r\nx-request-id: ${requestIdOf(exchange)}`)
  } else {
    res.writeHeader('x-request-id', clientRequestId)
    res.writeHeader(leading, headers)
  }
}

/**
 * A handler threw: 500, and a line in the log with the request id, the error's kind and its stack,
 * but not its message, which may hold an address or a key. Never throws: exceptions of its callers
 * end the process.
 */
export function replyInternalError(exchange: Exchange, error: unknown): void {
  try {
    const { log } = exchange.service
    const requestId = requestIdOf(exchange)
    const fields = { requestId, ...describeError(error), ...loggedAddresses(exchange) }
    log.error(fields, 'A request failed in the server and was answered internal_error.')
    // Half an answer may have gone out: only a closed connection is clear to the client.
    exchange.keepAlive = false
    if (exchange.state === exchangeStates.open) replyError(exchange, 'internal_error')
    else if (exchange.state === exchangeStates.answered) exchange.res.close()
  } catch {
    // Nothing else can be done, and the worker must survive.
  }
}
