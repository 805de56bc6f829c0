// Reads a request: one pass over its headers, the framing guard, the route, the key, the body; then
// it calls the endpoint or answers the first error of contract 3.12. An error is answered when the
// body has been read, so that the connection can serve the next request.
//
// Invariants: nothing that a client sends makes a callback throw into uWebSockets.js, which would
// end the process; `req` is used only in the turn that brought it; a body chunk is copied or used
// before its callback returns.

import { performance } from 'node:perf_hooks'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { ApiErrorCode } from '../api/api-error.ts'
import { checkBodyBytesMax } from '../api/request-limits.ts'
import { logAbort, logFramingRefusal, remoteAddressOf } from './reply/request-log.ts'
import { authorize } from './endpoint/authorize.ts'
import { smallBodyBytes } from './exchange/body-budget.ts'
import { countEvent } from './exchange/request-counters.ts'
import {
  type Exchange,
  type Service,
  abortExchange,
  newExchange,
  exchangeStates,
} from './exchange/exchange.ts'
import { replyInternalError } from './reply/internal-error.ts'
import {
  type HeaderScan,
  beginsLikeChunk,
  framingForMethod,
  framingOf,
  framings,
  newHeaderScan,
  scanHeader,
  resetHeaderScan,
} from './listen/framing-guard.ts'
import { wantsInsights } from './endpoint/insights-endpoint.ts'
import { heartbeatOverdueMs } from './exchange/heartbeat.ts'
import { replyError } from './reply/reply.ts'
import { isRequestId } from './exchange/request-id.ts'
import { type Endpoint, checkEndpoint, routes } from './routes.ts'
import { batchedChecksMax } from './endpoint/check-batcher.ts'

/**
 * A body that is too large is read on, and thrown away, for so long, so that its sender gets to see
 * the 413; what is larger is cut off with it.
 */
const discardedBytesMax = 1_048_576

const headerScan: HeaderScan = newHeaderScan()
const onHeader = (name: string, value: string): void => scanHeader(headerScan, name, value)
const noBody = Buffer.alloc(0)

/** A request whose body is still to come, with its exchange. */
interface Intake {
  readonly exchange: Exchange
  /** Called when the body is there; `undefined` where `refusal` is answered. */
  endpoint: Endpoint | undefined
  refusal: ApiErrorCode
  /** Of a refusal: the value of the Allow header. */
  allow: string
  /** The Content-Length, 0 where there is none. */
  contentLength: number
  bytesMax: number
  /** What has come so far, where it came in pieces. */
  buffered: Buffer
  /** Room that the body holds (body-budget.ts). */
  reservedBytes: number
  /** There was no room for the body: from then on it is only counted and thrown away. */
  shed: boolean
  bytes: number
  /** The body has been handed on, or was too large. */
  finished: boolean
  readonly onData: (chunk: ArrayBuffer, isLast: boolean) => void
  readonly onAborted: () => void
}

/**
 * Intakes that wait for another request. Using one again saves its two callbacks, its exchange and
 * half a kilobyte of garbage. Only intakes come back that no later turn of the loop can know: their
 * exchange was over when the endpoint returned, or at the end of that turn (check-batcher.ts).
 */
const idle: Intake[] = []
/** At most so many wait: as many as a batch of checks has room for. */
const idleMax = batchedChecksMax

/**
 * Every request of the public port comes in here. `known` is what uWebSockets.js's own router found
 * for it, so that neither method nor path become strings; without it the route table is asked.
 */
export function handleRequest(
  service: Service,
  res: HttpResponse,
  req: HttpRequest,
  known?: Endpoint,
): void {
  resetHeaderScan(headerScan)
  req.forEach(onHeader)
  const method = known === undefined ? req.getCaseSensitiveMethod() : 'POST'
  const framing =
    known === undefined ? framingForMethod(method, framingOf(headerScan)) : framingOf(headerScan)
  if (framing === framings.refused) {
    countEvent(service.counters, 'refused')
    if (service.logRequests) logFramingRefusal(service, res)
    res.close()
    return
  }
  const intake = idle.pop() ?? newIntake(service, res)
  const { exchange } = intake
  resetIntake(intake, service, res)
  exchange.headOnly = method === 'HEAD'
  exchange.keepAlive = framing === framings.kept
  service.pending += 1
  if (exchange.startedMs - service.heartbeat.lastBeatMs > heartbeatOverdueMs)
    service.heartbeat.beat(exchange.startedMs)
  res.onAborted(intake.onAborted)
  try {
    routeAndAuthorize(intake, req, known)
    if (intake.contentLength > intake.bytesMax + discardedBytesMax) dispatch(intake, undefined)
    else res.onData(intake.onData)
  } catch (error) {
    replyInternalError(exchange, error)
  }
}

function newIntake(service: Service, res: HttpResponse): Intake {
  const exchange = newExchange(service, res)
  const intake: Intake = {
    exchange,
    endpoint: undefined,
    refusal: 'not_found',
    allow: '',
    contentLength: 0,
    bytesMax: 0,
    buffered: noBody,
    reservedBytes: 0,
    shed: false,
    bytes: 0,
    finished: false,
    onData: (chunk, isLast) => {
      if (intake.finished || exchange.state !== exchangeStates.open) return
      try {
        takeChunk(intake, chunk, isLast)
      } catch (error) {
        releaseBody(intake)
        replyInternalError(exchange, error)
      }
    },
    onAborted: () => {
      releaseBody(intake)
      if (exchange.service.logRequests && exchange.state !== exchangeStates.gone) logAbort(exchange)
      abortExchange(exchange)
    },
  }
  exchange.recycle = () => recycleIntake(intake)
  return intake
}

/** Sets an intake, new or used, to the request whose headers have just been scanned. */
function resetIntake(intake: Intake, service: Service, res: HttpResponse): void {
  const { exchange } = intake
  intake.endpoint = undefined
  intake.allow = ''
  intake.contentLength = headerScan.contentLength
  intake.bytesMax = checkBodyBytesMax
  intake.buffered = noBody
  intake.reservedBytes = 0
  intake.shed = false
  intake.bytes = 0
  intake.finished = false
  exchange.service = service
  exchange.res = res
  const ownId = !isRequestId(headerScan.requestId)
  exchange.clientRequestId = ownId ? '' : headerScan.requestId
  exchange.requestIdNumber = ownId ? service.requestIds.next() : 0
  exchange.remoteAddress = remoteAddressOf(service, res)
  exchange.checkedAddress = ''
  exchange.insights = false
  exchange.rateCost = 1
  exchange.units = 1
  exchange.refundableUnits = 0
  exchange.onEnd = undefined
  exchange.startedMs = performance.now()
  exchange.key = undefined
  exchange.state = exchangeStates.open
}

/** Everything of contract 3.12 that comes before the body: 404, 405, 401, 403, 429 rate. */
function routeAndAuthorize(intake: Intake, req: HttpRequest, known: Endpoint | undefined): void {
  const { exchange } = intake
  const endpoint = known ?? findEndpoint(intake, req)
  if (endpoint === undefined) return
  if (endpoint.access === 'key') {
    const outcome = authorize(exchange, headerScan)
    if (outcome.kind !== 'authenticated') {
      intake.refusal = outcome.code
      return
    }
    intake.bytesMax = endpoint.bodyBytesMax
    exchange.insights = wantsInsights(outcome, req)
  }
  intake.endpoint = endpoint
}

/** The endpoint by the route table, or `undefined` and why. */
function findEndpoint(intake: Intake, req: HttpRequest): Endpoint | undefined {
  const route = routes.get(req.getUrl())
  intake.refusal = 'not_found'
  if (route === undefined) return undefined
  const endpoint = route.methods.get(req.getCaseSensitiveMethod())
  if (endpoint !== undefined) return endpoint
  intake.refusal = 'method_not_allowed'
  intake.allow = route.allow
  return undefined
}

/** `body` is good for this call only; it is `undefined` where it is too large. */
function dispatch(intake: Intake, body: Uint8Array | undefined): void {
  const { endpoint, exchange } = intake
  intake.finished = true
  if (body === undefined || beginsLikeChunk(body)) exchange.keepAlive = false
  if (endpoint === undefined) replyError(exchange, intake.refusal, intake.allow)
  else if (body === undefined) replyError(exchange, 'payload_too_large')
  // 400 and 429 would come before this, but a body that was not kept cannot be judged.
  else if (intake.shed) replyError(exchange, 'upstream_unavailable')
  else if (endpoint.access === 'open') endpoint.answer(exchange)
  else if (exchange.key !== undefined) {
    endpoint.answer(exchange, exchange.key, body)
    if (endpoint === checkEndpoint && !exchange.insights) recycleIntake(intake)
  }
}

/** Lets the intake serve another request, if this one's check is over. */
function recycleIntake(intake: Intake): void {
  if (intake.exchange.state !== exchangeStates.gone || idle.length >= idleMax) return
  intake.buffered = noBody
  idle.push(intake)
}

/** Reads a chunk; the last one of the body, or one above its limit, ends the reading. */
function takeChunk(intake: Intake, chunk: ArrayBuffer, isLast: boolean): void {
  const { bytes: before, bytesMax, contentLength } = intake
  const bytes = before + chunk.byteLength
  intake.bytes = bytes
  if (bytes > bytesMax || contentLength > bytesMax) {
    releaseBody(intake)
    if (isLast || bytes > bytesMax + discardedBytesMax) dispatch(intake, undefined)
  } else if (isLast && before === 0) {
    dispatch(intake, new Uint8Array(chunk))
  } else if (intake.shed || intake.endpoint?.access !== 'key') {
    // No endpoint reads this body: only `beginsLikeChunk` needs its first byte. Requests without a
    // key get no room.
    if (before === 0) intake.buffered = Buffer.from(chunk.slice(0, 1))
    if (isLast) dispatch(intake, intake.buffered)
  } else if (reserveBody(intake)) {
    // Copied: the chunk is dead after this call.
    Buffer.from(chunk).copy(intake.buffered, before)
    if (!isLast) return
    dispatch(intake, intake.buffered.subarray(0, bytes))
    releaseBody(intake)
  } else {
    const first = Buffer.allocUnsafeSlow(1)
    first[0] = (before === 0 ? new Uint8Array(chunk) : intake.buffered)[0]!
    releaseBody(intake)
    // From now on the body is only counted; if it becomes too large, 413 is answered.
    intake.buffered = first
    intake.shed = true
    if (isLast) dispatch(intake, first)
  }
}

/** Whether there is room for all that has come so far; it grows by doubling. */
function reserveBody(intake: Intake): boolean {
  const { exchange, buffered, reservedBytes, bytes, bytesMax, contentLength } = intake
  if (buffered.length >= bytes) return true
  // A length that a client only states is no reason to keep much room for it.
  const ahead = Math.min(contentLength, checkBodyBytesMax)
  const doubled = Math.min(buffered.length * 2, bytesMax)
  const wanted = Math.max(bytes, ahead, doubled, smallBodyBytes)
  if (!exchange.service.bodyBudget.reserve(exchange.key?.keyId ?? '', reservedBytes, wanted))
    return false
  intake.reservedBytes = wanted
  // Never a slice of the 8 KiB that Node.js shares out, so that the counted bytes are those held.
  intake.buffered = Buffer.allocUnsafeSlow(wanted)
  buffered.copy(intake.buffered)
  return true
}

/** The body is needed no more. */
function releaseBody(intake: Intake): void {
  intake.buffered = noBody
  if (intake.reservedBytes === 0) return
  const { key, service } = intake.exchange
  service.bodyBudget.release(key?.keyId ?? '', intake.reservedBytes)
  intake.reservedBytes = 0
}
