// The pool of Node's client is kept as the server hints.

import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { createFetchTransport } from '../../../src/client/transport/fetch-transport.ts'
import { createReplyReader } from '../../../src/client/transport/node-reply.ts'
import { idleMsFor } from '../../../src/client/transport/node-connection.ts'
import { createNodeTransport } from '../../../src/client/transport/node-transport.ts'
import { batchCharsMax, isClosedConnection } from '../../../src/client/transport/transport.ts'
import { eventually } from '../../eventually.ts'
import { standIn } from '../stand-in.ts'

const send = (transport: ReturnType<typeof createNodeTransport>, url: string, fresh = false) =>
  transport.send({
    url,
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: new AbortController().signal,
    whenAborted: () => undefined,
    fresh,
    replyCharsMax: batchCharsMax,
  })

it('lets an idle connection go before the server closes it', async () => {
  const closed: string[] = []
  const server = await standIn((_asked, response) => {
    response.socket?.once('end', () => closed.push('by the client'))
    response.writeHead(200, { 'keep-alive': 'timeout=2' }).end('{}')
  })
  const transport = createNodeTransport()
  await send(transport, server.url)
  await send(transport, server.url)
  expect(server.asked.map(({ connection }) => connection)).toEqual([0, 0])
  await eventually(() => closed.length > 0, 5000)
  await send(transport, server.url)
  expect(server.asked[2]?.connection).toBe(1)
  transport.close()
})

it.each<[string | undefined, number]>([
  [undefined, 4000],
  ['timeout', 4000],
  ['timeout=5', 4000],
  ['max=9, TIMEOUT=61', 60_000],
  // Half the time, where a second is too much of it.
  ['timeout=2', 1000],
  ['timeout=1', 500],
  ['timeout=0', 1],
  ['timeout=600', 599_000],
  ['timeout=86400', 599_000],
])('for the hint %j waits %i ms', (hint, idleMs) => {
  const line = hint === undefined ? '' : `\r\nKeep-Alive: ${hint}`
  const reply = `HTTP/1.1 200 OK\r\ncontent-length: 0${line}\r\n\r\n`
  const read = createReplyReader(10).take(Buffer.from(reply))
  expect(idleMsFor(read?.idleSeconds)).toBe(idleMs)
})

it('keeps a connection whatever the server hints', async () => {
  const server = await standIn((_asked, response) => {
    response.writeHead(200, { 'keep-alive': `timeout=${'9'.repeat(400)}` }).end('{}')
  })
  const transport = createNodeTransport()
  await send(transport, server.url)
  await send(transport, server.url)
  expect(server.asked.map(({ connection }) => connection)).toEqual([0, 0])
  transport.close()
})

it.each([
  ['node:http', createNodeTransport],
  ['fetch', createFetchTransport],
])(
  'over %s an answer without an end is refused, and its connection closed',
  async (_name, create) => {
    const piece = 'a'.repeat(1024 * 1024)
    let isClosed = false
    const server = await standIn((_asked, response) => {
      response.writeHead(200).on('close', () => (isClosed = true))
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', write)
      write()
    })
    const transport = create()
    const controller = new AbortController()
    const reply = transport.send({
      url: server.url,
      headers: {},
      body: '{}',
      signal: controller.signal,
      whenAborted: () => undefined,
      fresh: false,
      replyCharsMax: batchCharsMax,
    })
    const error: unknown = await reply.catch((cause: unknown) => cause)
    expect(String(error)).toContain('too long')
    expect(isClosedConnection(error)).toBe(false)
    // As the client does where a request has failed.
    controller.abort()
    await eventually(() => isClosed)
    transport.close()
  },
  20_000,
)

it('takes none from the pool for a fresh one', async () => {
  const server = await standIn(() => ({ status: 200, body: {} }))
  const transport = createNodeTransport()
  await send(transport, server.url)
  await send(transport, server.url, true)
  await send(transport, server.url)
  expect(server.asked.map(({ connection }) => connection)).toEqual([0, 1, 1])
  transport.close()
})

it('sends and reads UTF-8, and gives the request id', async () => {
  const server = await standIn(({ body }) => ({ status: 200, body }))
  const transport = createNodeTransport()
  const reply = await transport.send({
    url: `${server.url}/a?b=c`,
    headers: {},
    body: '{"é":"ü"}',
    signal: new AbortController().signal,
    whenAborted: () => undefined,
    fresh: false,
    replyCharsMax: 11,
  })
  expect(reply).toEqual({ status: 200, text: '{"é":"ü"}', requestId: 'r1' })
  expect(server.asked[0]?.path).toBe('/a?b=c')
  transport.close()
})

it('takes a connection that was closed for that, and one that was refused for no such', async () => {
  const server = await standIn((_asked, response) => void response.destroy())
  const transport = createNodeTransport()
  const error = await send(transport, server.url).catch((cause: unknown) => cause)
  expect(isClosedConnection(error)).toBe(true)
  const refused = await new Promise((resolve) => connect(1, '127.0.0.1').on('error', resolve))
  expect(isClosedConnection(refused)).toBe(false)
  expect(isClosedConnection(new TypeError('of an edge runtime'))).toBe(true)
  expect(isClosedConnection(new Error('odd'))).toBe(false)
  transport.close()
})
