// The framing matrix: what a hostile client writes so that two readers see different requests, and
// what no client should write at all. Most cases are one honest request, bent, with a second one
// right behind it or inside it: the smuggled one. The kinds of cases are those of h1spec and
// Http11Probe.
//
// What must hold: an honest request is served at most once, nothing is served that is neither of
// the two, and the smuggled one never, except where a strict reader of RFC 9112 sees it as a
// request of its own, which was sent in the open.

import { chunkSizes, codingValues, lengthValues } from './hostile-values.ts'

export const checkPath = '/v1/intelligence/ip-risk/check'
export const honestBody = '{"ip":"9.5.5.5"}'
const smuggledBody = '{"ip":"9.1.2.3"}'

export interface FramingCase {
  readonly name: string
  /**
   * `open`: the second request stands behind the whole first one, and a client that sends both may
   * get both. `gap`: it does not, and this server serves it all the same when asked directly.
   */
  readonly kind: 'closed' | 'open' | 'gap'
  /** In segments of their own. `id` tells the requests of this case from all others. */
  readonly parts: (key: string, id: string) => readonly string[]
}

/** What a case is written with. */
export interface Words {
  readonly key: string
  readonly id: string
  /** A head with everything but its framing, without the empty line. */
  readonly head: string
  /** A whole request of its own. */
  readonly honest: string
  readonly smuggled: string
}

export function wordsOf(key: string, id: string): Words {
  const headOf = (which: string): string =>
    `POST ${checkPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: ${id}-${which}\r\n`
  const whole = (which: string, body: string): string =>
    `${headOf(which)}Content-Length: ${body.length}\r\n\r\n${body}`
  return {
    key,
    id,
    head: headOf('honest'),
    honest: whole('honest', honestBody),
    smuggled: whole('smuggled', smuggledBody),
  }
}

export const chunks = (...datas: readonly string[]): string =>
  [...datas, ''].map((data) => `${data.length.toString(16)}\r\n${data}\r\n`).join('')

type Write = (words: Words) => string | readonly string[]
type Row = readonly [name: string, write: Write]

const length = `Content-Length: ${honestBody.length}\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'
const honestChunks = chunks(honestBody)
const longLength = ({ smuggled }: Words): string =>
  `Content-Length: ${honestBody.length + smuggled.length}\r\n`

/** Framing lines behind the head, then a body, then the smuggled request. */
const lines =
  (text: string | ((words: Words) => string), body = honestBody): Write =>
  (words) =>
    `${words.head}${typeof text === 'string' ? text : text(words)}\r\n${body}${words.smuggled}`

/** Chunks behind an honest head, then the smuggled request. */
const inChunks = (body: string): Write => lines(chunked, body)

/** The honest request with one thing in it replaced, then the smuggled one. */
const bent =
  (from: string | RegExp, to: string): Write =>
  ({ honest, smuggled }) =>
    honest.replace(from, () => to) + smuggled

/** Another request line, and the smuggled request as the body that its length states. */
const around =
  (line: string): Write =>
  ({ head, smuggled }) =>
    `${line}${head.slice(head.indexOf('\r\n'))}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`

const requestLine = (line: string): Write => bent(/^POST \S+ HTTP\/1\.1/, line)

const lengths: readonly Row[] = [
  ['two lengths, the shorter first', lines((words) => length + longLength(words))],
  ['two lengths, the shorter last', lines((words) => longLength(words) + length)],
  ['two lengths, alike', lines(length + length)],
  ['two lengths, one of them 0', lines(`Content-Length: 0\r\n${length}`)],
  ['two lengths, one of them in capitals', lines(`CONTENT-LENGTH: 0\r\n${length}`)],
  ['two lengths, a header between them', lines((w) => `${length}X: a\r\n${longLength(w)}`)],
  ['two lengths, the second empty', lines(`${length}Content-Length:\r\n`)],
  ['three lengths', lines(length + length + length)],
  ['a length, then a coding', lines(length + chunked, honestChunks)],
  ['a coding, then a length', lines(chunked + length, honestChunks)],
  ['a coding, then a length of all', lines((w) => chunked + longLength(w), honestChunks)],
  ['a length of 0 and a coding', lines(`Content-Length: 0\r\n${chunked}`, '0\r\n\r\n')],
  ['a length of 0 and a coding, a body behind', lines(`Content-Length: 0\r\n${chunked}`)],
  ['a length that is too short', lines('Content-Length: 4\r\n')],
  ['a length of 0 with a body', lines('Content-Length: 0\r\n')],
  ['an empty length', lines('Content-Length:\r\n')],
  ['no length at all', lines('')],
  ['a length with an underscore in its name', lines('Content_Length: 16\r\n')],
  ['a space before the colon of the length', lines('Content-Length : 16\r\n')],
  ['a tab before the colon of the length', lines('Content-Length\t: 16\r\n')],
  ['a space before the name of the length', lines(' Content-Length: 16\r\n')],
  ['a length folded below its name', lines('Content-Length:\r\n 16\r\n')],
  ['a length folded below another header', lines(`X: a\r\n ${length}`)],
  ['a length behind a NUL', lines(`X: a\0${length}`)],
]

const codings: readonly Row[] = [
  ['an identity coding with a length', lines(`Transfer-Encoding: identity\r\n${length}`)],
  ['an empty coding with a length', lines(`Transfer-Encoding:\r\n${length}`)],
  ['two codings, chunked and identity', lines(`${chunked}Transfer-Encoding: identity\r\n`)],
  ['two codings, identity and chunked', lines(`Transfer-Encoding: identity\r\n${chunked}`)],
  ['two codings, both chunked', lines(chunked + chunked, honestChunks)],
  ['two codings, the second unknown', lines(`${chunked}Transfer-Encoding: cow\r\n`, honestChunks)],
  ['a space before the colon of the coding', lines('Transfer-Encoding : chunked\r\n')],
  ['the same with a length', lines(`${length}Transfer-Encoding : chunked\r\n`, honestChunks)],
  ['a tab before the colon of the coding', lines(`${length}Transfer-Encoding\t: chunked\r\n`)],
  ['a coding without a colon', lines(`${length}Transfer-Encoding chunked\r\n`)],
  ['a coding behind a space', lines(`${length} Transfer-Encoding: chunked\r\n`, honestChunks)],
  ['a folded coding', lines(`${length}Transfer-Encoding:\r\n chunked\r\n`, honestChunks)],
  [
    'a coding folded below another header',
    lines(`X: a\r\n Transfer-Encoding: chunked\r\n${length}`),
  ],
  ['a coding behind a bare line feed', lines(`X: a\nTransfer-Encoding: chunked\r\n${length}`)],
  ['a coding behind a bare return', lines(`X: a\rTransfer-Encoding: chunked\r\n${length}`)],
  ['a coding behind a NUL', lines(`X: a\0Transfer-Encoding: chunked\r\n${length}`)],
  ['a coding that ends in a line feed', lines(`Transfer-Encoding: chunked\n${length}`)],
  [
    'a coding in HTTP/1.0',
    ({ head, smuggled }) => `${head.replace('1.1', '1.0')}${chunked}\r\n${honestChunks}${smuggled}`,
  ],
  [
    'a coding named by Connection',
    lines(`Connection: transfer-encoding\r\n${chunked}`, honestChunks),
  ],
]

/** Where a chunk goes wrong; the chunk is honest else. */
const wrongChunks: readonly Row[] = [
  ['a last chunk without its CRLF', inChunks(honestChunks.slice(0, -2))],
  [
    'a last chunk without its CRLF, the request later',
    ({ head, smuggled }) => [`${head}${chunked}\r\n${honestChunks.slice(0, -2)}`, smuggled],
  ],
  ['no last chunk', inChunks(`10\r\n${honestBody}\r\n`)],
  ['chunk data without CRLF', inChunks(`10\r\n${honestBody}0\r\n\r\n`)],
  ['chunk data with two other bytes for CRLF', inChunks(`10\r\n${honestBody}XX0\r\n\r\n`)],
  ['chunk data with a line feed for CRLF', inChunks(`10\r\n${honestBody}\n0\r\n\r\n`)],
  ['chunk data with a return for CRLF', inChunks(`10\r\n${honestBody}\r0\r\n\r\n`)],
  ['chunks that end in line feeds', inChunks(`10\n${honestBody}\n0\n\n`)],
  ['a chunk size that ends in a return', inChunks(`10\r${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk size that ends in a line feed', inChunks(`10\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk shorter than its size', inChunks(`ff\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk longer than its size', inChunks(`8\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension with a line feed', inChunks(`10;\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension with a line feed inside', inChunks(`10;a\nb\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension with a return inside', inChunks(`10;a\rb\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension with a NUL', inChunks(`10;a\0b\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension without a name', inChunks(`10;\r\n${honestBody}\r\n0\r\n\r\n`)],
  [
    'a chunk extension of 20,000 bytes',
    inChunks(`10;${'a'.repeat(20_000)}\r\n${honestBody}\r\n0\r\n\r\n`),
  ],
  ['a chunk extension that hides a chunk', inChunks(`10;\n0\r\n\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a trailer that ends in line feeds', inChunks(`10\r\n${honestBody}\r\n0\r\nX: a\n\n`)],
  ['a trailer that looks like a request', inChunks(`10\r\n${honestBody}\r\n0\r\n`)],
  ['a trailer without a colon', inChunks(`10\r\n${honestBody}\r\n0\r\nX\r\n\r\n`)],
]

/** Chunked bodies that are right; whether a request behind them is answered is the reader's choice. */
const rightChunks: readonly Row[] = [
  ['chunks, then a request', inChunks(honestChunks)],
  [
    'chunks, then a request later',
    ({ head, smuggled }) => [`${head}${chunked}\r\n${honestChunks}`, smuggled],
  ],
  ['a chunk extension', inChunks(`10;a=b\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['a chunk extension in quotes', inChunks(`10;a="b;c"\r\n${honestBody}\r\n0\r\n\r\n`)],
  ['chunk sizes with leading zeros', inChunks(`0010\r\n${honestBody}\r\n000\r\n\r\n`)],
  ['a trailer', inChunks(`10\r\n${honestBody}\r\n0\r\nX: a\r\n\r\n`)],
  ['a length as a trailer', inChunks(`10\r\n${honestBody}\r\n0\r\nContent-Length: 5\r\n\r\n`)],
  ['a coding as a trailer', inChunks(`10\r\n${honestBody}\r\n0\r\n${chunked}\r\n`)],
  ['a Host as a trailer', inChunks(`10\r\n${honestBody}\r\n0\r\nHost: b\r\n\r\n`)],
]

const headers: readonly Row[] = [
  ['an empty name that hides the length', lines(`: x\r\n${length}`)],
  ['an empty name that hides a coding', lines(`: x\r\n${chunked}`, honestChunks)],
  [
    'an empty name that hides a coding behind a length',
    ({ head, smuggled }) =>
      `${head}Content-Length: 4\r\n: x\r\n${chunked}\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
  ],
  ['an empty name as the first header', bent('Host', ': x\r\nHost')],
  ['a space for a name', lines(` : x\r\n${length}`)],
  ['a header without a colon', lines(`X\r\n${length}`)],
  ['a NUL in a value', lines(`X: a\0b\r\n${length}`)],
  ['a NUL in a name', lines(`X\0Y: a\r\n${length}`)],
  ['a control character in a value', lines(`X: a\x01b\r\n${length}`)],
  ['a control character in a name', lines(`X\x01: a\r\n${length}`)],
  ['a byte above ASCII in a name', lines(`X\xe9: a\r\n${length}`)],
  ['a parenthesis in a name', lines(`X(Y): a\r\n${length}`)],
  ['a space inside a name', lines(`X Y: a\r\n${length}`)],
  ['a folded value', lines(`X: a\r\n b\r\n${length}`)],
  ['a bare return in a value', lines(`X: a\rb\r\n${length}`)],
  ['a bare line feed in a value', lines(`X: a\nb: c\r\n${length}`)],
  ['a line of white space', lines(`X: a\r\n \r\n${length}`)],
  ['two Host, alike', lines(`Host: a\r\n${length}`)],
  ['two Host, different', lines(`Host: b\r\n${length}`)],
  ['no Host', bent('Host: a\r\n', '')],
  ['a Host with a space before its colon', bent('Host:', 'Host :')],
  ['a folded first header', bent('Host: a', ' Host: a')],
  [
    'line feeds for line ends',
    ({ head, smuggled }) => `${(head + length).replaceAll('\r', '')}\n${honestBody}${smuggled}`,
  ],
  [
    'returns for line ends',
    ({ head, smuggled }) => `${(head + length).replaceAll('\n', '')}\r${honestBody}${smuggled}`,
  ],
  [
    'a line feed as the empty line',
    ({ head, smuggled }) => `${head}${length}\n${honestBody}${smuggled}`,
  ],
  ['a return too many', ({ head, smuggled }) => `${head}${length}\r\r\n${honestBody}${smuggled}`],
  ['headers that are too large', lines(`X: ${'a'.repeat(8000)}\r\n${length}`)],
  ['a value of 100,000 bytes', lines(`X: ${'a'.repeat(100_000)}\r\n${length}`)],
  ['a name of 20,000 bytes', lines(`${'a'.repeat(20_000)}: x\r\n${length}`)],
  ['100 headers', lines(`${'X: a\r\n'.repeat(100)}${length}`)],
  ['1000 headers, the length last', lines(`${'X: a\r\n'.repeat(1000)}${length}`)],
  ['5000 headers, the length first', lines(`${length}${'Y: b\r\n'.repeat(5000)}`)],
  ['60 headers before a coding', lines(`${length}${'X: a\r\n'.repeat(60)}${chunked}`)],
]

const requestLines: readonly Row[] = [
  ['HTTP/1.0', requestLine(`POST ${checkPath} HTTP/1.0`)],
  ['HTTP/1.2', requestLine(`POST ${checkPath} HTTP/1.2`)],
  ['HTTP/1.11', requestLine(`POST ${checkPath} HTTP/1.11`)],
  ['HTTP/01.1', requestLine(`POST ${checkPath} HTTP/01.1`)],
  ['HTTP/11', requestLine(`POST ${checkPath} HTTP/11`)],
  ['HTTP/2.0', requestLine(`POST ${checkPath} HTTP/2.0`)],
  ['HTTP/0.9 with headers', requestLine(`POST ${checkPath} HTTP/0.9`)],
  ['the version in lower case', requestLine(`POST ${checkPath} http/1.1`)],
  ['the version of another protocol', requestLine(`POST ${checkPath} ICAP/1.1`)],
  ['no version', requestLine(`POST ${checkPath}`)],
  ['no version and no header', ({ smuggled }) => `GET ${checkPath}\r\n\r\n${smuggled}`],
  ['something behind the version', requestLine(`POST ${checkPath} HTTP/1.1 x`)],
  ['a version twice', requestLine(`POST ${checkPath} HTTP/1.1 HTTP/1.1`)],
  ['two spaces behind the method', requestLine(`POST  ${checkPath} HTTP/1.1`)],
  ['a tab behind the method', requestLine(`POST\t${checkPath}\tHTTP/1.1`)],
  ['two spaces before the version', requestLine(`POST ${checkPath}  HTTP/1.1`)],
  ['a space before the method', requestLine(` POST ${checkPath} HTTP/1.1`)],
  ['a request line that ends in a line feed', bent('HTTP/1.1\r\n', 'HTTP/1.1\n')],
  ['a request line that ends in a return', bent('HTTP/1.1\r\n', 'HTTP/1.1\r')],
  ['a request line that goes on below', requestLine(`POST ${checkPath}\r\n HTTP/1.1`)],
  ['a method in lower case', requestLine(`post ${checkPath} HTTP/1.1`)],
  ['a method of strange characters', requestLine(`P(ST ${checkPath} HTTP/1.1`)],
  ['a method with a NUL', requestLine(`PO\0ST ${checkPath} HTTP/1.1`)],
  ['a method of 20,000 letters', requestLine(`${'A'.repeat(20_000)} ${checkPath} HTTP/1.1`)],
  ['no method', requestLine(`${checkPath} HTTP/1.1`)],
  ['no target', requestLine('POST HTTP/1.1')],
  ['a target with a space', requestLine(`POST ${checkPath} x HTTP/1.1`)],
  ['a target with a NUL', requestLine(`POST ${checkPath}\0 HTTP/1.1`)],
  ['a target with a control character', requestLine(`POST ${checkPath}\x01 HTTP/1.1`)],
  ['a target of 70,000 bytes', requestLine(`POST /${'a'.repeat(70_000)} HTTP/1.1`)],
  ['a target without a slash', requestLine('POST v1 HTTP/1.1')],
  ['an absolute target of another host', requestLine(`POST http://b${checkPath} HTTP/1.1`)],
  ['an absolute target without a host', requestLine(`POST http://${checkPath} HTTP/1.1`)],
  ['an asterisk', requestLine('POST * HTTP/1.1')],
  ['CONNECT', requestLine('CONNECT a:443 HTTP/1.1')],
  ['CONNECT to a path', requestLine(`CONNECT ${checkPath} HTTP/1.1`)],
  ['TRACE with a body', requestLine(`TRACE ${checkPath} HTTP/1.1`)],
  [
    'random bytes',
    ({ smuggled }) => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x8f\r\n\r\n${smuggled}`,
  ],
  [
    'the preface of HTTP/2',
    ({ smuggled }) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0${smuggled}`,
  ],
  [
    'the preface of a proxy, in text',
    ({ honest, smuggled }) => `PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n${honest}${smuggled}`,
  ],
]

/** Requests that are whole, with the smuggled one as their body. */
const bodies: readonly Row[] = [
  ['a GET whose body is a request', around(`GET ${checkPath} HTTP/1.1`)],
  ['a HEAD whose body is a request', around(`HEAD ${checkPath} HTTP/1.1`)],
  ['an OPTIONS whose body is a request', around(`OPTIONS ${checkPath} HTTP/1.1`)],
  ['a DELETE whose body is a request', around(`DELETE ${checkPath} HTTP/1.1`)],
  ['an unknown method whose body is a request', around(`BREW ${checkPath} HTTP/1.1`)],
  ['a body of 404 that is a request', around('POST / HTTP/1.1')],
  ['a body of 400 that is a request', around(`POST ${checkPath} HTTP/1.1`)],
  [
    'a body of 401 that is a request',
    (words) => String(around(`POST ${checkPath} HTTP/1.1`)(words)).replace(words.key, 'none'),
  ],
  [
    'a body of 413 that is many requests',
    ({ head, smuggled }) =>
      `${head}Content-Length: ${smuggled.length * 600}\r\n\r\n${smuggled.repeat(600)}`,
  ],
  [
    'Expect whose body is a request',
    (words) =>
      String(around(`POST ${checkPath} HTTP/1.1`)(words)).replace(
        'Host',
        'Expect: 100-continue\r\nHost',
      ),
  ],
  [
    'a body in chunks that is a request',
    ({ head, smuggled }) => `${head}${chunked}\r\n${chunks(smuggled)}`,
  ],
  ['a client that says close, then a request', lines(`Connection: close\r\n${length}`)],
  ['a client that says keep-alive, close', lines(`Connection: keep-alive, Close\r\n${length}`)],
]

/** A whole request, then another one: pipelining, which a server may end by closing. */
const pipelined: readonly Row[] = [
  [
    'a GET without a length, then a request',
    ({ head, smuggled }) => `${head.replace('POST', 'GET')}\r\n${smuggled}`,
  ],
  [
    'a HEAD without a length, then a request',
    ({ head, smuggled }) => `${head.replace('POST', 'HEAD')}\r\n${smuggled}`,
  ],
  [
    'a HEAD, then a request',
    ({ head, smuggled }) => `${head.replace('POST', 'HEAD')}Content-Length: 0\r\n\r\n${smuggled}`,
  ],
  [
    'a HEAD, then a request later',
    ({ head, smuggled }) => [`${head.replace('POST', 'HEAD')}Content-Length: 0\r\n\r\n`, smuggled],
  ],
  [
    'a HEAD in chunks, then a request',
    ({ head, smuggled }) =>
      `${head.replace('POST', 'HEAD')}${chunked}\r\n${honestChunks}${smuggled}`,
  ],
  [
    'a POST without a length, then a request later',
    ({ head, smuggled }) => [`${head}\r\n`, smuggled],
  ],
  ['empty lines before the requests', ({ honest, smuggled }) => `\r\n\r\n${honest}\r\n${smuggled}`],
  [
    'Upgrade to HTTP/2',
    lines(
      `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n${length}`,
    ),
  ],
  [
    'Upgrade to a WebSocket',
    lines(
      `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${length}`,
    ),
  ],
  ['Expect: 100-continue', lines(`Expect: 100-continue\r\n${length}`)],
  ['an unknown Expect', lines(`Expect: 200-ok\r\n${length}`)],
  ['an absolute target', requestLine(`POST http://a${checkPath} HTTP/1.1`)],
  [
    'OPTIONS of the server',
    ({ head, smuggled }) =>
      `${head.replace(/^POST \S+/, 'OPTIONS *')}Content-Length: 0\r\n\r\n${smuggled}`,
  ],
  ['a target with a fragment', requestLine(`POST ${checkPath}#x HTTP/1.1`)],
  ['a length with leading zeros', lines('Content-Length: 0016\r\n')],
  ['a length between white space', lines('Content-Length: \t16 \t\r\n')],
  ['a coding in capitals', lines('Transfer-Encoding: CHUNKED\r\n', honestChunks)],
]

/** Odd, but not in where they end; what is odd about them this server does not read. */
const odd: readonly Row[] = [
  ['a coding with an underscore in its name', lines(`${length}Transfer_Encoding: chunked\r\n`)],
  ['a length named by Connection', lines(`Connection: content-length\r\n${length}`)],
  ['two Host in one', bent('Host: a', 'Host: a, b')],
  ['a Host with a path', bent('Host: a', 'Host: a/b')],
  ['a Host with a user', bent('Host: a', 'Host: u@a')],
  ['a target with a byte above ASCII', requestLine(`POST ${checkPath}\xe9 HTTP/1.1`)],
  [
    'the preface of a proxy, in bytes',
    ({ honest, smuggled }) =>
      `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x01\x01\x01\x02\x02\x02\x02\0\x01\0\x02${honest}${smuggled}`,
  ],
]

/** What uWebSockets.js hides from the guard (docs/hostile.md): the second request is served. */
const gaps: readonly Row[] = [
  [
    'two lengths, an empty name between them',
    lines((words) => `${length}: x\r\n${longLength(words)}`),
  ],
  ['a length behind a byte above ASCII', lines('Content-Length: \xa016\r\n')],
]

const shown = (text: string): string =>
  JSON.stringify(text.length > 40 ? `${text.slice(0, 30)}…` : text)

const closedRows: readonly Row[] = [
  ...lengths,
  ...lengthValues.map((value): Row => [
    `a length of ${shown(value)}`,
    lines(`Content-Length: ${value}\r\n`),
  ]),
  ...codings,
  ...codingValues.map((value): Row => [
    `a coding of ${shown(value)}`,
    lines(`Transfer-Encoding: ${value}\r\n`, honestChunks),
  ]),
  ...codingValues.map((value): Row => [
    `a coding of ${shown(value)} with a length`,
    lines(`Transfer-Encoding: ${value}\r\n${length}`),
  ]),
  ...wrongChunks,
  ...chunkSizes.map((size): Row => [
    `a chunk size of ${shown(size)}`,
    inChunks(`${size}\r\n${honestBody}\r\n0\r\n\r\n`),
  ]),
  ...headers,
  ...requestLines,
  ...bodies,
]

const casesOf = (rows: readonly Row[], kind: FramingCase['kind']): readonly FramingCase[] =>
  rows.map(([name, write]) => ({
    name,
    kind,
    parts: (key, id) => [write(wordsOf(key, id))].flat(),
  }))

export const framingCases: readonly FramingCase[] = [
  ...casesOf(closedRows, 'closed'),
  ...casesOf([...rightChunks, ...pipelined, ...odd], 'open'),
  ...casesOf(gaps, 'gap'),
]
