import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { us_listen_socket } from 'uWebSockets.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, newExchange } from '../../../src/http/exchange/exchange.ts'
import { newRequestCounters } from '../../../src/observe/request-counters.ts'
import { createRequestIds } from '../../../src/http/exchange/request-id.ts'
import { loadUws } from '../../../src/http/listen/load-uws.ts'
import { streamJson } from '../../../src/http/reply/response-stream.ts'

const service = {
  counters: newRequestCounters(),
  requestIds: createRequestIds(),
  draining: false,
} as Service

let keepAlive = true
let port = 0
let stop: () => void

beforeAll(async () => {
  const uws = await loadUws()
  const app = uws.App()
  app.post('/', (res, req) => {
    const exchange = newExchange(service, res)
    exchange.keepAlive = keepAlive
    exchange.closesItself = req.getHeader('connection') === 'close'
    // One piece of memory for all, as batches have it.
    const piece = Buffer.alloc(1000)
    res.onAborted(() => undefined)
    res.onData((_, isLast) => {
      if (!isLast) return
      streamJson(exchange, {
        count: 5,
        before: '[',
        between: ',',
        after: ']',
        ask: (index, give) =>
          void setImmediate(() => res.cork(() => give(piece.fill(String(index + 1))))),
      })
    })
  })
  const listening = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen('127.0.0.1', 0, resolve)
  })
  if (listening === false) throw new Error('no port')
  port = uws.us_socket_local_port(listening)
  stop = () => uws.us_listen_socket_close(listening)
})
afterAll(() => stop())

const expected = `[${[1, 2, 3, 4, 5].map((digit) => String(digit).repeat(1000)).join(',')}]`

it.each([
  ['keeps its connection', { headers: {}, keep: true, said: undefined }],
  ['sends chunks', { headers: { 'transfer-encoding': 'chunked' }, keep: false, said: 'close' }],
  ['asks for the end', { headers: { connection: 'close' }, keep: false, said: 'close' }],
  ['meets a drain', { headers: {}, keep: true, draining: true, said: 'close' }],
])('an answer in pieces is read whole by a client that %s', async (_, form) => {
  keepAlive = form.keep
  service.draining = 'draining' in form
  const agent = new Agent({ keepAlive: true })
  const { headers } = form
  const asked = request({ port, agent, path: '/', method: 'POST', headers }).end('{}')
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect(await text(answer)).toBe(expected)
  expect(answer.headers.connection).toBe(form.said)
  agent.destroy()
})
