// Small servers in the place of the API, each doing to a request what its test says.

import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Answer, Decision } from '../../src/client/core/check-result.ts'
import { atEndOfTest } from '../ends.ts'

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
  /** Which connection it came on, from 0. */
  readonly connection: number
}

/** What the server does: answers by hand, or with a status and a body. */
export type Act = (
  asked: Asked,
  response: ServerResponse,
) => { readonly status: number; readonly body: unknown } | undefined | void

export interface StandIn {
  readonly url: string
  readonly asked: readonly Asked[]
  /** Closes every connection, as a server does with idle ones. */
  readonly closeConnections: () => void
  readonly port: number
}

const ends: (() => void)[] = []
atEndOfTest(() => {
  for (const end of ends.splice(0)) end()
})

export async function standIn(
  act: Act,
  options: { readonly keepAliveTimeout?: number } = {},
): Promise<StandIn> {
  const asked: Asked[] = []
  const sockets: Socket[] = []
  const server = createServer({ keepAliveTimeout: 60_000, ...options }, (request, response) => {
    void text(request).then((body) => take(request, response, body), ignored)
  })
  const take = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const { url: path = '', headers, socket } = request
    const connection = sockets.indexOf(socket)
    const one = { path, headers, body: JSON.parse(body) as Asked['body'], connection }
    asked.push(one)
    const reply = act(one, response)
    if (reply === undefined) return
    response.writeHead(reply.status, { 'content-type': 'application/json', 'x-request-id': 'r1' })
    const { body: said } = reply
    response.end(typeof said === 'string' ? said : JSON.stringify(said))
  }
  server.on('connection', (socket: Socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const closeConnections = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  ends.push(() => {
    server.close()
    closeConnections()
  })
  return { url: `http://127.0.0.1:${port}`, asked, closeConnections, port }
}

/** A request that was cut off. */
const ignored = (): undefined => undefined

export function answerFor(ip: string, more: Partial<Answer> = {}): Answer {
  return {
    classification: 'clean',
    risk_level: 'low',
    risk_score: 0,
    ip,
    version: ip.includes(':') ? 6 : 4,
    network: null,
    location: null,
    proxy: null,
    bot: null,
    signals: {
      bogon: false,
      proxy: false,
      vpn: false,
      tor: false,
      hosting: false,
      residential_proxy: false,
      blocklist_match: false,
      relay: false,
      mobile: false,
    },
    reasons: [],
    table: 'table-1',
    ...more,
  }
}

export function decided(action: string, policy: unknown = 'login'): Decision {
  return { action, rule: 'a-rule', policy: String(policy) }
}

/** Answers every check, cleanly. */
export const answering: Act = ({ body }) => ({ status: 200, body: answerFor(String(body['ip'])) })

/** The body of an error of the API. */
export function errorOf(code: string, more: Readonly<Record<string, string>> = {}): unknown {
  return { error: { code, message: `It is ${code}.`, request_id: 'r1', doc_url: '/docs', ...more } }
}
