// One connection in Node, with one request at a time and its own reader: node:http takes half of
// what a check costs. One write per request; a reply that comes in one piece, as nearly all do, is
// not copied.
// Invariants: each request ends once; unexpected bytes end the connection.

import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createReplyReader, type HttpReply, type ReplyReader } from './node-reply.ts'
import type { TransportReply } from './transport.ts'

/** For a server that gives no hint: Node's own servers close after five seconds. */
const idleSecondsDefault = 5
/** How much sooner than the server an idle connection is closed. */
const marginMs = 1000
/** Whatever the server hints: a connection idle for longer may be dropped on the way. */
const idleMsMax = 600_000

export interface Target {
  readonly isTls: boolean
  readonly host: string
  readonly port: number
}

interface Asked {
  readonly resolve: (reply: TransportReply) => void
  readonly reject: (cause: Error) => void
}

export interface Connection {
  /** Ends the request, if it is in flight, and the connection. */
  readonly send: (text: string, bodyBytesMax: number, asked: Asked) => () => void
  readonly close: () => void
}

/** `onIdle`: it may serve another request. `onEnd`: it never will. */
export function openConnection(
  { isTls, host, port }: Target,
  onIdle: (connection: Connection) => void,
  onEnd: (connection: Connection) => void,
): Connection {
  const socket = isTls
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) })
    : connect({ host, port })
  socket.setNoDelay(true)
  let pending: (Asked & { readonly reader: ReplyReader }) | undefined
  let idleMs = 0

  const connection: Connection = {
    send: (text, bodyBytesMax, { resolve, reject }) => {
      const sent = { resolve, reject, reader: createReplyReader(bodyBytesMax) }
      pending = sent
      socket.ref()
      socket.write(text)
      return () => {
        if (pending === sent) fail(closed())
      }
    },
    close: () => socket.destroy(),
  }
  const fail = (cause: Error): void => {
    const failed = pending
    pending = undefined
    socket.destroy()
    failed?.reject(cause)
  }
  const read = (step: (reader: ReplyReader) => HttpReply | undefined): void => {
    if (pending === undefined) {
      socket.destroy()
      return
    }
    try {
      const reply = step(pending.reader)
      if (reply !== undefined) finish(reply)
    } catch (cause) {
      fail(cause as Error)
    }
  }
  const finish = ({ status, text, requestId, keepsAlive, idleSeconds }: HttpReply): void => {
    const { resolve } = pending!
    pending = undefined
    if (keepsAlive) {
      const wait = idleMsFor(idleSeconds)
      if (wait !== idleMs) socket.setTimeout((idleMs = wait))
      // An idle connection must not keep a process from ending.
      socket.unref()
      onIdle(connection)
    } else socket.destroy()
    resolve({ status, text, requestId })
  }

  socket.on('data', (chunk: Buffer) => read(({ take }) => take(chunk)))
  socket.on('end', () => read(({ end }) => end()))
  socket.on('timeout', () => {
    if (pending === undefined) socket.destroy()
  })
  socket.on('error', fail)
  socket.on('close', () => {
    onEnd(connection)
    fail(closed())
  })
  return connection
}

function closed(): Error {
  return Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' })
}

export function idleMsFor(hintSeconds = idleSecondsDefault): number {
  const hintMs = Math.min(hintSeconds * 1000, idleMsMax)
  return Math.max(hintMs - marginMs, hintMs / 2, 1)
}
