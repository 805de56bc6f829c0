// The framing guard on raw sockets, with real workers behind it. A smuggled request asks for an
// address of a class that nothing honest here asks for, so the server's own counters say whether
// one was ever served, whatever became of its answer.

import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeSmallTable } from '../table/small.ts'
import { type Server, makeKey, startServer } from './server.ts'
import { converse, responsesIn } from './socket.ts'

const path = '/v1/intelligence/ip-risk/check'
/** A plain home line in the small table. */
const honestBody = '{"ip":"9.5.5.5"}'
/** A Tor exit in the small table. */
const smuggledBody = '{"ip":"9.1.2.3"}'

let server: Server
let key = ''

beforeAll(async () => {
  server = await startServer({ table: writeSmallTable() })
  key = await makeKey(server.state)
  await new Promise((resolve) => setTimeout(resolve, 600))
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

function smuggled(): string {
  return `${head('smuggled')}Content-Length: ${smuggledBody.length}\r\n\r\n${smuggledBody}`
}

const chunks = (...datas: readonly string[]): string =>
  [...datas, ''].map((data) => `${data.length.toString(16)}\r\n${data}\r\n`).join('')

type Case = readonly [name: string, parts: () => readonly string[]]

/** Framing lines, then the honest body, then the smuggled request. */
const withLines =
  (lines: string, body = honestBody) =>
  (): readonly string[] => [`${head()}${lines}\r\n${body}${smuggled()}`]

const honestLength = `Content-Length: ${honestBody.length}\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'
const honestChunks = chunks(honestBody)
const longLength = (): string => `Content-Length: ${(honestBody + smuggled()).length}\r\n`

const cases: readonly Case[] = [
  ['two Content-Length, the shorter first', () => withLines(honestLength + longLength())()],
  ['two Content-Length, the shorter last', () => withLines(longLength() + honestLength)()],
  ['two Content-Length, alike', withLines(honestLength + honestLength)],
  ['two Content-Length, one of them 0', withLines(`Content-Length: 0\r\n${honestLength}`)],
  ['Content-Length, then Transfer-Encoding', withLines(honestLength + chunked, honestChunks)],
  ['Transfer-Encoding, then Content-Length', withLines(chunked + honestLength, honestChunks)],
  ['Content-Length 0 and Transfer-Encoding', withLines(`Content-Length: 0\r\n${chunked}`)],
  ['coding xchunked', withLines('Transfer-Encoding: xchunked\r\n', honestChunks)],
  ['coding "gzip, chunked"', withLines('Transfer-Encoding: gzip, chunked\r\n', honestChunks)],
  ['coding "chunked, gzip"', withLines('Transfer-Encoding: chunked, gzip\r\n', honestChunks)],
  ['coding "chunked, chunked"', withLines('Transfer-Encoding: chunked, chunked\r\n', honestChunks)],
  ['coding identity', withLines('Transfer-Encoding: identity\r\n', honestChunks)],
  ['coding identity with a length', withLines(`Transfer-Encoding: identity\r\n${honestLength}`)],
  ['coding empty', withLines('Transfer-Encoding:\r\n', honestChunks)],
  ['coding empty with a length', withLines(`Transfer-Encoding:\r\n${honestLength}`)],
  ['coding with a parameter', withLines('Transfer-Encoding: chunked;q=1\r\n', honestChunks)],
  ['coding in quotes', withLines('Transfer-Encoding: "chunked"\r\n', honestChunks)],
  ['coding with a vertical tab', withLines('Transfer-Encoding: \x0bchunked\r\n', honestChunks)],
  ['coding with a byte above ASCII', withLines('Transfer-Encoding: chunked\xa0\r\n', honestChunks)],
  ['two codings, chunked and identity', withLines(`${chunked}Transfer-Encoding: identity\r\n`)],
  ['two codings, identity and chunked', withLines(`Transfer-Encoding: identity\r\n${chunked}`)],
  ['two codings, both chunked', withLines(chunked + chunked, honestChunks)],
  ['a space before the colon of the coding', withLines('Transfer-Encoding : chunked\r\n')],
  ['a space before the colon of the length', withLines('Content-Length : 16\r\n')],
  ['a folded coding', withLines(`X: a\r\n Transfer-Encoding: chunked\r\n${honestLength}`)],
  ['a coding behind a bare line feed', withLines(`X: a\nTransfer-Encoding: chunked\r\n`)],
  ['a coding behind a bare return', withLines(`X: a\rTransfer-Encoding: chunked\r\n`)],
  ['a NUL in a value', withLines(`X: a\0b\r\n${honestLength}`)],
  ['a header without a colon', withLines(`Transfer-Encoding chunked\r\n${honestLength}`)],
  ['two Host, alike', withLines(`Host: a\r\n${honestLength}`)],
  ['two Host, different', withLines(`Host: b\r\n${honestLength}`)],
  [
    'no Host',
    () => [`${head().replace('Host: a\r\n', '')}${honestLength}\r\n${honestBody}${smuggled()}`],
  ],
  ['an empty name that hides the length', withLines(`: x\r\n${honestLength}`)],
  ['an empty name that hides a coding', withLines(`: x\r\n${chunked}`, honestChunks)],
  [
    'an empty name that hides a coding behind a length',
    () => [
      `${head()}Content-Length: 4\r\n: x\r\n${chunked}\r\n${smuggled().length.toString(16)}\r\n${smuggled()}\r\n0\r\n\r\n`,
    ],
  ],
  [
    'an empty name as the first header',
    () => [`${head().replace('Host', ': x\r\nHost')}${honestLength}\r\n${honestBody}${smuggled()}`],
  ],
  ['a length with a sign', withLines('Content-Length: +16\r\n')],
  ['a length below zero', withLines('Content-Length: -16\r\n')],
  ['a length with a base', withLines('Content-Length: 0x10\r\n')],
  ['a list of lengths', withLines('Content-Length: 16, 16\r\n')],
  ['a length with a space inside', withLines('Content-Length: 1 6\r\n')],
  ['a length with a vertical tab', withLines('Content-Length: \x0b16\r\n')],
  ['a length with a fraction', withLines('Content-Length: 16.0\r\n')],
  ['an empty length', withLines('Content-Length:\r\n')],
  ['a length of 20 digits', withLines('Content-Length: 18446744073709551632\r\n')],
  ['no length at all', withLines('')],
  ['chunks, then a request in one segment', withLines(chunked, honestChunks)],
  ['chunks, then a request later', () => [`${head()}${chunked}\r\n${honestChunks}`, smuggled()]],
  ['a last chunk without its CRLF', withLines(chunked, honestChunks.slice(0, -2))],
  [
    'a last chunk without its CRLF, the request later',
    () => [`${head()}${chunked}\r\n${honestChunks.slice(0, -2)}`, smuggled()],
  ],
  ['chunk data without CRLF', withLines(chunked, `10\r\n${honestBody}0\r\n\r\n`)],
  ['chunks that end in line feeds', withLines(chunked, `10\n${honestBody}\n0\n\n`)],
  ['a chunk size with a base', withLines(chunked, `0x10\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk size below zero', withLines(chunked, `-10\r\n${honestBody}\r\n0\r\n\r\n`)],
  [
    'a chunk size that wraps around',
    withLines(chunked, `10000000000000010\r\n${honestBody}\r\n0\r\n\r\n`),
  ],
  ['an empty chunk size', withLines(chunked, `\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk size behind spaces', withLines(chunked, ` 10\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension', withLines(chunked, `10;a=b\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension with a line feed', withLines(chunked, `10;\n${honestBody}\r\n0\r\n\r\n`)],
  ['a trailer that looks like a request', withLines(chunked, `10\r\n${honestBody}\r\n0\r\n`)],
  ['a chunk shorter than its size', withLines(chunked, `ff\r\n${honestBody}\r\n0\r\n\r\n`)],
  [
    'HTTP/1.0',
    () => [`${head().replace('1.1', '1.0')}${honestLength}\r\n${honestBody}${smuggled()}`],
  ],
  [
    'HTTP/1.2',
    () => [`${head().replace('1.1', '1.2')}${honestLength}\r\n${honestBody}${smuggled()}`],
  ],
  ['no HTTP version', () => [`POST ${path}\r\n${honestLength}\r\n${honestBody}${smuggled()}`]],
  [
    'a GET whose body is a request',
    () => [
      `${head().replace('POST', 'GET')}Content-Length: ${smuggled().length}\r\n\r\n${smuggled()}`,
    ],
  ],
  [
    'a GET without a length, then a request',
    () => [`${head().replace('POST', 'GET')}\r\n${smuggled()}`],
  ],
  [
    'a HEAD without a length, then a request',
    () => [`${head('honest', '/openapi.json').replace('POST', 'HEAD')}\r\n${smuggled()}`],
  ],
  [
    'a HEAD, then a request in one segment',
    () => [
      `${head('honest', '/openapi.json').replace('POST', 'HEAD')}Content-Length: 0\r\n\r\n${smuggled()}`,
    ],
  ],
  [
    'a HEAD, then a request later',
    () => [
      `${head('honest', '/openapi.json').replace('POST', 'HEAD')}Content-Length: 0\r\n\r\n`,
      smuggled(),
    ],
  ],
  [
    'a HEAD whose body is a request',
    () => [
      `${head().replace('POST', 'HEAD')}Content-Length: ${smuggled().length}\r\n\r\n${smuggled()}`,
    ],
  ],
  [
    'a HEAD in chunks, then a request',
    () => [`${head().replace('POST', 'HEAD')}${chunked}\r\n${honestChunks}${smuggled()}`],
  ],
  ['a client that says close, then a request', withLines(`Connection: close\r\n${honestLength}`)],
  [
    'a client that says keep-alive, close',
    withLines(`Connection: keep-alive, Close\r\n${honestLength}`),
  ],
  [
    'a body of 401 that is a request',
    () => [
      `${head().replace(key, 'none')}Content-Length: ${smuggled().length}\r\n\r\n${smuggled()}`,
    ],
  ],
  [
    'a body of 404 that is a request',
    () => [`${head('honest', '/')}Content-Length: ${smuggled().length}\r\n\r\n${smuggled()}`],
  ],
  [
    'a body of 413 that is many requests',
    () => [`${head()}Content-Length: ${smuggled().length * 600}\r\n\r\n${smuggled().repeat(600)}`],
  ],
  ['headers that are too large', withLines(`X: ${'a'.repeat(8000)}\r\n${honestLength}`)],
  [
    'line feeds for line ends',
    () => [(head() + honestLength).replaceAll('\r', '') + `\n${honestBody}${smuggled()}`],
  ],
]

describe('smuggling', () => {
  it.each(cases)('%s: nothing smuggled is served', async (_name, parts) => {
    const before = await server.metric('iprisk_answers_total', 'tor')
    const heard = await converse(server.port, parts())
    expect(heard.text).not.toContain('smuggled')
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(before)
  })

  it('has at least forty cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(40)
  })

  it('leaves the server unhurt', async () => {
    const heard = await converse(server.port, [honest()])
    expect(responsesIn(heard.text)).toMatchObject([{ status: 200 }])
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(0)
    expect(await server.metric('iprisk_framing_refusals_total')).toBeGreaterThan(10)
  })

  it('would see a smuggled request if one were served', async () => {
    const before = await server.metric('iprisk_answers_total', 'tor')
    const heard = await converse(server.port, [honest() + smuggled()])
    expect(heard.text).toContain('smuggled')
    expect(await server.metric('iprisk_answers_total', 'tor')).toBe(before + 1)
  })
})

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
