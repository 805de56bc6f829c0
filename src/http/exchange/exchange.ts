// One request and its answer while they are under way, and what a worker keeps for all of them.
//
// Invariants: `res` is touched only while `state` is not `gone`; an exchange is answered at most
// once; the service's `pending` counts those neither answered nor aborted. An exchange whose check
// was answered within the turn that read its body serves another request afterwards; one that is
// kept for a later turn is never reused.

import type { SignatureVerifier } from '../../agents/signature-verifier.ts'
import type { HttpResponse } from 'uWebSockets.js'
import { noMonth } from '../../account/limits/quota-period.ts'
import type { Authenticated, Keyring } from '../../account/keyring.ts'
import type { Limiter } from '../../account/limits/limiter.ts'
import type { Log } from '../../base/log.ts'
import { nothingAsked } from '../../context/asked-members.ts'
import type { Context } from '../../context/context.ts'
import type { Pool } from '../../pool/pool.ts'
import type { Table } from '../../table/table.ts'
import type { BodyBudget, RefusalBudget } from './body-budget.ts'
import { type RequestCounters, countEvent } from '../../observe/request-counters.ts'
import type { DecisionLog } from '../../observe/decision-log.ts'
import type { DocsFiles } from '../docs-files.ts'
import type { Heartbeat } from '../../observe/heartbeat.ts'
import type { RequestIds } from './request-id.ts'
import type { ListFile, VerifiedTableFile } from '../../table/served-table.ts'
import type { ServedPolicies } from './served-policies.ts'
import type { TrafficCounter } from '../../observe/traffic-counter.ts'
import type { TrafficSampler } from '../../observe/traffic-sampler.ts'

export interface AnswerObservers {
  readonly decisionLog: DecisionLog | undefined
  readonly sampler: TrafficSampler | undefined
  /** If the console is on. */
  readonly traffic: TrafficCounter | undefined
}

export interface Service {
  readonly keyring: Pick<Keyring, 'authenticate' | 'holds' | 'known'>
  readonly limiter: Limiter
  readonly counters: RequestCounters
  readonly log: Log
  readonly requestIds: RequestIds
  /** The table in use; `undefined` until one is loaded. */
  readonly table: () => Table | undefined
  readonly file: () => VerifiedTableFile | undefined
  readonly lists: () => ListFile | undefined
  readonly policies: ServedPolicies
  /** `undefined` if nothing observes, so that a request reads only one member. */
  readonly observers?: AnswerObservers | undefined
  readonly pool: Pool
  readonly verifier: SignatureVerifier
  readonly stateFolder: string
  readonly bodyBudget: BodyBudget
  readonly refusalBudget: RefusalBudget
  /** Sends a heartbeat to the primary, also from within a long turn. */
  readonly heartbeat: Heartbeat
  /** The files below /docs; absent where they are off. */
  readonly docs?: DocsFiles | undefined
  /** The log gets a line for each request. */
  readonly logRequests: boolean
  /** Those lines, and those of failures, include addresses. */
  readonly logAddresses: boolean
  pending: number
  /** Every answer closes its connection. */
  draining: boolean
}

export const exchangeStates = { open: 0, answered: 1, gone: 2 } as const
export type ExchangeState = (typeof exchangeStates)[keyof typeof exchangeStates]

/** `absent`: requested, but not in the plan, so the answer says null. */
export const insightsModes = { none: 0, given: 1, absent: 2 } as const
export type InsightsMode = (typeof insightsModes)[keyof typeof insightsModes]

/** A reverse proxy's request about its visitor (contract 6.1: gate). */
export interface Visit {
  /** Why the visitor was let in undecided, or decided by another policy than named; or `''`. */
  degraded: string
  /** Whether the visitor's browser accepts a page. */
  readonly takesPage: boolean
  /** Accept-Language, as the browser sent it. */
  readonly languages: string
}

/** Every member is set from the beginning, so that all exchanges have one shape. */
export type Exchange = ReturnType<typeof newExchange>

const neverRecycled = (): void => undefined

/**
 * The start before the clock was read: not a number, so that V8 keeps the clock's own heap number
 * in the field. A field that only ever held numbers is unpacked, and V8 makes a new heap number
 * each time it is passed on.
 */
const unread = undefined as unknown as number

export function newExchange(service: Service, res: HttpResponse) {
  return {
    service,
    res,
    /** The client's request id; `''` where ours is used. */
    clientRequestId: '',
    /** The number of our request id (request-id.ts), where that is used. */
    requestIdNumber: 0,
    headOnly: false,
    /** The other end of the connection, if the log names addresses; else `''`. */
    remoteAddress: '',
    /** If the log names it or it gets insights; else `''`. */
    checkedAddress: '',
    /** `''`: the request names none, or there are no policies. */
    policy: '',
    insights: insightsModes.none as InsightsMode,
    /** Members that the answer has beside those of every answer. */
    asked: nothingAsked,
    /** In the body; set with `policy`. */
    context: undefined as Context | undefined,
    rateCost: 1,
    units: 1,
    /** Units spent for an answer that is not yet a 200; every other end refunds them. */
    refundableUnits: 0,
    refundableMonth: noMonth,
    /** Called once, at the answer or when its client has gone. */
    onEnd: undefined as (() => void) | undefined,
    /** From node:perf_hooks' `performance.now()`: the global is a getter, and 1 % of a check. */
    startedMs: unread,
    /** `undefined` where it is unknown or not needed. */
    key: undefined as Authenticated | undefined,
    /** Who asks; `undefined` for a client of the API itself. */
    source: undefined as 'gate' | 'bouncer' | 'lists' | undefined,
    /** The gate's state for a request (src/adapters/gate); `undefined` for the API's own. */
    visit: undefined as Visit | undefined,
    /** Whether the connection may serve another request (framing-guard.ts). */
    keepAlive: false,
    /** uWebSockets.js itself closes the connection after the answer (framing-guard.ts). */
    closesItself: false,
    state: exchangeStates.open as ExchangeState,
    /** Called when the batch of checks is answered. */
    recycle: neverRecycled,
  }
}

export function requestIdOf({ clientRequestId, requestIdNumber, service }: Exchange): string {
  return clientRequestId === '' ? service.requestIds.text(requestIdNumber) : clientRequestId
}

/** Once; only a 200 costs something. */
export function refundUnits(exchange: Exchange): void {
  const { key, refundableUnits, refundableMonth, service, startedMs } = exchange
  if (refundableUnits === 0 || key === undefined) return
  exchange.refundableUnits = 0
  const spent = { units: refundableUnits, month: refundableMonth, arrivedMs: startedMs }
  service.limiter.refund(key.allowance, spent)
}

export function closeExchange(exchange: Exchange): void {
  if (exchange.state === exchangeStates.gone) return
  exchange.state = exchangeStates.gone
  exchange.service.pending -= 1
  refundUnits(exchange)
  const { onEnd } = exchange
  // An old exchange would keep garbage until the next full collection.
  exchange.onEnd = undefined
  onEnd?.()
}

/** After this `res` must not be touched. */
export function abortExchange(exchange: Exchange): void {
  if (exchange.state === exchangeStates.gone) return
  if (exchange.key?.isTest !== true) countEvent(exchange.service.counters, 'aborted')
  closeExchange(exchange)
}
