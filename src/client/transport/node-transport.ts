// The transport of Node: connections of its own (node-connection.ts), in a pool that follows the
// server's hints: an idle connection is closed before the server closes it (`Keep-Alive:
// timeout=N`), so that the first login after a quiet period does not get one that is about to
// close.

import { type Connection, openConnection, type Target } from './node-connection.ts'
import type { Transport, TransportReply, TransportRequest } from './transport.ts'

const idleMax = 64

interface Pool {
  readonly target: Target
  /** The last one was used last. */
  readonly idle: Connection[]
}

interface Route {
  readonly pool: Pool
  readonly headers: TransportRequest['headers']
  /** For a request, up to the value of the last header. */
  readonly head: string
}

export function createNodeTransport(): Transport {
  const pools = new Map<string, Pool>()
  const routes = new Map<string, Route>()

  function routeOf({ url: text, headers }: TransportRequest): Route {
    const known = routes.get(text)
    if (known?.headers === headers) return known
    const url = new URL(text)
    let pool = pools.get(url.origin)
    if (pool === undefined) pools.set(url.origin, (pool = { target: targetOf(url), idle: [] }))
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${lines.join('')}connection: keep-alive\r\ncontent-length: `
    const route = { pool, headers, head }
    routes.set(text, route)
    return route
  }

  function open({ target, idle }: Pool): Connection {
    return openConnection(
      target,
      (connection) => {
        if (idle.length < idleMax) idle.push(connection)
        else connection.close()
      },
      (connection) => {
        const at = idle.indexOf(connection)
        if (at >= 0) idle.splice(at, 1)
      },
    )
  }

  return {
    send(request) {
      const { body, replyCharsMax, fresh, whenAborted } = request
      return new Promise<TransportReply>((resolve, reject) => {
        const { pool, head } = routeOf(request)
        const connection = (fresh ? undefined : pool.idle.pop()) ?? open(pool)
        const text = `${head}${Buffer.byteLength(body)}\r\n\r\n${body}`
        whenAborted(connection.send(text, replyCharsMax, { resolve, reject }))
      })
    },
    close() {
      for (const { idle } of pools.values()) for (const { close } of idle.splice(0)) close()
    },
  }
}

function targetOf({ protocol, hostname, port }: URL): Target {
  const isTls = protocol === 'https:'
  return {
    isTls,
    // A URL writes IPv6 in brackets, a socket does not.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
  }
}
