// Requests that use each other's objects again (request.ts): what one of them left behind, or still
// does, reaches no other; and the headers that are bytes say what the text says (head.ts).

import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import * as fc from 'fast-check'
import type { us_listen_socket } from 'uWebSockets.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAllowance } from '../../src/account/allowance.ts'
import { remainingAt } from '../../src/account/header.ts'
import type { Authenticated } from '../../src/account/keyring.ts'
import type { Limiter } from '../../src/account/limiter.ts'
import { createLog } from '../../src/base/log.ts'
import { newCounters } from '../../src/server/counters.ts'
import { type Service, newExchange } from '../../src/server/exchange.ts'
import { contentHeaders, headBytes } from '../../src/server/head.ts'
import { limitHeaders } from '../../src/server/limit.ts'
import { handleRequest } from '../../src/server/request.ts'
import { overdueMs } from '../../src/server/pulse.ts'
import { requestIds } from '../../src/server/requestid.ts'
import { checkEndpoint } from '../../src/server/route.ts'
import { loadUws } from '../../src/server/uws.ts'
import { openTable } from '../../src/table/open.ts'
import { writeSmallTable } from '../table/small.ts'
import { responsesIn } from './socket.ts'

const table = openTable(writeSmallTable())
const key: Authenticated = {
  kind: 'authenticated',
  keyId: 'test',
  plan: 'internal',
  apis: ['ip-risk'],
  insights: 'never',
  limits: {},
  allowance: newAllowance('test', {}),
}

/** What the limiter says, changed by the tests of headers. */
const left = { policy: '', values: [-1, -1, -1, -1] }
const limiter = {
  admit: () => 0,
  spend: () => 0,
  policy: () => {
    if (left.policy === 'broken') throw new Error('broken')
    return left.policy
  },
  remaining: (_key: unknown, _nowMs: number, out: Float64Array) => out.set(left.values),
} as unknown as Limiter

/** Of requests, in the place of the clock's. */
let beats = 0

const service: Service = {
  keyring: { authenticate: () => key, known: () => true },
  limiter,
  counters: newCounters(),
  log: createLog({ level: 'silent' } as never),
  requestIds: requestIds(),
  table: () => table,
  file: () => undefined,
  pool: undefined as never,
  pulse: {
    beatenMs: Infinity,
    beat: (nowMs) => {
      beats += 1
      service.pulse.beatenMs = nowMs
    },
  },
  logRequests: false,
  logAddresses: false,
  pending: 0,
  draining: false,
}

let listening: us_listen_socket
let port = 0
let stop: () => void

beforeAll(async () => {
  const uws = await loadUws()
  const app = uws.App()
  app.post('/nowhere', (res, req) => handleRequest(service, res, req))
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

describe('an answer that cannot be written', () => {
  it('closes its connection, at once or in a later turn, and is not waited for', async () => {
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
})

describe('headers as bytes', () => {
  const amount = fc.oneof(fc.constant(0), fc.nat(2000), fc.nat({ max: 999_999_999_999_999 }))
  const limit = fc.option(fc.tuple(amount, amount), { nil: [-1, -1] as const })

  it('say what the text says', () => {
    const exchange = newExchange(service, undefined as never)
    const number = fc.nat({ max: 36 ** 8 - 1 })
    const policy = fc.constantFrom(
      '"rate";q=100;w=2',
      '"quota";q=5;w=60',
      '"rate";q=1;w=1, "quota"',
    )
    const run = fc.record({ rate: limit, quota: limit, policy, number, own: fc.boolean() })
    fc.assert(
      fc.property(run, ({ rate, quota, policy, number, own }) => {
        const limited = rate[0] >= 0 || quota[0] >= 0
        left.policy = limited ? policy : ''
        left.values[remainingAt.rate] = rate[0]
        left.values[remainingAt.rateReset] = rate[1]
        left.values[remainingAt.quota] = quota[0]
        left.values[remainingAt.quotaReset] = quota[1]
        exchange.key = key
        exchange.clientId = own ? '' : 'theirs'
        exchange.idNumber = number
        const id = own ? `\r\nx-request-id: ${service.requestIds.text(number)}` : ''
        const text = Buffer.from(headBytes(exchange, 1)).toString('latin1')
        expect(text).toBe(contentHeaders + id + limitHeaders(exchange, 1))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a turn of the loop in which no timer fires', () => {
  it('beats from its requests, and no oftener than is overdue', async () => {
    service.pulse.beatenMs = performance.now() - 2 * overdueMs
    beats = 0
    const client = await newClient()
    const all = Array.from({ length: 20 }, () => head('9.9.9.9') + bodyOf('9.9.9.9')).join('')
    client.socket.write(all)
    await client.heard(20)
    client.socket.destroy()
    expect(beats).toBe(1)
    service.pulse.beatenMs = Infinity
  })
})
