// Honest requests in unusual forms: whole and well-formed by RFC 9112, but cut into other segments,
// or written otherwise, than most clients do. Each is one check; what it gets, alone and behind the
// proxies, stands in docs/hostile.md.

import { chunks, honestBody, wordsOf } from './framing-cases.ts'

export interface HonestForm {
  /** As docs/hostile.md has it. */
  readonly name: string
  /** One or more ways to write it, each in segments of its own; all get the same. */
  readonly ways: (key: string) => readonly (readonly string[])[]
}

const honest = (key: string): string =>
  wordsOf(key, 'form').honest.replace('Host', 'Content-Type: application/json\r\nHost')
const bent =
  (from: string | RegExp, to: string): HonestForm['ways'] =>
  (key) => [[honest(key).replace(from, to)]]
const inChunks =
  (body: string): HonestForm['ways'] =>
  (key) => [[`${wordsOf(key, 'form').head}Transfer-Encoding: chunked\r\n\r\n${body}`]]

/** Cut once, at each of these places. */
const cut = (text: string, places: readonly number[]): readonly (readonly string[])[] =>
  places.map((at) => [text.slice(0, at), text.slice(at)])
const lineBytes = (text: string): number => text.indexOf('\r\n') + 2
const places = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, at) => from + at)
/** The one behind the method's space, and the ten inside `HTTP/1.1` and its line end. */
const badPlaces = (text: string): number[] => {
  const line = lineBytes(text)
  return [text.indexOf(' ') + 1, ...places(line - 10, line)]
}

export const honestForms: readonly HonestForm[] = [
  { name: 'in one segment', ways: (key) => [[honest(key)]] },
  {
    name: 'head and body in separate segments',
    ways: (key) => cut(honest(key), [honest(key).length - honestBody.length]),
  },
  {
    name: 'cut after `POST `, or inside `HTTP/1.1` and its line end (ten places)',
    ways: (key) => cut(honest(key), badPlaces(honest(key))),
  },
  {
    name: 'cut at any other place',
    ways: (key) => {
      const text = honest(key)
      const bad = badPlaces(text)
      return cut(
        text,
        places(1, text.length).filter((at) => !bad.includes(at)),
      )
    },
  },
  { name: 'byte by byte', ways: (key) => [honest(key).split('')] },
  {
    name: 'the request line whole, the rest byte by byte',
    ways: (key) => {
      const text = honest(key)
      return [[text.slice(0, lineBytes(text)), ...text.slice(lineBytes(text)).split('')]]
    },
  },
  { name: 'in chunks', ways: inChunks(chunks(honestBody)) },
  {
    name: 'in chunks, byte by byte',
    ways: (key) => {
      const { head } = wordsOf(key, 'form')
      return [[`${head}Transfer-Encoding: chunked\r\n\r\n`, ...chunks(honestBody).split('')]]
    },
  },
  { name: 'a chunk extension', ways: inChunks(`10;a=b\r\n${honestBody}\r\n0\r\n\r\n`) },
  {
    name: 'a chunk extension on the last chunk',
    ways: inChunks(`10\r\n${honestBody}\r\n0;a=b\r\n\r\n`),
  },
  { name: 'a trailer', ways: inChunks(`10\r\n${honestBody}\r\n0\r\nX: a\r\n\r\n`) },
  { name: 'an empty line before the request', ways: bent(/^/, '\r\n') },
  {
    name: 'an absolute target',
    ways: (key) => [[honest(key).replace('POST ', 'POST http://a')]],
  },
  { name: 'header names in lower case', ways: (key) => [[lowerNames(honest(key))]] },
  { name: 'no spaces after the colons', ways: (key) => [[honest(key).replaceAll(': ', ':')]] },
  { name: 'a header without a value', ways: bent('Host', 'Accept:\r\nHost') },
  {
    name: '`Expect: 100-continue`',
    ways: (key) => {
      const text = honest(key).replace('Host', 'Expect: 100-continue\r\nHost')
      return cut(text, [text.length - honestBody.length])
    },
  },
  { name: '98 headers', ways: withHeaders(98) },
  { name: '99 headers', ways: withHeaders(99) },
  {
    name: '3 KB of headers',
    ways: bent('Host', `X-Filling: ${'a'.repeat(87)}\r\n`.repeat(30) + 'Host'),
  },
  {
    name: '4.5 KB of headers',
    ways: bent('Host', `X-Filling: ${'a'.repeat(87)}\r\n`.repeat(45) + 'Host'),
  },
  { name: 'HTTP/1.0', ways: bent('HTTP/1.1', 'HTTP/1.0') },
]

/** So many in all, Host, Authorization and the framing included. */
function withHeaders(count: number): HonestForm['ways'] {
  return (key) => {
    const text = honest(key)
    const has = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n').length - 1
    return [[text.replace('Host', `${'X-A: b\r\n'.repeat(count - has)}Host`)]]
  }
}

function lowerNames(text: string): string {
  return text.replace(/^[A-Z][A-Za-z-]*:/gm, (name) => name.toLowerCase())
}
