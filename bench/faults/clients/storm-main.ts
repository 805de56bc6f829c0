// One storm from a stranger without a key, in a process of its own: as much of one kind of traffic
// as a core can make, bounded in connections, until it is told to end. It says how much it was when
// it has its first connection, and at its end.
//
//   storm-main.js PORT KIND

import { type Socket, connect, createServer } from 'node:net'
import process from 'node:process'
import { connect as connectTls } from 'node:tls'
import { paths } from '../../../src/api/public-port.ts'

export interface StormReport {
  readonly connections: number
  readonly bytes: number
}

const [portText = '0', kind = ''] = process.argv.slice(2)
const port = Number(portText)
const tally = { connections: 0, bytes: 0 }
let stopped = false

const head = (more: string, key = 'irk_no'): string =>
  `POST ${paths.check} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`
const crumbs = (count: number): string => '1\r\nx\r\n'.repeat(count)
const whole = head('Content-Length: 16\r\n') + '{"ip":"9.1.2.3"}'
const wide = Array.from({ length: 60 }, (_, i) => `X-${i}: ${'v'.repeat(50)}\r\n`).join('')

interface Storm {
  /** At once; each comes again when it is closed. */
  readonly connections: number
  /** Sent when a connection opens. */
  readonly first: () => Buffer
  /** Sent again and again until the server closes; absent: nothing more is. */
  readonly more?: () => Buffer
  /** The connection is reset after so long. */
  readonly resetMs?: number
  /** Connections are held and not opened anew by its own doing. */
  readonly holds?: boolean
}

const bytesOf = (text: string): (() => Buffer) => {
  const bytes = Buffer.from(text, 'latin1')
  return () => bytes
}

const storms: Readonly<Record<string, Storm>> = {
  chunks: {
    connections: 40,
    first: bytesOf(head('Transfer-Encoding: chunked\r\n') + crumbs(60_000)),
  },
  'chunks of 16 bytes': {
    connections: 40,
    first: bytesOf(
      `GET ${paths.openApi} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ),
    more: bytesOf(`10\r\n${'x'.repeat(16)}\r\n`.repeat(3000)),
  },
  headers: { connections: 200, first: bytesOf(head(wide + 'Content-Length: 0\r\n').repeat(20)) },
  'header bytes': {
    connections: 200,
    first: bytesOf('POST / HTTP/1.1\r\nHost: a\r\n'),
    more: bytesOf('X: a\r\n'.repeat(50)),
  },
  pipelining: {
    connections: 100,
    first: bytesOf(whole.repeat(500)),
    more: bytesOf(whole.repeat(500)),
  },
  'bad framing': {
    connections: 200,
    first: bytesOf(head('Content-Length: 1\r\nContent-Length: 2\r\n').repeat(10)),
  },
  aborts: { connections: 200, first: bytesOf(whole.slice(0, -1)), resetMs: 2 },
  connections: { connections: 9000, first: bytesOf('P'), holds: true },
  handshakes: { connections: 500, first: () => hello, resetMs: 200 },
}

const storm = storms[kind]
if (storm === undefined) throw new Error(`no storm ${kind}`)
const hello = kind === 'handshakes' ? await clientHello() : Buffer.alloc(0)

/** The first bytes of a real client, to be sent by many that compute nothing. */
function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (bytes: Buffer) => {
        resolve(bytes)
        socket.destroy()
        server.close()
      })
    })
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') return
      connectTls({ port: address.port, host: '127.0.0.1' }).on('error', () => undefined)
    })
  })
}

function send(socket: Socket, bytes: Buffer): boolean {
  tally.bytes += bytes.length
  return socket.write(bytes)
}

async function visit({ first, more, resetMs, holds }: Storm): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const pour = (): void => {
      if (more === undefined || stopped) return
      while (!socket.destroyed && send(socket, more()));
    }
    socket.on('error', () => undefined)
    socket.on('drain', pour)
    socket.resume().once('close', () => resolve())
    socket.once('connect', () => {
      tally.connections += 1
      if (tally.connections === 1) process.send?.(tally satisfies StormReport)
      open.add(socket)
      if (send(socket, first())) pour()
      if (resetMs !== undefined) setTimeout(() => socket.resetAndDestroy(), resetMs)
    })
    socket.once('close', () => open.delete(socket))
  })
  // One that is held and was cut comes again as a client would.
  if (holds === true && !stopped) await new Promise((resolve) => setTimeout(resolve, 500))
}

const open = new Set<Socket>()
for (let i = 0; i < storm.connections; i += 1) {
  void (async () => {
    for (;;) await visit(storm)
  })()
}
process.once('message', () => {
  stopped = true
  for (const socket of open) socket.destroy()
  const report: StormReport = tally
  process.send?.(report, () => process.exit(0))
})
process.on('disconnect', () => process.exit(0))
