// Reading a request: one pass over its headers, the framing guard, the route, the key, the body; then
// the endpoint, or the first error of contract 3.12. An error is answered when the body has been
// read, so that the connection can serve the next request.
//
// Invariants: nothing that a client sends makes a callback throw into uWebSockets.js, which would
// end the process; `req` is used only in the turn that brought it; a body chunk is copied or used
// before its callback returns.

import { performance } from 'node:perf_hooks'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { ApiErrorCode } from '../api/api-error.ts'
import { checkBodyBytesMax } from '../api/paths.ts'
import { logAbort, logRefusal, remoteOf } from './reply/request-log.ts'
import { admit } from './endpoint/authorize.ts'
import { smallBodyBytes } from './exchange/body-budget.ts'
import { countRefused } from './exchange/request-counters.ts'
import {
  type Exchange,
  type Service,
  abortExchange,
  newExchange,
  states,
} from './exchange/exchange.ts'
import { failExchange } from './reply/internal-error.ts'
import {
  type HeaderPass,
  beginsLikeChunk,
  framingBy,
  framingOf,
  framings,
  newHeaderPass,
  passHeader,
  resetHeaderPass,
} from './listen/framing-guard.ts'
import { wantsInsights } from './endpoint/insights-endpoint.ts'
import { overdueMs } from './exchange/heartbeat.ts'
import { replyError } from './reply/reply.ts'
import { isRequestId } from './exchange/request-id.ts'
import { type Endpoint, checkEndpoint, routes } from './routes.ts'
import { waveMax } from './endpoint/check-batcher.ts'

/**
 * A body that is too large is read on, and thrown away, for so long, so that its sender gets to see
 * the 413; what is larger is cut off with it.
 */
const discardedBytesMax = 1_048_576

const pass: HeaderPass = newHeaderPass()
const takeHeader = (name: string, value: string): void => passHeader(pass, name, value)
const noBody = Buffer.alloc(0)

/** A request whose body is still to come, with its exchange. */
interface Intake {
  readonly exchange: Exchange
  /** What will be asked when the body is there; `undefined` where `refusal` is answered. */
  endpoint: Endpoint | undefined
  refusal: ApiErrorCode
  /** Of a refusal: the value of the Allow header. */
  allow: string
  /** The Content-Length, 0 where there is none. */
  stated: number
  bytesMax: number
  /** What has come so far, where it came in pieces. */
  kept: Buffer
  /** Room that was taken for it (body-budget.ts). */
  held: number
  /** There was no room for it: it is only counted and thrown away from then on. */
  shed: boolean
  bytes: number
  /** The body has been handed on, or was too large. */
  finished: boolean
  readonly onData: (chunk: ArrayBuffer, isLast: boolean) => void
  readonly onAborted: () => void
}

/**
 * Intakes that wait for another request. One that is used again saves its two callbacks, its exchange
 * and half a kilobyte of garbage. Only those come back that no later turn of the loop can
 * know: their exchange was over when the endpoint returned, or at the end of that turn (check-batcher.ts).
 */
const idle: Intake[] = []
/** So many come back at most: as many as a wave has room for. */
const idleMax = waveMax

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
  resetHeaderPass(pass)
  req.forEach(takeHeader)
  const method = known === undefined ? req.getCaseSensitiveMethod() : 'POST'
  const framing = known === undefined ? framingBy(method, framingOf(pass)) : framingOf(pass)
  if (framing === framings.refused) {
    countRefused(service.counters)
    if (service.logRequests) logRefusal(service, res)
    res.close()
    return
  }
  const intake = idle.pop() ?? newIntake(service, res)
  const { exchange } = intake
  begin(intake, service, res)
  exchange.head = method === 'HEAD'
  exchange.keep = framing === framings.kept
  service.pending += 1
  if (exchange.startedMs - service.pulse.beatenMs > overdueMs)
    service.pulse.beat(exchange.startedMs)
  res.onAborted(intake.onAborted)
  try {
    decide(intake, req, known)
    if (intake.stated > intake.bytesMax + discardedBytesMax) carryOut(intake, undefined)
    else res.onData(intake.onData)
  } catch (error) {
    failExchange(exchange, error)
  }
}

function newIntake(service: Service, res: HttpResponse): Intake {
  const exchange = newExchange(service, res)
  const intake: Intake = {
    exchange,
    endpoint: undefined,
    refusal: 'not_found',
    allow: '',
    stated: 0,
    bytesMax: 0,
    kept: noBody,
    held: 0,
    shed: false,
    bytes: 0,
    finished: false,
    onData: (chunk, isLast) => {
      if (intake.finished || exchange.state !== states.open) return
      try {
        take(intake, chunk, isLast)
      } catch (error) {
        release(intake)
        failExchange(exchange, error)
      }
    },
    onAborted: () => {
      release(intake)
      if (exchange.service.logRequests && exchange.state !== states.gone) logAbort(exchange)
      abortExchange(exchange)
    },
  }
  exchange.recycle = () => letGo(intake)
  return intake
}

/** Makes an intake, new or used, one of the request whose headers have just been passed. */
function begin(intake: Intake, service: Service, res: HttpResponse): void {
  const { exchange } = intake
  intake.endpoint = undefined
  intake.allow = ''
  intake.stated = pass.length
  intake.bytesMax = checkBodyBytesMax
  intake.kept = noBody
  intake.held = 0
  intake.shed = false
  intake.bytes = 0
  intake.finished = false
  exchange.service = service
  exchange.res = res
  const ownId = !isRequestId(pass.requestId)
  exchange.clientId = ownId ? '' : pass.requestId
  exchange.idNumber = ownId ? service.requestIds.next() : 0
  exchange.remote = remoteOf(service, res)
  exchange.checked = ''
  exchange.insights = false
  exchange.requests = 1
  exchange.units = 1
  exchange.owed = 0
  exchange.onEnd = undefined
  exchange.startedMs = performance.now()
  exchange.key = undefined
  exchange.state = states.open
}

/** Everything of contract 3.12 that comes before the body: 404, 405, 401, 403, 429 rate. */
function decide(intake: Intake, req: HttpRequest, known: Endpoint | undefined): void {
  const { exchange } = intake
  const endpoint = known ?? find(intake, req)
  if (endpoint === undefined) return
  if (endpoint.access === 'key') {
    const outcome = admit(exchange, pass)
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
function find(intake: Intake, req: HttpRequest): Endpoint | undefined {
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
function carryOut(intake: Intake, body: Uint8Array | undefined): void {
  const { endpoint, exchange } = intake
  intake.finished = true
  if (body === undefined || beginsLikeChunk(body)) exchange.keep = false
  if (endpoint === undefined) replyError(exchange, intake.refusal, intake.allow)
  else if (body === undefined) replyError(exchange, 'payload_too_large')
  // Before it would come 400 and 429, but what is wrong with a body that was not kept nobody knows.
  else if (intake.shed) replyError(exchange, 'upstream_unavailable')
  else if (endpoint.access === 'open') endpoint.answer(exchange)
  else if (exchange.key !== undefined) {
    endpoint.answer(exchange, exchange.key, body)
    if (endpoint === checkEndpoint && !exchange.insights) letGo(intake)
  }
}

/** Lets the intake serve another request, if this one's check is over. */
function letGo(intake: Intake): void {
  if (intake.exchange.state !== states.gone || idle.length >= idleMax) return
  intake.kept = noBody
  idle.push(intake)
}

/** Takes in a chunk; the body's last one, or one too many, ends the reading. */
function take(intake: Intake, chunk: ArrayBuffer, isLast: boolean): void {
  const { bytes: before, bytesMax, stated } = intake
  const bytes = before + chunk.byteLength
  intake.bytes = bytes
  if (bytes > bytesMax || stated > bytesMax) {
    release(intake)
    if (isLast || bytes > bytesMax + discardedBytesMax) carryOut(intake, undefined)
  } else if (isLast && before === 0) {
    carryOut(intake, new Uint8Array(chunk))
  } else if (intake.shed || intake.endpoint?.access !== 'key') {
    // Nobody asks for this body: `beginsLikeChunk` looks at its first byte, and strangers get no room.
    if (before === 0) intake.kept = Buffer.from(chunk.slice(0, 1))
    if (isLast) carryOut(intake, intake.kept)
  } else if (makeRoom(intake)) {
    // Copied: the chunk is dead after this call.
    Buffer.from(chunk).copy(intake.kept, before)
    if (!isLast) return
    carryOut(intake, intake.kept.subarray(0, bytes))
    release(intake)
  } else {
    const first = Buffer.allocUnsafeSlow(1)
    first[0] = (before === 0 ? new Uint8Array(chunk) : intake.kept)[0]!
    release(intake)
    // From now on its body is one that nobody asks for; one that becomes too large is told that.
    intake.kept = first
    intake.shed = true
    if (isLast) carryOut(intake, first)
  }
}

/** Whether there is room for all that has come so far; it grows by doubling. */
function makeRoom(intake: Intake): boolean {
  const { exchange, kept, held, bytes, bytesMax, stated } = intake
  if (kept.length >= bytes) return true
  // Bytes that a client only states are no reason to keep much room for them.
  const ahead = Math.min(stated, checkBodyBytesMax)
  const doubled = Math.min(kept.length * 2, bytesMax)
  const wanted = Math.max(bytes, ahead, doubled, smallBodyBytes)
  if (!exchange.service.bodies.take(exchange.key?.keyId ?? '', held, wanted)) return false
  intake.held = wanted
  // Never a slice of the 8 KiB that Node.js shares out: what is counted is what it holds.
  intake.kept = Buffer.allocUnsafeSlow(wanted)
  kept.copy(intake.kept)
  return true
}

/** The body is needed no more. */
function release(intake: Intake): void {
  intake.kept = noBody
  if (intake.held === 0) return
  const { key, service } = intake.exchange
  service.bodies.giveBack(key?.keyId ?? '', intake.held)
  intake.held = 0
}
