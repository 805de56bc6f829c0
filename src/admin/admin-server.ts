// The admin port: metrics, status and health by plain node:http in the primary, on loopback or a
// Unix socket unless the operator says otherwise. Only the administrative API below /admin/ changes
// anything (admin-api.ts).
//
// Without a token, every client that can reach the port may read. With one, all but
// health ask for it; health does not, because the probes of orchestrators carry no secrets and
// learn one word. A page in a browser may read nothing: its requests show themselves by Origin or
// Sec-Fetch-Site, or by the name that they are sent to (`isOwnHost`), for which every path is
// 403. The one exception is this port's own page, the console (src/console), whose requests carry
// the cookie and the CSRF text of a session.

import { existsSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import type { CoverageAnswer } from '../api/coverage-answer.ts'
import { IpriskError, isDiskError, messageOf } from '../base/coded-error.ts'
import { type HostPort, portUnavailable } from '../supervisor/sockets/port-probe.ts'
import { isSocketListening, listenOnUnixSocket } from '../supervisor/sockets/unix-socket.ts'
import {
  adminDocument,
  type AdminPage,
  type AdminRoute,
  answerAdminRequest,
  errorPage,
  jsonPage as json,
} from './admin-api.ts'
import { type AdminCaller, bearerOf, unnamedAdmin } from './admin-caller.ts'
import type { AdminRefusals } from './admin-refusals.ts'
import { type TokenGuard, tooManyTokensText } from './token-guard.ts'
import { csrfHeader } from '../api/admin-answers.ts'

/** Whether the server is ready, or why not; `degraded`: it is ready, and its workers die. */
export type Readiness =
  'ready' | 'degraded' | 'draining' | 'no_table' | 'no_keys' | 'no_lists' | 'no_workers'

export interface AdminParts {
  readonly readiness: () => Readiness
  /** Whether keys with a quota may get 503 though the server is ready. */
  readonly storeDown?: () => boolean
  /** What the table does not know; `undefined` where there is nothing to tell. */
  readonly coverage?: () => CoverageAnswer | undefined
  /** The text, and its media type. */
  readonly metrics: () => Promise<{ readonly type: string; readonly body: string }>
  readonly status: () => Promise<object>
  /** What nobody expected, and the request that it happened to. */
  readonly onFailure?: (error: unknown, what: string) => void
  /** The administrative API. */
  readonly routes?: readonly AdminRoute[]
  /** Whether the value of a Host header is this server's; absent, as with a socket: every one is. */
  readonly isOwnHost?: ((host: string | undefined) => boolean) | undefined
  /** Whose a token is; absent: every client is an admin. */
  readonly guard?: TokenGuard | undefined
  readonly refusals?: Pick<AdminRefusals, 'note'>
  /** Absent: there is none. */
  readonly console?: AdminConsole | undefined
}

/** The part of the console that this port needs (src/console). */
export interface AdminConsole {
  /** Answers what is below /console. */
  readonly answer: (request: IncomingMessage, path: string) => Promise<AdminPage>
  /** Who a request of a page in a browser is from; or what refuses it. */
  readonly callerOf: (request: IncomingMessage) => AdminCaller | AdminPage
}

/** Where to listen; a socket's path takes the place of host and port. */
interface AdminListenOptions extends HostPort {
  readonly socket?: string | undefined
}

export interface AdminServer {
  /** 0 with a socket. */
  readonly port: number
  readonly close: () => Promise<void>
}

const pages = ['/metrics', '/status', '/healthz', '/readyz'] as const

const foreignHost =
  'Not for this Host: ask by address, or list the name in --admin-allowed-hosts where it is yours.'

/**
 * Nobody holds a connection for longer with headers that never end, with a body that no route reads
 * (admin-body.ts is stricter with others), or by not reading an answer.
 */
const serverLimits = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5000,
} as const
const answerMsMax = 60_000

/** Listens exclusively. Throws `port_unavailable`. */
export async function startAdminServer(
  parts: AdminParts,
  place: AdminListenOptions,
): Promise<AdminServer> {
  const server = createServer(serverLimits, (request, response) => {
    void respond(parts, request, response)
  })
  const { socket } = place
  try {
    if (socket === undefined) await listen(server, { ...place, exclusive: true })
    else await listenOn(server, socket)
  } catch (cause) {
    throw socket === undefined
      ? portUnavailable(place, 'admin-port', cause)
      : socketUnavailable(socket, cause)
  }
  return {
    port: portOf(server, place.port),
    close: () => closeServer(server),
  }
}

function socketUnavailable(path: string, cause: unknown): IpriskError {
  const folder = dirname(path)
  // The system says EACCES of a folder that is not there.
  const isMissing = !existsSync(folder)
  const why = isMissing ? `there is no folder ${folder}` : messageOf(cause)
  const inUse = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
  const fix = isMissing
    ? 'Make it, or name'
    : inUse
      ? 'Stop the server that has it, or name'
      : 'Name'
  return new IpriskError({
    code: 'port_unavailable',
    message:
      `The admin socket ${path} cannot be listened on: ${why}. ` +
      `${fix} another with --admin-socket.`,
    fault: 'environment',
    cause,
  })
}

function listen(server: Server, options: object): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Takes the name over from a dead server; a living one keeps it. */
async function listenOn(server: Server, path: string): Promise<void> {
  const exists = statSync(path, { throwIfNoEntry: false })?.isSocket() === true
  if (exists && !(await isSocketListening(path))) rmSync(path)
  await listenOnUnixSocket(server, path)
}

/** Never fails: what does is logged, and answered too as long as no answer has begun. */
async function respond(
  parts: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const page = await pageOf(parts, request)
    parts.refusals?.note(page.code)
    writePage(request, response, page)
  } catch (error) {
    parts.onFailure?.(error, `${request.method} ${pathOf(request).slice(0, shownPathCharsMax)}`)
    if (response.headersSent) response.destroy()
    else writePage(request, response, failedPage(error))
  }
}

const shownPathCharsMax = 100

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?')[0] ?? ''

function failedPage(error: unknown): AdminPage {
  return isDiskError(error)
    ? errorPage(503, 'disk_refused', `The disk refuses: ${messageOf(error)}. Make room, and retry.`)
    : errorPage(500, 'unexpected_failure', 'The server failed at this request; its log says why.')
}

function writePage(request: IncomingMessage, response: ServerResponse, page: AdminPage): void {
  const { status, type, body, headers } = page
  response.writeHead(status, {
    ...(type === '' ? {} : { 'content-type': type }),
    'cache-control': 'no-store',
    ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(body) }),
    ...headers,
  })
  const timer = setTimeout(() => response.destroy(), answerMsMax).unref()
  response.once('close', () => clearTimeout(timer))
  response.end(request.method === 'HEAD' || status === 204 ? undefined : body)
}

async function pageOf(parts: AdminParts, request: IncomingMessage): Promise<AdminPage> {
  if (parts.isOwnHost?.(request.headers.host) === false) return json(403, { error: foreignHost })
  const path = pathOf(request)
  const { console: door } = parts
  if (door !== undefined && /^\/console(?:$|\/)/.test(path)) return door.answer(request, path)
  if (parts.routes !== undefined && path.startsWith('/admin/')) return apiPage(parts, request, path)
  const page = pages.find((known) => known === path)
  if (page === undefined) return json(404, { error: `There are ${pages.join(', ')}.` })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { ...json(405, { error: 'Only GET and HEAD.' }), headers: { allow: 'GET, HEAD' } }
  }
  if (page === '/healthz') return json(200, { status: 'ok' })
  if (page === '/readyz') {
    const status = parts.readiness()
    const code = status === 'ready' || status === 'degraded' ? 200 : 503
    const store = parts.storeDown?.() === true ? 'down' : undefined
    return json(code, { status, store, coverage: parts.coverage?.() })
  }
  const caller = callerOf(parts, request)
  if ('status' in caller) return caller
  if (page === '/status') return json(200, await parts.status())
  return { status: 200, ...(await parts.metrics()) }
}

/** Who asks; or what keeps pages in a browser, and clients without a token, out. */
function callerOf(parts: AdminParts, request: IncomingMessage): AdminCaller | AdminPage {
  const { origin, authorization, 'sec-fetch-site': site = 'none' } = request.headers
  // A browser tells where a page is from over https and to this machine alone; the console's page
  // says so itself by its header, which no page of another origin can add.
  const { [csrfHeader]: mark } = request.headers
  if (origin !== undefined || site !== 'none' || mark !== undefined) {
    return parts.console?.callerOf(request) ?? json(403, { error: 'Not for pages in a browser.' })
  }
  if (parts.guard === undefined) return unnamedAdmin
  const token = bearerOf(authorization)
  const { remoteAddress } = request.socket
  const judged = token === '' ? undefined : parts.guard(token, remoteAddress, Date.now())
  if (judged === undefined) {
    const refused = json(401, { error: 'The admin token is missing or wrong.' })
    const code = token === '' ? {} : { code: 'wrong_token' }
    return { ...refused, ...code, headers: { 'www-authenticate': 'Bearer' } }
  }
  if (!('waitSeconds' in judged)) return judged
  const refused = json(429, { error: tooManyTokensText })
  const headers = { 'retry-after': String(judged.waitSeconds) }
  return { ...refused, code: 'too_many_logins', headers }
}

async function apiPage(
  parts: AdminParts,
  request: IncomingMessage,
  path: string,
): Promise<AdminPage> {
  const caller = callerOf(parts, request)
  if ('status' in caller) return caller
  const { routes = [] } = parts
  if (path === '/admin/openapi.json') return json(200, adminDocument(routes))
  return answerAdminRequest(routes, request, caller)
}

function portOf(server: Server, port: number): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

// Which Host a request to the admin port may name. A page of another site can give its own name the
// address of this machine (DNS rebinding); its requests then look like those of one origin, but the
// Host they carry is the page's name. So a Host is this machine's own: an address, `localhost`, the
// host that the port listens on, or a name that the operator has listed. An address is always
// right, because a page cannot make one mean another; probes and scrapers mostly ask by address.

/** Says of the value of a Host header whether it may be asked with; absent, it comes from no browser. */
export function createHostMatcher(names: readonly string[]): (host: string | undefined) => boolean {
  const known = new Set(['localhost', ...names.map(plainName)])
  return (host) => {
    if (host === undefined) return true
    const name = plainName(host.replace(/:\d{0,5}$/, ''))
    const address = /^\[(.*)\]$/.exec(name)?.[1] ?? name
    return isIP(address) !== 0 || known.has(name)
  }
}

/** In lower case, without the dot that ends a full name. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
