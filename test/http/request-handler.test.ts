// Requests that use each other's objects again (request-handler.ts): what one left reaches no other.
// Bodies that never end hold no more than they may (body-budget.ts), nor answers that nobody reads.

import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import type { us_listen_socket } from 'uWebSockets.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Limiter } from '../../src/account/limits/limiter.ts'
import { type Log, type LogDetails, createLog } from '../../src/base/log.ts'
import { checkBodyBytesMax } from '../../src/api/public-port.ts'
import {
  bodyBudgetBytes,
  createBodyBudget,
  createRefusalBudget,
} from '../../src/http/exchange/body-budget.ts'
import {
  newRequestCounters,
  counterSnapshot,
  counterTotals,
} from '../../src/observe/request-counters.ts'
import { type Service, exchangeStates } from '../../src/http/exchange/exchange.ts'
import { handleRequest } from '../../src/http/request-handler.ts'
import { heartbeatMs } from '../../src/observe/heartbeat.ts'
import { createRequestIds } from '../../src/http/exchange/request-id.ts'
import { type Endpoint, checkEndpoint } from '../../src/http/routes.ts'
import { piecesAhead, streamJson } from '../../src/http/reply/response-stream.ts'
import { loadUws } from '../../src/http/listen/load-uws.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { keyOf } from '../serve/key.ts'
import { responsesIn } from './raw-socket.ts'
import { createServedPolicies } from '../../src/http/exchange/served-policies.ts'

const table = openTable(writeSmallTable())
/** Whose requests come next. */
let key = keyOf('test')
/** What the limiter says; `broken` makes it throw. */
const left = { policy: '', values: [-1, -1, -1, -1] }
let spent = 0
const limiter = {
  spendRate: () => 0,
  spendQuota: () => {
    spent += 1
    return 0
  },
  spentMonth: () => 0,
  policy: () => {
    if (left.policy === 'broken') throw new Error('broken')
    return left.policy
  },
  remaining: (_key: unknown, _nowMs: number, out: Float64Array) => out.set(left.values),
} as unknown as Limiter

const counters = newRequestCounters()
/** Room for eight largest bodies of a check. */
const bodiesBytes = 8 * checkBodyBytesMax
const saidOfBodies: unknown[] = []
const bodiesLog = {
  warn: ({ keyId }: LogDetails) => void saidOfBodies.push(keyId),
  info: () => void saidOfBodies.push('room'),
} as unknown as Log

let beats = 0

const service: Service = {
  keyring: { authenticate: () => key, holds: () => false, known: () => true },
  limiter,
  counters,
  log: createLog({ level: 'silent' } as never),
  requestIds: createRequestIds(),
  table: () => table,
  file: () => undefined,
  lists: () => undefined,
  pool: undefined as never,
  verifier: undefined as never,
  stateFolder: '',
  bodyBudget: createBodyBudget({ counters, log: bodiesLog, bytesMax: bodiesBytes }),
  refusalBudget: createRefusalBudget(),
  heartbeat: {
    lastBeatMs: Infinity,
    beat: (nowMs) => {
      beats += 1
      service.heartbeat.lastBeatMs = nowMs
    },
  },
  policies: createServedPolicies(),
  logRequests: false,
  logAddresses: false,
  pending: 0,
  draining: false,
}

/** An answer of 128 MB, far more than sockets hold. */
const pieces = { count: 512, bytes: 1 << 18, asked: 0, given: 0, aheadMost: 0 }
const inPieces: Endpoint = {
  access: 'open',
  answer: (exchange) => {
    const piece = Buffer.alloc(pieces.bytes, '1')
    streamJson(exchange, {
      count: pieces.count,
      before: '{"pieces":[',
      between: ',',
      after: ']}',
      ask: (_index, give) => {
        pieces.asked += 1
        pieces.aheadMost = Math.max(pieces.aheadMost, pieces.asked - pieces.given)
        setImmediate(() => {
          pieces.given += 1
          if (exchange.state !== exchangeStates.gone) exchange.res.cork(() => give(piece))
        })
      },
    })
  },
}

let listening: us_listen_socket
let port = 0
let stop: () => void

beforeAll(async () => {
  const uws = await loadUws()
  const app = uws.App()
  app.post('/nowhere', (res, req) => handleRequest(service, res, req))
  app.post('/pieces', (res, req) => handleRequest(service, res, req, inPieces))
  app.post('/*', (res, req) => handleRequest(service, res, req, checkEndpoint))
  await new Promise<void>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) {
        reject(new Error('no port'))
        return
      }
      listening = socket
      port = uws.us_socket_local_port(socket)
      resolve()
    })
  })
  stop = () => uws.us_listen_socket_close(listening)
})
afterAll(() => stop())

function head(ip: string): string {
  const { length } = bodyOf(ip)
  return `POST /check HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${ip}\r\nContent-Length: ${length}\r\n\r\n`
}
function bodyOf(ip: string): string {
  return JSON.stringify({ ip })
}
const answerTo = (ip: string): string => JSON.stringify(table.check(ip))

interface Client {
  readonly socket: Socket
  /** The answers once there are so many. */
  readonly heard: (count: number) => Promise<readonly string[]>
}

async function newClient(): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  const whole = (): readonly string[] => {
    try {
      return responsesIn(text).map(({ headers, body }) => `${headers['x-request-id']} ${body}`)
    } catch {
      // Half an answer; the rest is on its way.
      return []
    }
  }
  const heard = async (count: number): Promise<readonly string[]> => {
    while (whole().length < count) await once(socket, 'data')
    return whole()
  }
  return { socket, heard }
}

/** Until the server has taken in what was sent before: it answers another request meanwhile. */
async function settle(): Promise<void> {
  const client = await newClient()
  client.socket.write(head('9.9.9.9') + bodyOf('9.9.9.9'))
  await client.heard(1)
  client.socket.destroy()
}

const said = (ip: string): string => `${ip} ${answerTo(ip)}`

describe('requests one after the other', () => {
  it('on a connection, pipelined, are answered each with its own', async () => {
    const client = await newClient()
    const ips = ['9.1.2.3', '11.1.1.1', '10.0.0.1', '9.200.0.1']
    client.socket.write(ips.map((ip) => head(ip) + bodyOf(ip)).join(''))
    expect(await client.heard(ips.length)).toEqual(ips.map(said))
    client.socket.destroy()
    expect(service.pending).toBe(0)
  })

  it('in one turn of the loop, on connections of their own, are answered each with its own', async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, newClient))
    const ips = clients.map((_, i) => `${i % 2 === 0 ? 9 : 11}.${i}.2.3`)
    for (let round = 1; round <= 3; round++) {
      for (const [i, { socket }] of clients.entries()) socket.write(head(ips[i]!) + bodyOf(ips[i]!))
      for (const [i, { heard }] of clients.entries()) {
        expect(await heard(round)).toEqual(Array.from({ length: round }, () => said(ips[i]!)))
      }
    }
    for (const { socket } of clients) socket.destroy()
    expect(service.pending).toBe(0)
  })

  it('in one turn of the loop, where making answers throws, close their connections', async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, newClient))
    const request = head('9.1.2.3') + bodyOf('9.1.2.3')
    const ask = (): void => clients.forEach(({ socket }) => socket.write(request))
    for (let round = 1; round <= 5; round++) {
      ask()
      await Promise.all(clients.map(({ heard }) => heard(round)))
    }
    left.policy = 'broken'
    ask()
    await Promise.all(clients.map(({ socket }) => once(socket, 'close')))
    left.policy = ''
    expect(service.pending).toBe(0)
  })

  it('pipelined beside many others are answered, or their connection is closed: then none is charged', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, newClient))
    let closed = 0
    for (let round = 1; round <= 20; round++) {
      const two = await newClient()
      spent = 0
      for (const { socket } of clients) socket.write(head('9.9.9.9') + bodyOf('9.9.9.9'))
      two.socket.write(['9.1.2.3', '11.1.1.1'].map((ip) => head(ip) + bodyOf(ip)).join(''))
      const ended = once(two.socket, 'close').then(() => [])
      const heard = await Promise.race([two.heard(2), ended])
      for (const client of clients) await client.heard(round)
      if (heard.length === 0) closed += 1
      const all = heard.length === 0 ? [] : [said('9.1.2.3'), said('11.1.1.1')]
      expect(heard).toEqual(all)
      expect(spent).toBe(clients.length + heard.length)
      two.socket.destroy()
    }
    for (const { socket } of clients) socket.destroy()
    expect(service.pending).toBe(0)
    // Else nothing was answered together.
    expect(closed).toBeGreaterThan(0)
  })

  it('that wait for their bodies are not those that are answered meanwhile', async () => {
    const [slow, quick] = [await newClient(), await newClient()]
    slow.socket.write(`${head('9.1.2.3')}{"ip"`)
    await settle()
    expect(service.pending).toBe(1)
    quick.socket.write(head('11.1.1.1') + bodyOf('11.1.1.1'))
    expect(await quick.heard(1)).toEqual([said('11.1.1.1')])
    slow.socket.write(bodyOf('9.1.2.3').slice(5))
    expect(await slow.heard(1)).toEqual([said('9.1.2.3')])
    expect(service.pending).toBe(0)
    slow.socket.destroy()
    quick.socket.destroy()
  })

  it('go on where the connection closes whose request used the same objects before', async () => {
    const [before, after] = [await newClient(), await newClient()]
    before.socket.write(head('9.1.2.3') + bodyOf('9.1.2.3'))
    await before.heard(1)
    after.socket.write(`${head('11.1.1.1')}{"ip"`)
    await settle()
    before.socket.resetAndDestroy()
    await settle()
    expect(service.pending).toBe(1)
    after.socket.write(bodyOf('11.1.1.1').slice(5))
    expect(await after.heard(1)).toEqual([said('11.1.1.1')])
    after.socket.destroy()
  })

  it('follow one that was aborted in its body', async () => {
    const [gone, next] = [await newClient(), await newClient()]
    gone.socket.write(`${head('9.1.2.3')}{"ip"`)
    await settle()
    gone.socket.resetAndDestroy()
    while (service.pending > 0) await settle()
    next.socket.write(head('11.1.1.1') + bodyOf('11.1.1.1'))
    expect(await next.heard(1)).toEqual([said('11.1.1.1')])
    next.socket.destroy()
  })
})

describe('a body that nobody asks for', () => {
  const nowhere = (length: number): string =>
    `POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

  it('takes no room while it comes', async () => {
    const most = Buffer.alloc(60_000, '{')
    const clients = await Promise.all(Array.from({ length: 100 }, newClient))
    const before = process.memoryUsage().arrayBuffers
    for (const { socket } of clients) {
      socket.write(nowhere(65_536))
      socket.write(most)
    }
    while (service.pending < clients.length) await settle()
    // What has been sent by now is read within a turn or two.
    await settle()
    await settle()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000)
    for (const { socket } of clients) socket.destroy()
    while (service.pending > 0) await settle()
  })

  /** Sent in two pieces, of which the first is its first byte. */
  async function sendTwice(first: string): Promise<Client> {
    const client = await newClient()
    client.socket.write(nowhere(3) + first)
    await settle()
    expect(service.pending).toBe(1)
    client.socket.write('{}')
    const [answer] = await client.heard(1)
    expect(answer).toContain('"code":"not_found"')
    return client
  }

  it('leaves the connection to the next request', async () => {
    const { socket, heard } = await sendTwice('{')
    socket.write(nowhere(0))
    expect((await heard(2)).length).toBe(2)
    socket.destroy()
  })

  it('ends the connection where it begins as a chunk would', async () => {
    const { socket } = await sendTwice('a')
    await once(socket, 'close')
    expect(service.pending).toBe(0)
  })
})

describe('bodies that come and never end', () => {
  const stuck = checkBodyBytesMax - 1
  const post = (length: number): string =>
    `POST /check HTTP/1.1\r\nHost: a\r\nX-Request-Id: x\r\nContent-Length: ${length}\r\n\r\n`

  /** All but the last byte of the largest body, its answer in it. */
  async function begin(count: number): Promise<readonly Client[]> {
    const clients = await Promise.all(Array.from({ length: count }, newClient))
    for (const { socket } of clients) {
      socket.write(post(checkBodyBytesMax) + bodyOf('9.1.2.3').padEnd(stuck, ' '))
    }
    return clients
  }
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await settle()
  }

  it('hold no more than there is room for, and no key more than half; others are told 503', async () => {
    key = keyOf('greedy')
    const greedy = await begin(10)
    await until(() => counterTotals(counterSnapshot(counters)).shed === 6)
    expect(counters.bodyBytes).toBe(bodiesBytes / 2)
    expect(saidOfBodies).toEqual(['greedy'])
    // A small check has room all the same, in one piece or in two.
    const small = await newClient()
    small.socket.write(`${head('9.1.2.3')}{"ip"`)
    await until(() => counters.bodyBytes > bodiesBytes / 2)
    small.socket.write(bodyOf('9.1.2.3').slice(5))
    expect(await small.heard(1)).toEqual([said('9.1.2.3')])
    small.socket.destroy()

    key = keyOf('modest')
    const modest = await begin(4)
    await until(() => counters.bodyBytes === bodiesBytes)
    key = keyOf('third')
    const [late] = await begin(1)
    await until(() => counterTotals(counterSnapshot(counters)).shed === 7)
    expect(counters.bodyBytes).toBe(bodiesBytes)
    key = keyOf('test')

    // Told when its body has ended, on a connection that goes on; those with room are answered.
    late!.socket.write(' ')
    expect((await late!.heard(1))[0]).toContain('"code":"upstream_unavailable"')
    late!.socket.write(head('9.1.2.3') + bodyOf('9.1.2.3'))
    expect((await late!.heard(2))[1]).toBe(said('9.1.2.3'))
    for (const { socket } of modest) socket.write(' ')
    for (const { heard } of modest) expect(await heard(1)).toEqual([`x ${answerTo('9.1.2.3')}`])
    expect(counters.bodyBytes).toBe(bodiesBytes / 2)

    // What goes away gives its room back, too.
    for (const { socket } of [...greedy, ...modest, late!]) socket.resetAndDestroy()
    await until(() => service.pending === 0)
    expect(counters.bodyBytes).toBe(0)
    // Said once while it lasted, and that it is over.
    expect(saidOfBodies).toEqual(['greedy', 'room'])
    key = keyOf('again')
    const again = await begin(5)
    await until(() => saidOfBodies.length > 2)
    expect(saidOfBodies.slice(2)).toEqual(['again'])
    for (const { socket } of again) socket.resetAndDestroy()
    await until(() => service.pending === 0)
    key = keyOf('test')
    expect(saidOfBodies.slice(2)).toEqual(['again', 'room'])
  })

  it('have a part of what a worker may hold, and never more than 128 MiB', () => {
    const mebibytes = [128, 1024, 2048, 65_536].map((mb) => bodyBudgetBytes(mb * 2 ** 20) / 2 ** 20)
    expect(mebibytes).toEqual([8, 64, 128, 128])
  })

  it('that had no room are told 413 where they become too large, and 503 where not', async () => {
    const greedy = await begin(4)
    await until(() => counters.bodyBytes === bodiesBytes / 2)
    const { shed } = counterTotals(counterSnapshot(counters))
    const chunked = 'POST /check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    const half = `8000\r\n${bodyOf('9.1.2.3').padEnd(0x8000, ' ')}\r\n`
    const codes: string[] = []
    for (const rest of ['', `${half}8000\r\n${' '.repeat(0x8000)}\r\n`]) {
      const client = await newClient()
      client.socket.write(chunked + half)
      await until(() => counterTotals(counterSnapshot(counters)).shed === shed + codes.length + 1)
      client.socket.write(`${rest}0\r\n\r\n`)
      codes.push(/"code":"(\w+)"/.exec((await client.heard(1))[0]!)![1]!)
      client.socket.destroy()
    }
    expect(codes).toEqual(['upstream_unavailable', 'payload_too_large'])
    for (const { socket } of greedy) socket.resetAndDestroy()
    await until(() => service.pending === 0)
  })

  it('take no room where they state more than they may', async () => {
    const client = await newClient()
    client.socket.write(post(checkBodyBytesMax + 1))
    client.socket.write('{'.repeat(1000))
    await until(() => service.pending === 1)
    await settle()
    expect(counters.bodyBytes).toBe(0)
    client.socket.write('{'.repeat(checkBodyBytesMax - 999))
    expect((await client.heard(1))[0]).toContain('"code":"payload_too_large"')
    client.socket.destroy()
  })
})

describe('an answer in pieces', () => {
  const ask = 'POST /pieces HTTP/1.1\r\nHost: a\r\nX-Request-Id: x\r\nContent-Length: 2\r\n\r\n{}'

  it('is asked for only as far as its client takes it, and then goes on', async () => {
    pieces.asked = pieces.given = 0
    const { socket } = await newClient()
    socket.pause()
    socket.write(ask)
    // What sockets hold, several megabytes, is written; then nothing is asked for any more.
    let before = -1
    while (pieces.asked === 0 || pieces.asked !== before) {
      before = pieces.asked
      for (let i = 0; i < 50; i += 1) await settle()
    }
    expect(pieces.asked * pieces.bytes).toBeLessThan(pieces.count * pieces.bytes * 0.25)
    let heard = 0
    let tail = ''
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.length
      tail = (tail + chunk.subarray(-32).toString('latin1')).slice(-32)
    })
    socket.resume()
    while (!tail.endsWith(']}\r\n0\r\n\r\n')) await once(socket, 'data')
    expect(heard).toBeGreaterThan(pieces.count * pieces.bytes)
    expect([pieces.asked, pieces.aheadMost <= piecesAhead]).toEqual([pieces.count, true])
    socket.destroy()
  })

  it('is asked for no more when its client goes', async () => {
    pieces.asked = pieces.given = 0
    const { socket } = await newClient()
    socket.pause()
    socket.write(ask)
    while (pieces.given < 5) await settle()
    socket.resetAndDestroy()
    while (service.pending > 0) await settle()
    const { asked } = pieces
    await settle()
    expect(pieces.asked).toBe(asked)
    expect(asked).toBeLessThan(pieces.count)
  })
})

it('an answer that cannot be written closes its connection, at once or in a later turn, and is not waited for', async () => {
  for (const way of ['close', 'keep-alive']) {
    const { socket } = await newClient()
    left.policy = 'broken'
    const closed = once(socket, 'close')
    const lines = head('9.1.2.3').replace('Host: a', `Host: a\r\nConnection: ${way}`)
    socket.write(lines + bodyOf('9.1.2.3'))
    await closed
    left.policy = ''
    expect([way, service.pending]).toEqual([way, 0])
  }
})

it('a turn of the loop in which no timer fires beats from its requests, and no oftener than is overdue', async () => {
  service.heartbeat.lastBeatMs = performance.now() - 4 * heartbeatMs
  beats = 0
  const client = await newClient()
  client.socket.write((head('9.9.9.9') + bodyOf('9.9.9.9')).repeat(20))
  await client.heard(20)
  expect(beats).toBe(1)
  client.socket.destroy()
  service.heartbeat.lastBeatMs = Infinity
})
