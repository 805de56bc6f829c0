// Reading a request: one pass over its headers, the framing guard, the route, the key, the body; then
// the endpoint, or the first error of contract 3.12. An error is answered when the body has been
// read, so that the connection can serve the next request.
//
// Invariants: nothing that a client sends makes a callback throw into uWebSockets.js, which would
// end the process; `req` is used only in the turn that brought it; a body chunk is copied or used
// before its callback returns.

import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import type { Authenticated } from '../account/keyring.ts'
import type { ApiErrorCode } from '../api/error.ts'
import { checkBodyBytesMax } from '../api/path.ts'
import { logAbort, logRefusal, remoteOf } from './access.ts'
import { admit } from './admit.ts'
import { countRefused } from './counters.ts'
import { type Exchange, type Service, abortExchange, states } from './exchange.ts'
import { failExchange } from './failure.ts'
import {
  type HeaderPass,
  beginsLikeChunk,
  framingBy,
  framingOf,
  framings,
  newHeaderPass,
  passHeader,
  resetHeaderPass,
} from './framing.ts'
import { wantsInsights } from './insights.ts'
import { replyError } from './reply.ts'
import { isRequestId } from './requestid.ts'
import { type Endpoint, routes } from './route.ts'

/**
 * A body that is too large is read on, and thrown away, for so long, so that its sender gets to see
 * the 413; what is larger is cut off with it.
 */
const discardedBytesMax = 1_048_576

const pass: HeaderPass = newHeaderPass()
const takeHeader = (name: string, value: string): void => passHeader(pass, name, value)
const noBody = Buffer.alloc(0)

/** The first room for a body that comes in pieces. */
const bodyBytesMin = 1024

/** What will be done with the body once it is there. */
type Plan =
  | { readonly kind: 'refuse'; readonly code: ApiErrorCode; readonly allow: string }
  | { readonly kind: 'open'; readonly endpoint: Extract<Endpoint, { access: 'open' }> }
  | {
      readonly kind: 'key'
      readonly endpoint: Extract<Endpoint, { access: 'key' }>
      readonly key: Authenticated
    }

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
  const head = method === 'HEAD'
  const ownId = !isRequestId(pass.requestId)
  const exchange: Exchange = {
    service,
    res,
    requestId: ownId ? service.nextRequestId() : pass.requestId,
    ownId,
    head,
    remote: remoteOf(service, res),
    checked: '',
    insights: false,
    requests: 1,
    units: 1,
    owed: 0,
    onEnd: undefined,
    startedMs: performance.now(),
    key: undefined,
    keep: framing === framings.kept,
    state: states.open,
  }
  service.pending += 1
  res.onAborted(() => {
    if (service.logRequests && exchange.state !== states.gone) logAbort(exchange)
    abortExchange(exchange)
  })
  try {
    const plan = known === undefined ? planOf(exchange, req) : planFor(exchange, known)
    let bytesMax: number = checkBodyBytesMax
    if (plan.kind === 'key') {
      exchange.insights = wantsInsights(plan.key, req)
      bytesMax = plan.endpoint.bodyBytesMax
    }
    readBody(exchange, { stated: pass.length, bytesMax }, (body) => carryOut(exchange, plan, body))
  } catch (error) {
    failExchange(exchange, error)
  }
}

/** 404 and 405, then as `planFor`. */
function planOf(exchange: Exchange, req: HttpRequest): Plan {
  const route = routes.get(req.getUrl())
  if (route === undefined) return { kind: 'refuse', code: 'not_found', allow: '' }
  const endpoint = route.methods.get(req.getCaseSensitiveMethod())
  if (endpoint === undefined) {
    return { kind: 'refuse', code: 'method_not_allowed', allow: route.allow }
  }
  return planFor(exchange, endpoint)
}

/** 401, 403, 429 rate and their place before the body. */
function planFor(exchange: Exchange, endpoint: Endpoint): Plan {
  if (endpoint.access === 'open') return { kind: 'open', endpoint }
  const outcome = admit(exchange, pass)
  return outcome.kind === 'authenticated'
    ? { kind: 'key', endpoint, key: outcome }
    : { kind: 'refuse', code: outcome.code, allow: '' }
}

/** `body` is `undefined` where it is too large. */
function carryOut(exchange: Exchange, plan: Plan, body: Uint8Array | undefined): void {
  if (body === undefined || beginsLikeChunk(body)) exchange.keep = false
  if (plan.kind === 'refuse') replyError(exchange, plan.code, plan.allow)
  else if (body === undefined) replyError(exchange, 'payload_too_large')
  else if (plan.kind === 'open') plan.endpoint.answer(exchange)
  else plan.endpoint.answer(exchange, plan.key, body)
}

/**
 * Calls `done` once: with the whole body, valid during the call only, or with `undefined` where it
 * is larger than `bytesMax`. `stated` is the Content-Length, 0 where there is none.
 */
function readBody(
  exchange: Exchange,
  limits: { readonly stated: number; readonly bytesMax: number },
  done: (body: Uint8Array | undefined) => void,
): void {
  const { stated, bytesMax } = limits
  const discardBytesMax = bytesMax + discardedBytesMax
  let kept: Buffer = noBody
  let bytes = 0
  let finished = false
  const finish = (body: Uint8Array | undefined): void => {
    finished = true
    done(body)
  }
  if (stated > discardBytesMax) {
    finish(undefined)
    return
  }
  exchange.res.onData((chunk, isLast) => {
    if (finished || exchange.state !== states.open) return
    try {
      const before = bytes
      bytes += chunk.byteLength
      if (bytes > bytesMax) {
        kept = noBody
        if (isLast || bytes > discardBytesMax) finish(undefined)
      } else if (isLast && before === 0) {
        finish(new Uint8Array(chunk))
      } else {
        // Copied: the chunk is dead after this call.
        kept = roomFor(kept, bytes, Math.min(stated, bytesMax))
        Buffer.from(chunk).copy(kept, before)
        if (isLast) finish(kept.subarray(0, bytes))
      }
    } catch (error) {
      failExchange(exchange, error)
    }
  })
}

/** A buffer of at least `bytes` with the content of `kept`; grows by doubling. */
function roomFor(kept: Buffer, bytes: number, stated: number): Buffer {
  if (kept.length >= bytes) return kept
  // Bytes that a client only states are no reason to keep much room for them.
  const ahead = Math.min(stated, checkBodyBytesMax)
  const room = Buffer.allocUnsafe(Math.max(bytes, ahead, kept.length * 2, bodyBytesMin))
  kept.copy(room)
  return room
}
