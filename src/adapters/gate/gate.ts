// The gate (contract 6.1: gate): a reverse proxy asks if its visitor may continue. A thin layer
// over the check: the visitor's address from one header, the policy from the path, the decision as
// a status and headers. It has no rules, needs no key and spends neither rate nor quota.
//
//   peer ─▶ framing guard ─▶ path ─▶ header, read from the right ─▶ batch, table, decide ─▶ 204 403
//
// Invariants: whatever fails, the visitor is let in (204, `x-iprisk-degraded`) and that is counted;
// no answer is 429 or 5xx, which a proxy would make an error of the login. Nothing thrown reaches
// uWebSockets.js. A connection is kept only behind GET or POST with `Content-Length: 0`: without a
// stated length a hidden one may lie behind an empty name (framing-guard.ts).

import { performance } from 'node:perf_hooks'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { userAgentCharsMax } from '../../agents/agent-status.ts'
import { describeError } from '../../base/log.ts'
import { bareAddress, forwardedAddresses } from '../../client/address/forwarded-header.ts'
import { walkFrom } from '../../client/address/proxy-walk.ts'
import {
  type AddressHeader,
  type IsTrusted,
  readTrust,
} from '../../client/address/trusted-proxies.ts'
import { type Context, contextAnswer, contextOf } from '../../context/context.ts'
import { judgeThen } from '../../http/endpoint/charge-quota.ts'
import { parseAddressText, queryText } from '../../http/endpoint/check-body.ts'
import {
  type CheckBatcher,
  enqueueCheck,
  newCheckBatcher,
} from '../../http/endpoint/check-batcher.ts'
import { decideAnswer } from '../../http/endpoint/decide-answer.ts'
import {
  type Exchange,
  type Service,
  abortExchange,
  exchangeStates,
  newExchange,
  requestIdOf,
} from '../../http/exchange/exchange.ts'
import { isRequestId } from '../../http/exchange/request-id.ts'
import {
  framingForMethod,
  framingOf,
  framings,
  newHeaderScan,
  resetHeaderScan,
  scanHeader,
} from '../../http/listen/framing-guard.ts'
import { reply, replyError } from '../../http/reply/reply.ts'
import { logAbort, remoteAddressOf } from '../../http/reply/request-log.ts'
import { refuseFraming } from '../../http/request-handler.ts'
import { signatureHeaders } from '../../model/kind.ts'
import { beatIfOverdue } from '../../observe/heartbeat.ts'
import { countEvent } from '../../observe/request-counters.ts'
import type { AnswerBytes } from '../../table/answer/answer-writer.ts'
import { newQuery } from '../../table/lookup/query.ts'
import type { Table } from '../../table/table.ts'
import { type PageKind, pageHeaders, visitorPage } from './visitor-page.ts'
import { type DegradedCode, gateStatus, visitHeaders } from './visit-answer.ts'

/** Plain data: the primary sends it to its workers. */
export interface GateSettings {
  readonly host: string
  readonly port: number
  /** Who may ask. */
  readonly peers: readonly string[]
  readonly header: AddressHeader
  /** The number of proxies, or the ranges of those behind the peer. */
  readonly trust: readonly string[]
  /** A challenge is answered with 401. */
  readonly stops: boolean
}

export type Gate = ReturnType<typeof createGate>

const root = '/gate'
const below = `${root}/`
/** For proxies that show an error page of their own. */
const pages: ReadonlyMap<string, PageKind> = new Map([
  [`${below}page/blocked`, 'blocked'],
  [`${below}page/challenge`, 'challenge'],
])

/** The visitor's headers that may identify an agent (contract 6.6: agents). */
const forwarded = ['method', 'proto', 'host', 'uri'].map((name) => `x-forwarded-${name}`)
const agentHeaders = new Set(['user-agent', 'host', ...forwarded, ...signatureHeaders])

/** How often the log reports closed connections of other peers. */
const strangersMs = 60_000

/** A proxy that requests another path is misconfigured: it gets 404, so the mistake shows. */
const wrongPath = { message: 'The gate answers only /gate and /gate/<policy>.' }

/** For decisions of heavy policies; proxies wait for 200 ms. */
const isTurnSpent = newTurnBudget(100)

const query = newQuery()
const scan = newHeaderScan()

export function createGate(settings: GateSettings, service: Service) {
  const { header, peers, trust, stops } = settings
  const count = Number(trust[0])
  const isTrusted = readTrust(Number.isNaN(count) ? [...peers, ...trust] : count)
  const batcher = newCheckBatcher((exchange, about, table, found) => {
    try {
      if (table === undefined) letIn(exchange, 'no_table')
      else answerVisit(exchange, table, { about, answer: table.answer(about, found), stops })
    } catch (error) {
      letInAfter(exchange, error)
    }
  })
  const hasPlainAddress = count === 1 && header !== 'forwarded'
  /** The lines of the configured header, in order. */
  let lines = ''
  let accept = ''
  let languages = ''
  let sent: Record<string, string> | undefined
  const onHeader = (name: string, value: string): void => {
    scanHeader(scan, name, value)
    if (sent !== undefined && agentHeaders.has(name))
      sent[name] = name in sent ? `${sent[name]}, ${value}` : value
    if (name === 'accept') accept = value
    else if (name === 'accept-language') languages = value
    if (name === header) lines = lines === '' ? value : `${lines},${value}`
  }
  return {
    isPeer: newPeerCheck(readTrust(peers), service),
    handle: (res: HttpResponse, req: HttpRequest): void => {
      resetHeaderScan(scan)
      lines = ''
      accept = ''
      languages = ''
      sent = service.policies.readsContext() ? {} : undefined
      req.forEach(onHeader)
      const method = req.getCaseSensitiveMethod()
      const framing = framingForMethod(method, framingOf(scan))
      if (framing === framings.refused) {
        refuseFraming(service, res)
        return
      }
      const exchange = beginExchange(service, res)
      exchange.source = 'gate'
      exchange.visit = { degraded: '', takesPage: accept.includes('text/html'), languages }
      exchange.headOnly = method === 'HEAD'
      exchange.keepAlive = framing === framings.kept && scan.contentLength === 0
      try {
        const path = req.getUrl()
        const page = pages.get(path)
        if (page !== undefined) replyPage(exchange, page)
        else if (path !== root && !path.startsWith(below))
          replyError(exchange, 'not_found', wrongPath)
        else {
          takePolicy(exchange, path)
          const isTaken =
            (hasPlainAddress && takePlainAddress(exchange, header, lines)) ||
            takeForwarded(exchange, { lines, header, isTrusted })
          if (isTaken && sent !== undefined)
            enqueueInContext(batcher, exchange, visitorOf(sent, method))
          else if (isTaken) enqueue(batcher, exchange)
        }
      } catch (error) {
        letInAfter(exchange, error)
      }
    },
  }
}

/** The log names unknown peers at most once a minute. */
function newPeerCheck(isPeerAddress: IsTrusted, service: Service) {
  let loggedMs = -Infinity
  return (res: Pick<HttpResponse, 'getRemoteAddress'>): boolean => {
    if (isPeerAddress(bareAddress(addressText(res)), 0)) return true
    const nowMs = performance.now()
    if (nowMs - loggedMs > strangersMs) {
      loggedMs = nowMs
      const about = service.logAddresses ? { remote: addressText(res) } : {}
      service.log.warn(
        about,
        'A connection to the gate was closed: its peer is not in --gate-peers.',
      )
    }
    return false
  }
}

function addressText(res: Pick<HttpResponse, 'getRemoteAddress'>): string {
  const bytes = Buffer.from(res.getRemoteAddress())
  return bytes.length === 4 ? bytes.join('.') : bytes.toString('hex').match(/.{4}/g)!.join(':')
}

function beginExchange(service: Service, res: HttpResponse): Exchange {
  const exchange = newExchange(service, res)
  const ownId = !isRequestId(scan.requestId, service.keyring.holds)
  exchange.clientRequestId = ownId ? '' : scan.requestId
  exchange.requestIdNumber = ownId ? service.requestIds.next() : 0
  exchange.remoteAddress = remoteAddressOf(service, res)
  exchange.closesItself = scan.closesItself
  exchange.startedMs = performance.now()
  service.pending += 1
  beatIfOverdue(service.heartbeat, exchange.startedMs)
  res.onAborted(() => {
    if (service.logRequests && exchange.state !== exchangeStates.gone) logAbort(exchange)
    abortExchange(exchange)
  })
  return exchange
}

/** Stores the policy of `/gate/<policy>/…`; without policies any name is allowed. */
function takePolicy(exchange: Exchange, path: string): void {
  const set = exchange.service.policies.set()
  if (path === root || set === undefined) return
  const end = path.indexOf('/', below.length)
  const policy = path.slice(below.length, end < 0 ? path.length : end)
  if (set.indexOf(policy) >= 0) exchange.policy = policy
  else exchange.visit!.degraded = 'unknown_policy' satisfies DegradedCode
}

/**
 * Takes the last entry if one proxy is trusted and it is only an address, as nearly always;
 * `takeForwarded` is the slow twin. IPv4 mapped into IPv6 is unpacked only there: not after a 2.
 */
function takePlainAddress(exchange: Exchange, header: AddressHeader, lines: string): boolean {
  const comma = lines.lastIndexOf(',')
  if (comma >= 0 && header !== 'x-forwarded-for') return false
  const text = comma < 0 ? lines : lines.slice(comma + 1).trimStart()
  if ((text.includes(':') && !text.startsWith('2')) || !parseAddressText(query, text)) return false
  if (exchange.service.logAddresses) exchange.checkedAddress = text
  return true
}

/** Whether the visitor's address is known, which is then in `query`. */
function takeForwarded(
  exchange: Exchange,
  from: { readonly lines: string; readonly header: AddressHeader; readonly isTrusted: IsTrusted },
): boolean {
  const named = from.lines === '' ? [] : forwardedAddresses(from.header, from.lines)
  if (named.length === 0) {
    letIn(exchange, 'address_missing')
    return false
  }
  // The peer is one of --gate-peers, so it is trusted by number and by range.
  const peer = bareAddress(addressText(exchange.res))
  const { address = '', isUnread } = walkFrom(peer, named, from.isTrusted)
  if (isUnread || !parseAddressText(query, address)) {
    letIn(exchange, 'address_unreadable')
    return false
  }
  if (exchange.service.logAddresses) exchange.checkedAddress = address
  return true
}

function enqueue(batcher: CheckBatcher, exchange: Exchange): void {
  const { policies, table } = exchange.service
  if (!policies.isHeavy()) enqueueCheck(batcher, exchange, query)
  else if (isTurnSpent(exchange.startedMs)) letIn(exchange, 'overloaded')
  else batcher.answerOne(exchange, query, table(), undefined)
}

/** The visitor's request, from the visitor's own headers and those that proxies add. */
function visitorOf(sent: Readonly<Record<string, string>>, method: string): Context {
  const { host = '', 'user-agent': userAgent = '', signature, ...others } = sent
  const user_agent = userAgent.slice(0, userAgentCharsMax)
  const by = (name: string, otherwise: string) => others[`x-forwarded-${name}`] ?? otherwise
  const [scheme, authority, path] = [by('proto', 'https'), by('host', host), by('uri', '/')]
  const headers = { signature, ...others }
  const line = { method: by('method', method), scheme, authority, path, headers }
  return contextOf({ agent: { user_agent, ...(signature && { signature: line }) } })!
}

/** For policies that read the agent: in a later turn where a signature is verified meanwhile. */
function enqueueInContext(batcher: CheckBatcher, exchange: Exchange, context: Context): void {
  const address = queryText(query)
  exchange.context = context
  judgeThen(exchange, [context], () => {
    parseAddressText(query, address)
    enqueue(batcher, exchange)
  })
}

function answerVisit(
  exchange: Exchange,
  table: Table,
  visitor: { readonly about: typeof query; readonly answer: AnswerBytes; readonly stops: boolean },
): void {
  const { about, answer, stops } = visitor
  const context = exchange.context && contextAnswer(exchange.context, answer)
  const { action = 'allow', rule = '' } =
    decideAnswer(exchange, table, about, answer, context)?.decision ?? {}
  const { counters } = exchange.service
  countEvent(counters, 'gateAnswers')
  if (answer.located.bogon) countEvent(counters, 'privateVisitors')
  const status = gateStatus(action, stops)
  const headers = visitHeaders({ action, rule, answer, degraded: exchange.visit!.degraded })
  if (status === 204) reply(exchange, { status, leading: 'x-iprisk-action', headers, body: '' })
  else stop(exchange, status, headers)
}

function replyPage(exchange: Exchange, page: PageKind): void {
  const body = visitorPage(page, exchange.visit!.languages, requestIdOf(exchange))
  reply(exchange, { status: 200, headers: `${pageHeaders}\r\ncache-control: no-store`, body })
}

function stop(exchange: Exchange, status: 401 | 403, headers: string): void {
  const requestId = requestIdOf(exchange)
  const { takesPage, languages } = exchange.visit!
  const title = status === 403 ? 'Forbidden' : 'Unauthorized'
  const problem = { type: 'about:blank', title, status, request_id: requestId }
  reply(exchange, {
    status,
    leading: 'x-iprisk-action',
    headers: `${headers}\r\ncontent-type: ${takesPage ? pageHeaders : 'application/problem+json'}`,
    body: takesPage
      ? visitorPage(status === 403 ? 'blocked' : 'challenge', languages, requestId)
      : JSON.stringify(problem),
  })
}

function letIn(exchange: Exchange, degraded: DegradedCode): void {
  exchange.visit!.degraded = degraded
  const headers = visitHeaders({ action: 'allow', rule: '', answer: undefined, degraded })
  reply(exchange, { status: 204, leading: 'x-iprisk-action', headers, body: '' })
}

/** Lets the visitor in after something threw. Never throws itself. */
function letInAfter(exchange: Exchange, error: unknown): void {
  try {
    const { log } = exchange.service
    const requestId = requestIdOf(exchange)
    log.error({ requestId, ...describeError(error) }, 'The gate failed, so the visitor was let in.')
    exchange.keepAlive = false
    if (exchange.state === exchangeStates.open) letIn(exchange, 'internal_error')
    else if (exchange.state === exchangeStates.answered) exchange.res.close()
  } catch {
    // Nothing else can be done, and the worker must survive.
  }
}

/**
 * Whether the turn of the loop at `nowMs` began to decide over `budgetMs` ago; it ends at
 * setImmediate. For uWebSockets.js, all that many connections have sent is one turn: the last
 * visitors of a long one would wait until their proxies time out.
 */
export function newTurnBudget(budgetMs: number): (nowMs: number) => boolean {
  let fromMs = NaN
  const endTurn = (): void => {
    fromMs = NaN
  }
  return (nowMs) => {
    if (Number.isNaN(fromMs)) {
      fromMs = nowMs
      setImmediate(endTurn)
    }
    return nowMs - fromMs > budgetMs
  }
}
