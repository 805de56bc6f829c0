// Node's reader of HTTP/1.1 against servers that mean harm or have another habit: in every split of
// the bytes the same reply, or none.

import * as fc from 'fast-check'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createReplyReader, type HttpReply } from '../../../src/client/transport/node-reply.ts'
import { createNodeTransport } from '../../../src/client/transport/node-transport.ts'
import { isClosedConnection } from '../../../src/client/transport/transport.ts'

const crlf = (...lines: readonly string[]): string => lines.join('\r\n')
const ok = 'HTTP/1.1 200 OK'
const chunked = 'Transfer-Encoding: chunked'
const bodyMax = 1000

type Outcome = HttpReply | 'more' | 'refused'

/** The first reply, or what ended the reading; `ends`: the connection ends after the bytes. */
function readIn(pieces: readonly Buffer[], ends = false): Outcome {
  const { take, end } = createReplyReader(bodyMax)
  try {
    for (const piece of pieces) {
      const reply = take(piece)
      if (reply !== undefined) return reply
    }
    return (ends ? end() : undefined) ?? 'more'
  } catch {
    return 'refused'
  }
}

const read = (text: string): Outcome => readIn([Buffer.from(text, 'latin1')])

/** In one piece, byte by byte, and cut once at each place. */
function splits(text: string): readonly (readonly Buffer[])[] {
  const whole = Buffer.from(text, 'latin1')
  const cut = Array.from(whole, (_, at) => [whole.subarray(0, at), whole.subarray(at)])
  return [[whole], Array.from(whole, (_, at) => whole.subarray(at, at + 1)), ...cut]
}

const plain = { status: 200, keepsAlive: true, idleSeconds: undefined, requestId: undefined }

describe('a reply', () => {
  it.each<[string, string, Partial<HttpReply>]>([
    ['with a length', crlf(ok, 'Content-Length: 4', '', 'text'), { text: 'text' }],
    ['without a body', crlf('HTTP/1.1 204 No Content', '', ''), { status: 204, text: '' }],
    [
      'with what the client reads of it',
      crlf(ok, 'CONTENT-length:0', 'keep-alive: timeout=7, max=9', 'X-Request-ID: \t r1 ', '', ''),
      { text: '', idleSeconds: 7, requestId: 'r1' },
    ],
    ['of one chunk', crlf(ok, chunked, '', '4', 'text', '0', '', ''), { text: 'text' }],
    [
      'of chunks with extensions and trailers',
      crlf(ok, chunked, '', '1;a="b"', 't', '003 ; c', 'ext', '00', 'Digest: x', '', ''),
      { text: 'text' },
    ],
    [
      'after interim ones',
      crlf('HTTP/1.1 100 Continue', '', 'HTTP/1.1 103 Early Hints', 'Link: x', '', ok) +
        crlf('', 'Content-Length: 1', '', 'x'),
      { text: 'x' },
    ],
    [
      'that ends its connection',
      crlf(ok, 'Connection: Close', 'Content-Length: 1', '', 'x'),
      { text: 'x', keepsAlive: false },
    ],
    [
      'of HTTP/1.0',
      crlf('HTTP/1.0 200 OK', 'Content-Length: 1', '', 'x'),
      { text: 'x', keepsAlive: false },
    ],
    [
      'of HTTP/1.0 that keeps its connection',
      crlf('HTTP/1.0 200', 'Content-Length: 1', 'Connection: keep-alive', '', 'x'),
      { text: 'x' },
    ],
  ])('%s is the same in every split', (_name, text, wanted) => {
    for (const pieces of splits(text)) expect(readIn(pieces)).toEqual({ ...plain, ...wanted })
    for (let at = 0; at < text.length; at++) expect(read(text.slice(0, at))).toBe('more')
  })

  it('without a length ends with its connection', () => {
    const text = crlf(ok, '', 'some text')
    for (const pieces of splits(text)) {
      expect(readIn(pieces)).toBe('more')
      expect(readIn(pieces, true)).toEqual({ ...plain, text: 'some text', keepsAlive: false })
    }
    expect(readIn([Buffer.from(crlf(ok, 'Content-Length: 9', '', 'cut'))], true)).toBe('more')
    expect(readIn([Buffer.from(crlf(ok, chunked, '', '9', 'cut'))], true)).toBe('more')
  })

  it.each([
    ['two at once', crlf(ok, 'Content-Length: 1', '', 'x') + ok],
    ['two at once, in chunks', crlf(ok, chunked, '', '1', 'x', '0', '', '') + ok],
  ])('is the first of %s, and its connection serves no other', (_name, text) => {
    expect(read(text)).toEqual({ ...plain, text: 'x', keepsAlive: false })
  })

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a page without a head', '<html>\r\n\r\n'],
    ['an odd status', crlf('HTTP/1.1 20 OK', '', '')],
    ['no status line', crlf('', ok, '', '')],
    ['another protocol', crlf('HTTP/1.1 101 Switching Protocols', '', '')],
    ['a line that is no header', crlf(ok, 'x', '', '')],
    ['a header without a name', crlf(ok, ': x', '', '')],
    ['white space in a name', crlf(ok, 'Content-Length : 1', '', 'x')],
    ['a folded header', crlf(ok, 'a: b', ' c: d', '', '')],
    ['a bare line feed', crlf(ok, 'a: b\nContent-Length: 1', '', 'x')],
    ['a bare carriage return', crlf(ok, 'a: b\rContent-Length: 1', '', 'x')],
    ['two lengths', crlf(ok, 'Content-Length: 1', 'Content-Length: 2', '', 'x')],
    ['a signed length', crlf(ok, 'Content-Length: +1', '', 'x')],
    ['a length in hexadecimal', crlf(ok, 'Content-Length: 0x1', '', 'x')],
    ['an endless length', crlf(ok, `Content-Length: ${'9'.repeat(99)}`, '', 'x')],
    ['a length beside chunks', crlf(ok, 'Content-Length: 1', chunked, '', '1', 'x', '0', '', '')],
    ['a coding that was not requested', crlf(ok, 'Transfer-Encoding: gzip, chunked', '', '')],
    ['a chunk without a size', crlf(ok, chunked, '', '', 'x')],
    ['a chunk of negative size', crlf(ok, chunked, '', '-1', 'x')],
    ['a chunk of endless size', crlf(ok, chunked, '', 'f'.repeat(99), 'x')],
    ['a chunk that is longer than it says', crlf(ok, chunked, '', '1', 'xy', '0', '', '')],
    ['a chunk line with a bare line feed', `${crlf(ok, chunked, '', '')}1\nx\n0\n\n`],
    ['a length above the limit', crlf(ok, `Content-Length: ${bodyMax + 1}`, '', 'x')],
    ['a body above the limit', crlf(ok, '', 'x'.repeat(bodyMax + 1))],
    ['chunks above the limit', crlf(ok, chunked, '', '3e9', 'x'.repeat(bodyMax + 1))],
    ['a head without an end', `${ok}\r\nx: ${'y'.repeat(20_000)}`],
    ['a head that is too long', crlf(ok, `x: ${'y'.repeat(20_000)}`, 'Content-Length: 0', '', '')],
    ['many headers', `${ok}\r\n${'x: y\r\n'.repeat(5000)}`],
    ['interim replies without an end', crlf('HTTP/1.1 100 Go on', '', '').repeat(2000)],
    ['chunk extensions without an end', `${crlf(ok, chunked, '', '1;')}${'x'.repeat(20_000)}`],
    ['trailers without an end', crlf(ok, chunked, '', '0', '') + 'x: y\r\n'.repeat(5000)],
    [
      'tiny chunks with long extensions',
      crlf(ok, chunked, '', '') + `1;${'e'.repeat(500)}\r\nx\r\n`.repeat(40),
    ],
  ])('is refused, in every split: %s', (_name, text) => {
    expect(read(text)).toBe('refused')
    const whole = Buffer.from(text, 'latin1')
    const bytes = Array.from(whole, (_, at) => whole.subarray(at, at + 1))
    expect(readIn(bytes)).toBe('refused')
  })

  it('is read in time that grows with its length', () => {
    for (const text of [
      crlf(ok, `a:${' '.repeat(16_000)}b`, 'Content-Length: 0', '', ''),
      crlf(ok, `keep-alive: ${'timeout='.repeat(1900)}`, 'Content-Length: 0', '', ''),
      crlf(ok, `connection: ${'close'.repeat(3000)}`, 'Content-Length: 0', '', ''),
    ]) {
      expect(read(text)).toMatchObject({ status: 200, text: '' })
    }
  })

  it('or garbage, whatever it is, ends in a reply, a refusal or more to come', () => {
    const piece = fc.oneof(
      fc.constantFrom(ok, '\r\n', '\r\n\r\n', chunked, 'Content-Length: 3', 'HTTP/1.1 100 C'),
      fc.constantFrom('0', '1', 'x', '3\r\nabc\r\n', '\n', '\r', ':', ' ', '\0'),
      fc.string({ unit: 'binary', maxLength: 8 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.nat(), (pieces, at) => {
        const whole = Buffer.from(pieces.join(''))
        const cut = whole.length === 0 ? 0 : at % whole.length
        const once = readIn([whole], true)
        const twice = readIn([whole.subarray(0, cut), whole.subarray(cut)], true)
        // Where a whole reply is followed by more, a split shows that or not.
        const seen = (outcome: Outcome) =>
          typeof outcome === 'string' ? outcome : { ...outcome, keepsAlive: false }
        expect(seen(twice)).toEqual(seen(once))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('over a socket', () => {
  const open: (() => void)[] = []
  afterEach(() => open.splice(0).forEach((close) => close()))

  /** A server that acts on each request by its number. */
  async function sending(act: (socket: Socket, request: number) => void) {
    const sockets: Socket[] = []
    let requests = 0
    const server = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('data', () => act(socket, requests++))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const transport = createNodeTransport()
    open.push(
      () => server.close(),
      () => sockets.forEach((socket) => socket.destroy()),
      transport.close,
    )
    const { port } = server.address() as AddressInfo
    const headers = {}
    const ask = (
      replyCharsMax = 1 << 20,
      whenAborted: (abort: () => void) => void = () => undefined,
    ) =>
      transport.send({
        url: `http://127.0.0.1:${port}/`,
        headers,
        body: '{}',
        signal: new AbortController().signal,
        whenAborted,
        fresh: false,
        replyCharsMax,
      })
    return { ask, sockets }
  }

  const answer = crlf(ok, 'Content-Length: 2', '', '{}')
  const failure = (reply: Promise<unknown>): Promise<unknown> =>
    reply.then(
      () => expect.unreachable(),
      (cause: unknown) => cause,
    )

  it('60 MB are refused before they are read', async () => {
    let written = 0
    const { ask, sockets } = await sending((socket) => {
      socket.write(crlf(ok, '', ''))
      const piece = Buffer.alloc(1 << 20)
      const write = (): void => {
        while (written < 60 << 20 && !socket.destroyed) {
          written += piece.length
          if (!socket.write(piece)) return void socket.once('drain', write)
        }
      }
      write()
    })
    expect(String(await failure(ask()))).toContain('too long')
    await new Promise((resolve) => sockets[0]!.once('close', resolve))
    expect(written).toBeLessThan(60 << 20)
  })

  it.each([
    ['before the head ends', ok],
    ['before the body ends', crlf(ok, 'Content-Length: 9', '', 'cut')],
    ['before the last chunk', crlf(ok, chunked, '', '3', 'cut', '')],
    ['before a byte', ''],
  ])('a connection that ends %s may be replaced', async (_name, text) => {
    const { ask } = await sending((socket) => socket.end(text))
    expect(isClosedConnection(await failure(ask()))).toBe(true)
  })

  it('what comes between requests ends the connection, and is no answer to the next', async () => {
    const { ask, sockets } = await sending((socket) => socket.write(answer))
    await ask()
    sockets[0]!.write(answer.replace('{}', '[]'))
    await new Promise((resolve) => sockets[0]!.once('close', resolve))
    expect(await ask()).toMatchObject({ text: '{}' })
    expect(sockets).toHaveLength(2)
  })

  it('a second answer at once is no answer to the next request', async () => {
    const { ask, sockets } = await sending((socket) =>
      socket.write(answer + answer.replace('{}', '[]')),
    )
    expect([await ask(), await ask()]).toMatchObject([{ text: '{}' }, { text: '{}' }])
    expect(sockets).toHaveLength(2)
  })

  it('an aborted request ends its connection, and an abort that is late no other', async () => {
    const { ask, sockets } = await sending((socket, request) => {
      if (request !== 1) socket.write(answer)
    })
    const aborts: (() => void)[] = []
    await ask(100, (abort) => aborts.push(abort))
    const hung = ask(100, (abort) => aborts.push(abort))
    // Of the first request, on the same connection.
    aborts[0]!()
    aborts[1]!()
    expect(isClosedConnection(await failure(hung))).toBe(true)
    expect(await ask()).toMatchObject({ text: '{}' })
    aborts[1]!()
    expect(await ask()).toMatchObject({ text: '{}' })
    expect(sockets).toHaveLength(2)
  })
})
