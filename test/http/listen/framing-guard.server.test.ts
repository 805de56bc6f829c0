// Honest requests on raw sockets, in every form that the framing guard must let through. What it
// must not is in test/hostile.

import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkPath as path, chunks, honestBody } from '../../hostile/framing-cases.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { type Server, keyedState, startServer } from '../../serve/server.ts'
import { converse, responsesIn } from '../raw-socket.ts'

let server: Server
let key = ''

beforeAll(async () => {
  const keyed = await keyedState()
  key = keyed.key
  server = await startServer({ table: writeSmallTable(), state: keyed.state })
})

afterAll(async () => {
  await server.stop()
})

/** A head with everything but its framing. */
function head(id = 'honest', target = path): string {
  return `POST ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: ${id}\r\n`
}

function honest(id = 'honest'): string {
  return `${head(id)}Content-Length: ${honestBody.length}\r\n\r\n${honestBody}`
}

const honestLength = `Content-Length: ${honestBody.length}\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'
const honestChunks = chunks(honestBody)

describe('honest requests', () => {
  const served: readonly (readonly [string, () => readonly string[], number])[] = [
    ['a stated length', () => [honest()], 1],
    [
      'a length with leading zeros',
      () => [`${head()}Content-Length: 0016\r\n\r\n${honestBody}`],
      1,
    ],
    [
      'white space around the length',
      () => [`${head()}Content-Length: \t16 \t\r\n\r\n${honestBody}`],
      1,
    ],
    [
      'names in capitals',
      () => [honest().replace('Content-Length', 'CONTENT-LENGTH').replace('Host', 'HOST')],
      1,
    ],
    ['an empty Host', () => [honest().replace('Host: a', 'Host:')], 1],
    ['one chunk', () => [`${head()}${chunked}\r\n${honestChunks}`], 1],
    ['a chunk a byte', () => [`${head()}${chunked}\r\n${chunks(...honestBody.split(''))}`], 1],
    [
      'a coding in capitals',
      () => [`${head()}Transfer-Encoding: CHUNKED\r\n\r\n${honestChunks}`],
      1,
    ],
    [
      'a chunk size in capitals',
      () => [`${head()}${chunked}\r\n1A\r\n${' '.repeat(10)}${honestBody}\r\n0\r\n\r\n`],
      1,
    ],
    [
      'chunks in segments',
      () => [
        `${head()}${chunked}\r\n`,
        ...chunks(honestBody.slice(0, 5), honestBody.slice(5)).match(/[^]{1,7}/g)!,
      ],
      1,
    ],
    [
      'a request a byte at a time, its request line whole',
      () => {
        const line = honest().indexOf('\r\n') + 2
        return [honest().slice(0, line), ...honest().slice(line).split('')]
      },
      1,
    ],
    [
      'Expect: 100-continue',
      () => [`${head()}${honestLength}Expect: 100-continue\r\n\r\n`, honestBody],
      1,
    ],
    ['two in one segment', () => [honest('one') + honest('two')], 2],
    [
      'ten in one segment',
      () => [Array.from({ length: 10 }, (_, i) => honest(`n${i}`)).join('')],
      10,
    ],
    ['three one after the other', () => [honest('one'), honest('two'), honest('three')], 3],
    [
      'one that is wrong between two',
      () => [honest('one') + honest('two').replace('9.5.5.5', '9.5.5.x') + honest('three')],
      3,
    ],
    [
      'a request cut in the middle of the next',
      () => {
        const both = honest('one') + honest('two')
        return [both.slice(0, -40), both.slice(-40)]
      },
      2,
    ],
    [
      'a client that says close',
      () => [`${head()}Connection: close\r\n${honestLength}\r\n${honestBody}`],
      1,
    ],
  ]

  it.each(served)('%s', async (_name, parts, count) => {
    const heard = await converse(server.port, parts(), { gapMs: 3 })
    const responses = responsesIn(heard.text)
    expect(responses).toHaveLength(count)
    for (const [i, { status }] of responses.entries()) {
      const wrong = _name.startsWith('one that is wrong') && i === 1
      expect(status).toBe(wrong ? 400 : 200)
    }
  })

  it('closes when the client says close, and keeps the connection when it does not', async () => {
    const closing = await converse(server.port, [
      honest().replace('Host', 'Connection: close\r\nHost'),
    ])
    expect(closing.closed).toBe(true)
    expect(responsesIn(closing.text)).toMatchObject([{ status: 200 }])
    expect((await converse(server.port, [honest()])).closed).toBe(false)
  })

  const heads: readonly (readonly [target: string, status: number])[] = [
    ['/openapi.json', 200],
    ['/v1/intelligence/ip-risk/meta', 200],
    [path, 405],
    ['/x', 404],
  ]

  it.each(heads)('HEAD of %s is answered whole with %i, then closed', async (target, status) => {
    for (const length of ['', 'Content-Length: 0\r\n']) {
      const heard = await converse(server.port, [
        `${head('honest', target).replace('POST', 'HEAD')}${length}\r\n`,
      ])
      expect(heard.closed).toBe(true)
      const [response, ...others] = responsesIn(heard.text)
      expect(others).toEqual([])
      expect(response).toMatchObject({ status, body: '', headers: { connection: 'close' } })
      expect(Number(response?.headers['content-length'])).toBeGreaterThan(0)
      expect(heard.text.endsWith('\r\n\r\n')).toBe(true)
    }
  })

  it('HEAD without a key leaves no connection open, however many', async () => {
    const before = await server.metric('iprisk_aborted_requests_total')
    const all = await Promise.all(
      Array.from({ length: 300 }, () =>
        converse(server.port, ['HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n'], { quietMs: 3000 }),
      ),
    )
    expect(all.filter(({ closed }) => !closed)).toEqual([])
    expect(all.every(({ text }) => text.startsWith('HTTP/1.1 404 '))).toBe(true)
    expect(await server.metric('iprisk_aborted_requests_total')).toBe(before)
  })

  it('serves bodies in chunks from an HTTP client that reuses connections', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = 0; i < 5; i += 1) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const outgoing = request(
          {
            port: server.port,
            host: '127.0.0.1',
            path,
            method: 'POST',
            agent,
            headers: { authorization: `Bearer ${key}` },
          },
          (incoming) => {
            incoming.resume()
            incoming.on('end', () => resolve(incoming.statusCode))
          },
        )
        outgoing.on('error', reject)
        outgoing.write(honestBody.slice(0, 4))
        setTimeout(() => outgoing.end(honestBody.slice(4)), 5)
      })
      expect(status).toBe(200)
    }
    agent.destroy()
  })
})
