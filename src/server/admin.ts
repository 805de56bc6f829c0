// The admin port: metrics and health, plain node:http in the primary, on loopback unless the operator
// says otherwise. It asks for no key; whoever can reach it may read it. Nothing here changes anything.

import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { type Endpoint, portUnavailable } from './probe.ts'

/** Why the server is not ready, or that it is; `degraded`: it is, and its workers die. */
export type Readiness = 'ready' | 'degraded' | 'draining' | 'no_table' | 'no_keys' | 'no_workers'

export interface AdminParts {
  readonly readiness: () => Readiness
  /** Tables, workers and refresh as JSON. */
  readonly status: () => object
  readonly metricsType: string
  readonly metrics: () => Promise<string>
}

export interface Admin {
  readonly port: number
  readonly close: () => Promise<void>
}

const pages: ReadonlySet<string> = new Set(['/metrics', '/healthz', '/readyz', '/status'])

interface Page {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Listens exclusively. Throws `port_unavailable`. */
export async function startAdmin(parts: AdminParts, { host, port }: Endpoint): Promise<Admin> {
  const server = createServer((request, response) => {
    respond(parts, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: unknown): void =>
      reject(portUnavailable({ host, port }, 'admin-port', cause))
    server.once('error', refuse)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', refuse)
      resolve()
    })
  })
  return { port: portOf(server, port), close: () => closeServer(server) }
}

async function respond(
  parts: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, type, text } = await pageOf(parts, request)
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : text)
}

async function pageOf(parts: AdminParts, request: IncomingMessage): Promise<Page> {
  const path = (request.url ?? '').split('?')[0]
  if (!pages.has(path ?? '')) {
    return json(404, { error: `There are ${[...pages].join(', ')}.` })
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return json(405, { error: 'Only GET and HEAD.' })
  }
  if (path === '/metrics') {
    return { status: 200, type: parts.metricsType, text: await parts.metrics() }
  }
  if (path === '/healthz') return json(200, { status: 'ok' })
  if (path === '/status') return json(200, parts.status())
  const status = parts.readiness()
  return json(status === 'ready' || status === 'degraded' ? 200 : 503, { status })
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
