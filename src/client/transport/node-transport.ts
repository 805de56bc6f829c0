// The transport of Node: its own HTTP client, half the cost of its fetch, with a pool that is kept
// as the server hints: an idle connection is let go before the server closes it (`Keep-Alive:
// timeout=N`), so that the first login after a quiet spell finds none that is about to close.

import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as TlsAgent, request as requestHttps } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  type Transport,
  type TransportReply,
  type TransportRequest,
  replyTooLong,
} from './transport.ts'

/** Of a server that gives no hint: Node's own servers close after five seconds. */
const idleMsDefault = 4000
/** How much sooner than the server an idle connection is let go. */
const marginMs = 1000
/** Whatever the server hints: a connection that waits for longer may be dropped on the way. */
const idleMsMax = 600_000

export function createNodeTransport(): Transport {
  const idleMs = new WeakMap<Duplex, number>()
  const settings = { keepAlive: true, maxFreeSockets: 64 }
  const pools = { 'http:': new Agent(settings), 'https:': new TlsAgent(settings) }
  for (const pool of Object.values(pools)) {
    const keep = pool.keepSocketAlive.bind(pool)
    pool.keepSocketAlive = (socket) => {
      const kept = keep(socket)
      // The pool closes a free socket that times out.
      if (socket instanceof Socket) socket.setTimeout(idleMs.get(socket) ?? idleMsDefault)
      return kept
    }
  }
  const targets = new Map<string, URL>()

  function targetOf(text: string): URL {
    let target = targets.get(text)
    if (target === undefined) targets.set(text, (target = new URL(text)))
    return target
  }

  return {
    send(request) {
      const { protocol, hostname, port, pathname, search } = targetOf(request.url)
      const isTls = protocol === 'https:'
      const sent = (isTls ? requestHttps : requestHttp)({
        protocol,
        // A URL writes IPv6 in brackets, a socket does not.
        hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
        port,
        path: pathname + search,
        method: 'POST',
        headers: { ...request.headers, 'content-length': Buffer.byteLength(request.body) },
        agent: request.fresh ? false : pools[isTls ? 'https:' : 'http:'],
      })
      return replyTo(sent, request, (response) => {
        const said = response.headers['keep-alive']
        const hint = typeof said === 'string' ? /timeout=(\d+)/i.exec(said)?.[1] : undefined
        if (hint !== undefined) idleMs.set(response.socket, idleMsFor(Number(hint)))
      })
    },
    close() {
      for (const pool of Object.values(pools)) pool.destroy()
    },
  }
}

function idleMsFor(hintSeconds: number): number {
  const hintMs = Math.min(hintSeconds * 1000, idleMsMax)
  return Math.max(hintMs - marginMs, hintMs / 2, 1)
}

function replyTo(
  sent: ClientRequest,
  { body, signal, replyCharsMax }: TransportRequest,
  onHead: (response: IncomingMessage) => void,
): Promise<TransportReply> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      sent.destroy()
    }
    signal.addEventListener('abort', abort, { once: true })
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', abort)
      reject(error)
    }
    sent.on('error', fail)
    sent.on('response', (response) => {
      onHead(response)
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (text.length <= replyCharsMax) return
        fail(replyTooLong())
        sent.destroy()
      })
      response.on('error', fail)
      response.on('end', () => {
        signal.removeEventListener('abort', abort)
        const id = response.headers['x-request-id']
        const requestId = typeof id === 'string' ? id : undefined
        resolve({ status: response.statusCode ?? 0, text, requestId })
      })
    })
    sent.end(body)
  })
}
