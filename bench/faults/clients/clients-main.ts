// The clients of a proof, in a process of their own, so that what the proof itself does (it writes
// tables) delays no answer that they time. Kept connections ask one check after the other at a
// fixed pace; one-shot clients open a connection for each. Started by clients.ts.
//
// What counts as an error: no answer, another status than 200, a connection that is refused, reset
// or closed while a request is on it. A kept connection that the server closes while nothing is on
// it, or with an answer that says close, is opened again and is no error.

import { type Socket, connect } from 'node:net'
import process from 'node:process'
import { paths } from '../../../src/api/public-port.ts'
import type { ClientsReport, ClientsSettings, TimeSpan } from './clients.ts'

const settings = JSON.parse(process.argv[2] ?? '{}') as ClientsSettings
const { port, key, path = paths.check, kept, oneShot, timeoutMs, gapMs = 0 } = settings

const body = '{"ip":"9.1.2.3"}'
const lines = [
  `POST ${path} HTTP/1.1`,
  'Host: a',
  `Authorization: Bearer ${key}`,
  `Content-Length: ${body.length}`,
]
const keptRequest = `${lines.join('\r\n')}\r\n\r\n${body}`
const oneShotRequest = `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`

/** When each answered request was sent, milliseconds since the epoch, and how long it took. */
const sent: number[] = []
const took: number[] = []
const errors = new Map<string, number>()
const begun: number[] = []
let closed = 0
let stopped = false

const now = (): number => performance.timeOrigin + performance.now()

/** `begunMs`: when the connection was. */
function fail(what: string, begunMs: number): void {
  errors.set(what, (errors.get(what) ?? 0) + 1)
  begun.push(begunMs)
}

/** Whether the text is a whole answer, by its Content-Length. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))?.[1]
  return text.length >= head + 4 + Number(length ?? 0)
}

function send(socket: Socket, request: string): void {
  // In the middle of its body, where it has come to the server's own code.
  const half = gapMs === 0 ? request.length : request.length - body.length / 2
  socket.write(request.slice(0, half))
  if (gapMs > 0) setTimeout(() => socket.write(request.slice(half)), gapMs)
}

/** A one-shot request is the only one on its connection, whatever the answer says. */
function endsConnection(request: string, text: string): boolean {
  return request === oneShotRequest || /\r\nconnection: close/i.test(text)
}

/** One connection, until it is closed by either side or an answer says close. */
function connection(request: string, spanMs: number): Promise<void> {
  return new Promise((resolve) => {
    // Waiting for the connection is part of a one-shot request.
    const fromMs = now()
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentMs = 0
    let text = ''
    let connected = false
    let answered = false
    let timer: NodeJS.Timeout | undefined
    const ask = (): void => {
      if (stopped) {
        socket.destroy()
        return
      }
      sentMs = now()
      text = ''
      send(socket, request)
      timer = setTimeout(() => {
        fail('no answer in time', fromMs)
        sentMs = 0
        socket.destroy()
      }, timeoutMs)
    }
    let code = ''
    socket.on('connect', () => {
      connected = true
      ask()
    })
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (sentMs === 0 || !isWhole(text)) return
      clearTimeout(timer)
      answered = true
      const status = text.slice(9, 12)
      if (status === '200') {
        const since = request === oneShotRequest ? fromMs : sentMs
        sent.push(since)
        took.push(now() - since)
      } else fail(`status ${status}`, fromMs)
      const again = sentMs + spanMs - now()
      sentMs = 0
      if (endsConnection(request, text) || stopped) {
        socket.end()
        return
      }
      timer = setTimeout(
        () => {
          if (!socket.destroyed && !socket.readableEnded) ask()
        },
        Math.max(0, again),
      )
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code ?? error.message
    })
    socket.on('close', () => {
      clearTimeout(timer)
      if (!connected) fail(`connect ${code}`, fromMs)
      else if (sentMs !== 0) {
        // A first request is lost with a handshake, another one with a connection that was kept.
        fail(`in flight (${answered ? 'used' : 'new'}) ${code === '' ? 'closed' : code}`, fromMs)
      }
      if (connected) closed += 1
      resolve()
    })
  })
}

async function client(request: string, spanMs: number): Promise<void> {
  await pause(Math.random() * spanMs)
  for (;;) {
    if (stopped) return
    const fromMs = now()
    await connection(request, spanMs)
    if (request === oneShotRequest) await pause(fromMs + spanMs - now())
    // A server that refuses is not asked again at once.
    else await pause(2)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}

function reportOf(spans: readonly TimeSpan[]): ClientsReport {
  const quantiles = spans.map(({ windows }) => {
    const values = took.filter((_, i) =>
      windows.some(([from, to]) => sent[i]! >= from && sent[i]! < to),
    )
    values.sort((a, b) => a - b)
    const at = (share: number): number => values[Math.floor(values.length * share)] ?? NaN
    return {
      requests: values.length,
      p50: at(0.5),
      p99: at(0.99),
      p999: at(0.999),
      max: at(1 - 1e-9),
    }
  })
  return {
    requests: took.length,
    closed,
    errors: Object.fromEntries(errors),
    begunMs: begun,
    quantiles,
  }
}

process.on(
  'message',
  (message: { readonly kind: 'look' | 'end'; readonly spans: readonly TimeSpan[] }) => {
    process.send?.(reportOf(message.spans))
    if (message.kind !== 'end') return
    stopped = true
    setTimeout(() => process.exit(0), 50)
  },
)
process.on('disconnect', () => process.exit(0))

const spanOf = (clients: number, perSecond: number): number => (1000 * clients) / perSecond
for (let i = 0; i < kept.clients; i += 1) {
  void client(keptRequest, spanOf(kept.clients, kept.perSecond))
}
for (let i = 0; i < oneShot.clients; i += 1) {
  void client(oneShotRequest, spanOf(oneShot.clients, oneShot.perSecond))
}
