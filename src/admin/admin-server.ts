// The admin port: metrics, status and health by plain node:http in the primary, on loopback or a
// Unix socket unless the operator says otherwise. No request here changes anything.
//
// Without a token, every client that can reach the port may read. With one, metrics and status ask
// for it; health does not, because the probes of orchestrators carry no secrets and learn one word.
// A page in a browser may read nothing: its requests show themselves by Origin or Sec-Fetch-Site, or
// by the name that they are sent to (admin-hosts.ts), for which every path is 403.

import { rmSync, statSync } from 'node:fs'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import { type HostPort, portUnavailable } from '../supervisor/sockets/port-probe.ts'
import { isSocketListening, listenOnUnixSocket } from '../supervisor/sockets/unix-socket.ts'

/** Whether the server is ready, or why not; `degraded`: it is ready, and its workers die. */
export type Readiness = 'ready' | 'degraded' | 'draining' | 'no_table' | 'no_keys' | 'no_workers'

export interface AdminParts {
  readonly readiness: () => Readiness
  readonly metricsType: string
  readonly metrics: () => Promise<string>
  readonly status: () => Promise<object>
  /** Whether the value of a Host header is this server's; absent, as with a socket: every one is. */
  readonly isOwnHost?: (host: string | undefined) => boolean
  /** Whether the value of an Authorization header may read; absent: every client may. */
  readonly mayRead?: (authorization: string | undefined) => boolean
}

/** Where to listen; a socket's path takes the place of host and port. */
export interface AdminListenOptions extends HostPort {
  readonly socket?: string
}

export interface AdminServer {
  /** 0 with a socket. */
  readonly port: number
  readonly close: () => Promise<void>
}

interface Page {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

const pages = ['/metrics', '/status', '/healthz', '/readyz'] as const

const foreignHost =
  'Not for this Host: ask by address, or list the name in --admin-allowed-hosts where it is yours.'

/** Listens exclusively. Throws `port_unavailable`. */
export async function startAdminServer(
  parts: AdminParts,
  place: AdminListenOptions,
): Promise<AdminServer> {
  const server = createServer((request, response) => {
    respond(parts, request, response).catch(() => response.destroy())
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
  return new IpriskError({
    code: 'port_unavailable',
    message:
      `The admin socket ${path} cannot be listened on: ${messageOf(cause)}. Stop the server that ` +
      'has it, or name another with --admin-socket.',
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

async function respond(
  parts: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, type, text, headers } = await pageOf(parts, request)
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(request.method === 'HEAD' ? undefined : text)
}

async function pageOf(parts: AdminParts, request: IncomingMessage): Promise<Page> {
  if (parts.isOwnHost?.(request.headers.host) === false) return json(403, { error: foreignHost })
  const path = (request.url ?? '').split('?')[0]
  const page = pages.find((known) => known === path)
  if (page === undefined) return json(404, { error: `There are ${pages.join(', ')}.` })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { ...json(405, { error: 'Only GET and HEAD.' }), headers: { allow: 'GET, HEAD' } }
  }
  if (page === '/healthz') return json(200, { status: 'ok' })
  if (page === '/readyz') {
    const status = parts.readiness()
    return json(status === 'ready' || status === 'degraded' ? 200 : 503, { status })
  }
  const { origin, authorization, 'sec-fetch-site': site = 'none' } = request.headers
  if (origin !== undefined || site !== 'none') {
    return json(403, { error: 'Not for pages in a browser.' })
  }
  if (parts.mayRead?.(authorization) === false) {
    const headers = { 'www-authenticate': 'Bearer' }
    return { ...json(401, { error: 'The admin token is missing or wrong.' }), headers }
  }
  if (page === '/status') return json(200, await parts.status())
  return { status: 200, type: parts.metricsType, text: await parts.metrics() }
}

function json(status: number, value: object): Page {
  return { status, type: 'application/json', text: `${JSON.stringify(value)}\n` }
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
