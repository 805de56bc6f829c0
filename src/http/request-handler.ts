// Reads a request: its headers in one pass, the framing guard, the route, the key, the body; then
// calls the endpoint or answers the first error of contract 3.12 (order of errors), after the body,
// so that the connection can serve the next request.
// Invariants: no callback throws into uWebSockets.js, which would end the process; `req` is used
// only in the turn that brought it; a body chunk is copied or used before its callback returns.

import { performance } from 'node:perf_hooks'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { logAbort, logFramingRefusal, remoteAddressOf } from './reply/request-log.ts'
import { authorize } from './endpoint/authorize.ts'
import { nothingAsked } from '../context/asked-members.ts'
import { countEvent } from '../observe/request-counters.ts'
import type { Exchange, Service } from './exchange/exchange.ts'
import { abortExchange, newExchange, exchangeStates, insightsModes } from './exchange/exchange.ts'
import { deferClose } from './reply/defer-close.ts'
import type { Refusal } from './reply/reply.ts'
import { beginErrorReply, replyError, replyInternalError, replyRefusal } from './reply/reply.ts'
import * as guard from './listen/framing-guard.ts'
import { includeRefusal, takeInclude } from './endpoint/insights-endpoint.ts'
import { beatIfOverdue } from '../observe/heartbeat.ts'
import * as bodies from './request-body.ts'
import { isRequestId } from './exchange/request-id.ts'
import { type AdapterRoutes, type Endpoint, checkEndpoint, docsRouteOf, routes } from './routes.ts'
import { batchedChecksMax } from './endpoint/check-batcher.ts'

/**
 * After a refusal before the body, this much of a chunked body is read and discarded, for this
 * long: a client that gets a reset while it still sends may never read why.
 */
const refusedBytesMax = 65_536
export const refusedMsMax = 1000

const headerScan: guard.HeaderScan = guard.newHeaderScan()
const onHeader = (name: string, value: string): void => guard.scanHeader(headerScan, name, value)

/** A worker beats at least every this many pieces of a body. A power of two. */
const piecesABeat = 64

const notFound: Refusal = { code: 'not_found' }

interface Intake {
  readonly exchange: Exchange
  readonly body: bodies.RequestBody
  /** `undefined` if `refusal` is answered. */
  endpoint: Endpoint | undefined
  refusal: Refusal
  finished: boolean
  discarding: boolean
  discardTimer: NodeJS.Timeout | undefined
  readonly onData: (chunk: ArrayBuffer, isLast: boolean) => void
  readonly onAborted: () => void
}

/**
 * Intakes that wait for another request: reuse saves two callbacks, an exchange and half a kilobyte
 * of garbage. Only intakes come back that no later turn can know: their exchange was over when the
 * endpoint returned, or at the end of that turn (check-batcher.ts).
 */
const idle: Intake[] = []
/** As many as a batch of checks has room for. */
const idleMax = batchedChecksMax

/**
 * `known` is what uWebSockets.js's own router found, so that neither method nor path become
 * strings; without it the route table is asked.
 */
export function handleRequest(
  service: Service,
  res: HttpResponse,
  req: HttpRequest,
  known?: Endpoint,
  adapters?: AdapterRoutes,
): void {
  guard.resetHeaderScan(headerScan)
  req.forEach(onHeader)
  const method = known === undefined ? req.getCaseSensitiveMethod() : 'POST'
  const framing =
    known === undefined
      ? guard.framingForMethod(method, guard.framingOf(headerScan))
      : guard.framingOf(headerScan)
  if (framing === guard.framings.refused) {
    refuseFraming(service, res)
    return
  }
  const intake = idle.pop() ?? newIntake(service, res)
  const { exchange } = intake
  resetIntake(intake, service, res)
  exchange.headOnly = method === 'HEAD'
  exchange.keepAlive = framing === guard.framings.kept
  exchange.closesItself = headerScan.closesItself
  service.pending += 1
  beatIfOverdue(service.heartbeat, exchange.startedMs)
  res.onAborted(intake.onAborted)
  try {
    routeAndAuthorize(intake, req, known ?? findEndpoint(intake, req, adapters))
    const isRefused = intake.endpoint === undefined
    if (isRefused && !service.refusalBudget.spend()) cutOff(service, res)
    else if (isRefused && headerScan.chunked && !exchange.headOnly) refuseAhead(intake)
    else if (intake.body.contentLength > intake.body.bytesMax + bodies.discardedBytesMax)
      dispatch(intake, undefined)
    else res.onData(intake.onData)
  } catch (error) {
    replyInternalError(exchange, error)
  }
}

/** Closes a connection whose bytes cannot be trusted; nothing else stops the parser. */
export function refuseFraming(service: Service, res: HttpResponse): void {
  countEvent(service.counters, 'refused')
  beatIfOverdue(service.heartbeat, performance.now())
  if (service.logRequests) logFramingRefusal(service, res)
  res.close()
}

/** Closes a connection that costs more than it brings. */
function cutOff({ counters }: Service, res: HttpResponse): void {
  countEvent(counters, 'closedForWork')
  res.close()
}

function newIntake(service: Service, res: HttpResponse): Intake {
  const exchange = newExchange(service, res)
  const body = bodies.newRequestBody()
  const intake: Intake = {
    exchange,
    body,
    endpoint: undefined,
    refusal: notFound,
    finished: false,
    discarding: false,
    discardTimer: undefined,
    onData: (chunk, isLast) => {
      if (exchange.state === exchangeStates.gone && !intake.discarding) return
      try {
        takeChunk(intake, chunk, isLast)
      } catch (error) {
        bodies.releaseBody(body, exchange)
        replyInternalError(exchange, error)
      }
    },
    onAborted: () => {
      bodies.releaseBody(body, exchange)
      stopDiscarding(intake)
      const { service } = exchange
      beatIfOverdue(service.heartbeat, performance.now())
      if (service.logRequests && exchange.state !== exchangeStates.gone) logAbort(exchange)
      abortExchange(exchange)
    },
  }
  exchange.recycle = () => recycleIntake(intake)
  return intake
}

function resetIntake(intake: Intake, service: Service, res: HttpResponse): void {
  const { exchange } = intake
  intake.endpoint = undefined
  intake.finished = false
  bodies.resetBody(intake.body, headerScan.contentLength)
  exchange.service = service
  exchange.res = res
  const ownId = !isRequestId(headerScan.requestId, service.keyring.holds)
  exchange.clientRequestId = ownId ? '' : headerScan.requestId
  exchange.requestIdNumber = ownId ? service.requestIds.next() : 0
  exchange.remoteAddress = remoteAddressOf(service, res)
  exchange.checkedAddress = ''
  exchange.insights = insightsModes.none
  exchange.asked = nothingAsked
  exchange.rateCost = 1
  exchange.units = 1
  exchange.refundableUnits = 0
  exchange.onEnd = undefined
  exchange.startedMs = performance.now()
  exchange.key = undefined
  exchange.source = undefined
  exchange.state = exchangeStates.open
}

/** Everything of contract 3.12 (order of errors) before the body. */
function routeAndAuthorize(intake: Intake, req: HttpRequest, endpoint?: Endpoint): void {
  const { body, exchange } = intake
  if (endpoint === undefined) return
  if (endpoint.access === 'key') {
    const outcome = authorize(exchange, headerScan, endpoint.credential)
    if (outcome.kind !== 'authenticated') {
      intake.refusal = outcome
      return
    }
    body.bytesMax = endpoint.bodyBytesMax
    if (endpoint.takesInclude) {
      if (!takeInclude(exchange, outcome, req.getQuery())) {
        intake.refusal = includeRefusal
        return
      }
    }
    body.isRead = true
  }
  intake.endpoint = endpoint
}

function findEndpoint(
  intake: Intake,
  req: HttpRequest,
  adapters: AdapterRoutes | undefined,
): Endpoint | undefined {
  const url = req.getUrl()
  const { service } = intake.exchange
  const route = routes.get(url) ?? adapters?.(url, req) ?? docsRouteOf(service, url, req)
  intake.refusal = notFound
  if (route === undefined) return undefined
  const endpoint = route.methods.get(req.getCaseSensitiveMethod())
  if (endpoint !== undefined) return endpoint
  intake.refusal = { code: 'method_not_allowed', allow: route.allow }
  return undefined
}

/** `body` is valid only for this call; `undefined` if it is too large. */
function dispatch(intake: Intake, body: Uint8Array | undefined): void {
  const { endpoint, exchange } = intake
  intake.finished = true
  if (body === undefined || guard.beginsLikeChunk(body)) exchange.keepAlive = false
  if (endpoint === undefined) replyRefusal(exchange, intake.refusal)
  else if (body === undefined) replyError(exchange, 'payload_too_large')
  // A body that was not kept cannot get the 400 and 429 that would come first.
  else if (intake.body.shed) replyError(exchange, 'upstream_unavailable')
  else if (endpoint.access === 'open') endpoint.answer(exchange)
  else if (exchange.key !== undefined) {
    const answer = exchange.key.isTest ? endpoint.answerTest : endpoint.answer
    answer(exchange, exchange.key, body)
    if (endpoint === checkEndpoint && exchange.insights !== insightsModes.given)
      recycleIntake(intake)
  }
}

function recycleIntake(intake: Intake): void {
  if (intake.exchange.state !== exchangeStates.gone || idle.length >= idleMax) return
  bodies.releaseBody(intake.body, intake.exchange)
  idle.push(intake)
}

function takeChunk(intake: Intake, chunk: ArrayBuffer, isLast: boolean): void {
  const { body, exchange } = intake
  body.pieces += 1
  const { service, res } = exchange
  if (body.pieces % piecesABeat === 0) beatIfOverdue(service.heartbeat, performance.now())
  if (bodies.isShredded(body) || (!body.isRead && !service.refusalBudget.spend()))
    cutOff(service, res)
  else if (intake.discarding) discardChunk(intake, chunk, isLast)
  else if (!intake.finished && exchange.state === exchangeStates.open) {
    const state = bodies.takePiece(body, exchange, chunk, isLast)
    if (state === bodies.bodyStates.unfinished) return
    dispatch(intake, state === bodies.bodyStates.whole ? bodies.wholeBody(body, chunk) : undefined)
    bodies.releaseBody(body, exchange)
  }
}

/**
 * Refuses a chunked body before it has come: it may never end, and each chunk costs time. The
 * answer goes out at once. The connection is closed when the body has ended, when too much of it
 * has come or after too long.
 */
function refuseAhead(intake: Intake): void {
  const { exchange } = intake
  intake.finished = true
  intake.discarding = true
  beginErrorReply(exchange, intake.refusal)
  intake.discardTimer = setTimeout(() => endRefusal(intake), refusedMsMax)
  exchange.res.onData(intake.onData)
}

function discardChunk(intake: Intake, chunk: ArrayBuffer, isLast: boolean): void {
  intake.body.bytes += chunk.byteLength
  if (isLast || intake.body.bytes > refusedBytesMax) endRefusal(intake)
}

/** In a turn in which that is possible (defer-close.ts). */
function endRefusal(intake: Intake): void {
  if (intake.discardTimer === undefined) return
  clearTimeout(intake.discardTimer)
  intake.discardTimer = undefined
  deferClose(() => {
    if (!intake.discarding) return
    intake.discarding = false
    intake.exchange.res.close()
  })
}

function stopDiscarding(intake: Intake): void {
  intake.discarding = false
  clearTimeout(intake.discardTimer)
  intake.discardTimer = undefined
}
