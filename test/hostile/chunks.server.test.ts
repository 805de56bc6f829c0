// Bodies in chunks, from strangers and from those with a key, against a real server: an honest
// sender reads his answer, nobody keeps a worker busy with crumbs, and what is not answered is not
// charged.

import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLmdbCounterStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import { eventually } from '../eventually.ts'
import { type Heard, converse } from '../http/raw-socket.ts'
import { type Server, makeKey, newState, startServer, workersOf } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { bodyPiecesFree } from '../../src/http/request-body.ts'
import { refusedMsMax } from '../../src/http/request-handler.ts'

const path = '/v1/intelligence/ip-risk/check'
const body = '{"ip":"9.5.5.5"}'
const table = writeSmallTable()

let server: Server
let state: string
/** Of plan team: a rate of 50 a second, a quota. */
let key: string
/** With a rate of one a second. */
let slowKey: string
/** Whose units are counted. */
let countedKeys: readonly string[]

beforeAll(async () => {
  state = newState()
  key = await makeKey(state, { plan: 'team' })
  countedKeys = [await makeKey(state, { plan: 'team' }), await makeKey(state, { plan: 'team' })]
  slowKey = await makeKey(state, { plan: 'team', limits: { perSecond: 1, burst: 1 } })
  server = await startServer({ table, state })
})
afterAll(async () => {
  await server.stop()
})

const head = (key: string, more = 'Transfer-Encoding: chunked'): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${more}\r\n\r\n`
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const statusOf = ({ text }: Heard): number => Number(text.split(' ')[1])

/** Whether what came back is one answer of the length that it states, and JSON. */
function isWhole({ text }: Heard): boolean {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const sent = rest.join('\r\n\r\n')
  JSON.parse(sent)
  return head.includes(`\r\ncontent-length: ${Buffer.byteLength(sent, 'latin1')}`)
}

/** Units that a key's workers have taken. */
async function takenUnits(of: string): Promise<number> {
  const counters = await openLmdbCounterStore(state)
  try {
    const own = counters.list('20').filter(([name]) => name.endsWith(` ${of.split('_')[1]}`))
    return own.reduce((sum, [, units]) => sum + units, 0)
  } finally {
    await counters.close()
  }
}

describe('a request that is refused before its body, in chunks', () => {
  it('is answered whole, whether its body is there already, still comes or is large', async () => {
    const large = chunk('x'.repeat(60_000))
    for (const parts of [
      [head('irk_no') + chunk(body) + '0\r\n\r\n'],
      [head('irk_no'), chunk(body), '0\r\n\r\n'],
      [head('irk_no'), large, '0\r\n\r\n'],
      [head('irk_no') + body.split('').map(chunk).join('') + '0\r\n\r\n'],
    ]) {
      const heard = await converse(server.port, parts, { quietMs: 3000 })
      expect([statusOf(heard), isWhole(heard), heard.closed]).toEqual([401, true, true])
      expect(heard.text).toContain('connection: close')
      expect(heard.text).toContain('"code":"invalid_api_key"')
    }
  })

  it('is answered before its body ends, and closed where that never comes', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(head('irk_no') + chunk('x'))
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toContain('401 Unauthorized')
    const begunMs = performance.now()
    await once(socket.resume(), 'close')
    expect(performance.now() - begunMs).toBeGreaterThan(refusedMsMax / 2)
    expect(await server.metric('iprisk_requests_aborted_total')).toBe(0)
  })

  it('of another path or method, or above its rate, is answered in the same way', async () => {
    const asks: readonly (readonly [number, string])[] = [
      [404, head(key).replace(path, '/nothing')],
      [405, head(key).replace('POST', 'PUT')],
    ]
    for (const [status, text] of asks) {
      const heard = await converse(server.port, [text, chunk(body), '0\r\n\r\n'])
      expect([statusOf(heard), isWhole(heard)]).toEqual([status, true])
    }
    const answers = []
    for (let i = 0; i < 3; i += 1)
      answers.push(await converse(server.port, [head(slowKey), chunk(body), '0\r\n\r\n']))
    expect(answers.map(statusOf)).toContain(429)
  })
})

/** Sends `count` chunks of a byte; how many bytes the server took before it closed. */
async function sendCrumbs(socket: Socket, text: string, count: number): Promise<void> {
  socket.on('error', () => undefined)
  socket.write(text + '1\r\nx\r\n'.repeat(count))
  await new Promise((resolve) => socket.resume().on('close', resolve))
}

const cutOff = (): Promise<number> => server.metric('iprisk_connections_closed_total', 'work')

describe('a body in crumbs', () => {
  it('is cut off, with a key or without, and the worker lives', async () => {
    const before = await cutOff()
    for (const one of ['irk_no', key]) {
      const sockets = Array.from({ length: 40 }, () => connect(server.port, '127.0.0.1'))
      await Promise.all(sockets.map((socket) => sendCrumbs(socket, head(one), 60_000)))
    }
    // GET of the OpenAPI document needs no key.
    const open = head('irk_no').replace(`POST ${path}`, 'GET /openapi.json')
    await sendCrumbs(connect(server.port, '127.0.0.1'), open, 60_000)
    expect((await cutOff()) - before).toBe(81)
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(0)
  }, 60_000)

  it('that an honest sender writes is served', async () => {
    const crumbs = body
      .padEnd(bodyPiecesFree - 1)
      .split('')
      .map(chunk)
      .join('')
    const chunked = await converse(server.port, [head(key) + crumbs + '0\r\n\r\n'])
    expect(statusOf(chunked)).toBe(200)
    const bytes = [head(key, `Content-Length: ${body.length}`), ...body.split('')]
    expect(statusOf(await converse(server.port, bytes, { gapMs: 1 }))).toBe(200)
  })
})

describe('requests without a key, many on each connection', () => {
  it('are answered while they are few; a turn full of them is cut short', async () => {
    const request = head('irk_no', `Content-Length: ${body.length}`) + body
    const heard = await converse(server.port, [request.repeat(20)])
    expect(heard.text.match(/401 Unauthorized/g)).toHaveLength(20)
    const sockets = Array.from({ length: 20 }, () => connect(server.port, '127.0.0.1'))
    const closed = sockets.map((socket) => {
      socket.on('error', () => undefined).write(request.repeat(3000))
      return new Promise((resolve) => socket.resume().on('close', resolve))
    })
    const before = await cutOff()
    await Promise.race(closed)
    expect(await cutOff()).toBeGreaterThan(before)
    for (const socket of sockets) socket.destroy()
  })
})

describe('the quota', () => {
  it('is not charged for a request that the parser refuses after its body: a trailer', async () => {
    const [key = ''] = countedKeys
    const trailer = `${head(key)}${chunk(body)}0\r\nX-Trailer: 1\r\n\r\n`
    for (let i = 0; i < 40; i += 1) {
      const heard = await converse(server.port, [trailer], { quietMs: 50 })
      expect(statusOf(heard)).not.toBe(200)
    }
    const served = await converse(server.port, [head(key, `Content-Length: ${body.length}`) + body])
    expect(served.text).toMatch(/ratelimit: .*"quota";r=999999;/i)
  })

  it('gets back what a killed worker had leased, within five seconds, and never more', async () => {
    const [, key = ''] = countedKeys
    const request = head(key, `Content-Length: ${body.length}`) + body
    for (let i = 0; i < 7; i += 1)
      expect(statusOf(await converse(server.port, [request], { quietMs: 50 }))).toBe(200)
    expect(await takenUnits(key)).toBeGreaterThan(7)
    const [pid = 0] = workersOf(server)
    process.kill(pid, 'SIGKILL')
    await eventually(async () => (await takenUnits(key)) === 7, 5000)
    // The units may be back before the next worker listens.
    await eventually(async () => statusOf(await converse(server.port, [request])) === 200)
  })
})
