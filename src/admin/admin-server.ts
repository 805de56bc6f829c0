// The admin port: metrics, status and health by plain node:http in the primary, on loopback or a
// Unix socket unless the operator says otherwise. Only the administrative API below /admin/ changes
// anything (admin-api.ts).
//
// Without a token, every client that can reach the port may read. With one, all but health require
// it: orchestrators' probes carry no secrets, and learn one word. Pages in browsers get 403 for
// every path; Origin, Sec-Fetch-Site or the Host (`isOwnHost`) gives them away. The exception is
// the console (src/console), whose requests carry a session's cookie and CSRF text.

import { once } from 'node:events'
import { existsSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import type { CoverageAnswer } from '../api/coverage-answer.ts'
import { environmentError, type IpriskError, isDiskError, messageOf } from '../base/coded-error.ts'
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

/** `degraded`: ready, but its workers keep crashing. */
export type Readiness =
  'ready' | 'degraded' | 'draining' | 'no_table' | 'no_keys' | 'no_lists' | 'no_workers'

export interface AdminParts {
  readonly readiness: () => Readiness
  /** Keys with a quota may then get 503 although the server is ready. */
  readonly storeDown?: () => boolean
  readonly coverage?: () => CoverageAnswer | undefined
  readonly metrics: () => Promise<{ readonly type: string; readonly body: string }>
  readonly status: () => Promise<object>
  readonly onFailure?: (error: unknown, what: string) => void
  readonly routes?: readonly AdminRoute[]
  /** Absent, as with a socket: every Host is accepted. */
  readonly isOwnHost?: ((host: string | undefined) => boolean) | undefined
  /** Absent: every client is an admin. */
  readonly guard?: TokenGuard | undefined
  readonly refusals?: Pick<AdminRefusals, 'note'>
  readonly console?: AdminConsole | undefined
}

export interface AdminConsole {
  readonly answer: (request: IncomingMessage, path: string) => Promise<AdminPage>
  /** The user of a request from the console's page, or a refusal. */
  readonly callerOf: (request: IncomingMessage) => AdminCaller | AdminPage
}

export type AdminServer = Awaited<ReturnType<typeof startAdminServer>>

const pages = ['/metrics', '/status', '/healthz', '/readyz'] as const

const foreignHost =
  'This Host is not allowed: use an address, or add your name to --admin-allowed-hosts.'

/** Headers that never end, bodies that no route reads (others: admin-body.ts), unread answers. */
const serverLimits = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5000,
} as const
const answerMsMax = 60_000

export async function startAdminServer(
  parts: AdminParts,
  place: HostPort & { readonly socket?: string | undefined },
) {
  const server = createServer(serverLimits, (request, response) => {
    void respond(parts, request, response)
  })
  const { socket } = place
  try {
    if (socket === undefined) {
      await once(server.listen({ ...place, exclusive: true }), 'listening')
    } else await listenOn(server, socket)
  } catch (cause) {
    throw socket === undefined
      ? portUnavailable(place, 'admin-port', cause)
      : socketUnavailable(socket, cause)
  }
  return {
    /** 0 with a socket. */
    port: portOf(server, place.port),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function socketUnavailable(path: string, cause: unknown): IpriskError {
  const folder = dirname(path)
  // The system reports EACCES for a missing folder.
  const isMissing = !existsSync(folder)
  const why = isMissing ? `there is no folder ${folder}` : messageOf(cause)
  const inUse = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
  const fix = isMissing
    ? 'Create it, or name'
    : inUse
      ? 'Stop the server that uses it, or name'
      : 'Name'
  const message = `Cannot listen on the admin socket ${path}: ${why}. ${fix} another with --admin-socket.`
  return environmentError('port_unavailable', message, { cause })
}

/** Takes the name over from a dead server, not from a living one. */
async function listenOn(server: Server, path: string): Promise<void> {
  const exists = statSync(path, { throwIfNoEntry: false })?.isSocket() === true
  if (exists && !(await isSocketListening(path))) rmSync(path)
  await listenOnUnixSocket(server, path)
}

/** Never fails: errors are logged, and answered if no answer has begun. */
async function respond(parts: AdminParts, request: IncomingMessage, response: ServerResponse) {
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
    ? errorPage(503, 'disk_refused', `The disk failed: ${messageOf(error)}. Free space and retry.`)
    : errorPage(
        500,
        'unexpected_failure',
        'The server failed on this request; its log has the reason.',
      )
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
  if (page === undefined) return json(404, { error: `Not found; use ${pages.join(', ')}.` })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return {
      ...json(405, { error: 'Use GET or HEAD.' }),
      headers: { allow: 'GET, HEAD' },
    }
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

function callerOf(parts: AdminParts, request: IncomingMessage): AdminCaller | AdminPage {
  const { origin, authorization, 'sec-fetch-site': site = 'none' } = request.headers
  // Browsers send Sec-Fetch-Site over https and to this machine only; the console's page adds its
  // own header, which pages of other origins cannot.
  const { [csrfHeader]: mark } = request.headers
  if (origin !== undefined || site !== 'none' || mark !== undefined) {
    return parts.console?.callerOf(request) ?? json(403, { error: 'Pages cannot call this path.' })
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

async function apiPage(parts: AdminParts, request: IncomingMessage, path: string) {
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

// DNS rebinding: a page of another site can point its own name at this machine. Its requests then
// look same-origin, but their Host is that name. An address is always accepted: no page can make it
// mean another, and probes and scrapers mostly use addresses.

/** Names besides `localhost` and addresses. Browsers always send a Host. */
export function createHostMatcher(names: readonly string[]): (host: string | undefined) => boolean {
  const known = new Set(['localhost', ...names.map(plainName)])
  return (host) => {
    if (host === undefined) return true
    const name = plainName(host.replace(/:\d{0,5}$/, ''))
    const address = /^\[(.*)\]$/.exec(name)?.[1] ?? name
    return isIP(address) !== 0 || known.has(name)
  }
}

/** Lower case, without the trailing dot of a full name. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
