// The framing guard's decision, header by header. What uWebSockets.js makes of the bytes is in
// framing-guard.server.test.ts.

import { describe, expect, it } from 'vitest'
import {
  beginsLikeChunk,
  framingOf,
  framings,
  newHeaderScan,
  scanHeader,
  resetHeaderScan,
} from '../../../src/http/listen/framing-guard.ts'

type Header = readonly [string, string]

const host: Header = ['host', 'a']
const { refused, last, kept } = framings

function decide(...headers: readonly Header[]): number {
  const pass = newHeaderScan()
  for (const [name, value] of headers) scanHeader(pass, name, value)
  return framingOf(pass)
}

describe('framingOf', () => {
  it.each<readonly [string, number, readonly Header[]]>([
    ['one length', kept, [host, ['content-length', '16']]],
    ['a length of 0', kept, [host, ['content-length', '0']]],
    ['a length of 15 digits', kept, [host, ['content-length', '9'.repeat(15)]]],
    ['a length of 16 digits', refused, [host, ['content-length', '9'.repeat(16)]]],
    ['an empty length', refused, [host, ['content-length', '']]],
    ['a signed length', refused, [host, ['content-length', '+1']]],
    ['a length of other digits', refused, [host, ['content-length', '１']]],
    ['two lengths', refused, [host, ['content-length', '1'], ['content-length', '1']]],
    [
      'a bad length, then a good one',
      refused,
      [host, ['content-length', 'x'], ['content-length', '1']],
    ],
    ['chunked', last, [host, ['transfer-encoding', 'chunked']]],
    ['Chunked', last, [host, ['transfer-encoding', 'Chunked']]],
    ['xchunked', refused, [host, ['transfer-encoding', 'xchunked']]],
    ['a list of codings', refused, [host, ['transfer-encoding', 'chunked,chunked']]],
    ['an empty coding', refused, [host, ['transfer-encoding', '']]],
    [
      'two codings',
      refused,
      [host, ['transfer-encoding', 'chunked'], ['transfer-encoding', 'chunked']],
    ],
    [
      'a coding and a length',
      refused,
      [host, ['transfer-encoding', 'chunked'], ['content-length', '0']],
    ],
    [
      'a length and a coding',
      refused,
      [host, ['content-length', '1'], ['transfer-encoding', 'chunked']],
    ],
    ['no framing', last, [host]],
    ['no host', refused, [['content-length', '1']]],
    ['two hosts', refused, [host, host, ['content-length', '1']]],
    ['an empty name', refused, [host, ['', 'x'], ['content-length', '1']]],
    ['close', last, [host, ['content-length', '1'], ['connection', 'Close']]],
    ['close in a list', last, [host, ['content-length', '1'], ['connection', 'te, close']]],
    ['keep-alive', kept, [host, ['content-length', '1'], ['connection', 'keep-alive']]],
    [
      'close, then keep-alive',
      last,
      [host, ['content-length', '1'], ['connection', 'close'], ['connection', 'keep-alive']],
    ],
  ])('%s', (_name, framing, headers) => {
    expect(decide(...headers)).toBe(framing)
  })

  it('forgets everything between two requests', () => {
    const pass = newHeaderScan()
    for (const name of ['host', 'content-length', 'transfer-encoding', 'authorization', '', 'x']) {
      scanHeader(pass, name, 'chunked')
    }
    scanHeader(pass, 'connection', 'close')
    scanHeader(pass, 'x-request-id', 'a')
    resetHeaderScan(pass)
    expect(pass).toEqual(newHeaderScan())
  })
})

describe('beginsLikeChunk', () => {
  it.each(['0', '9', 'a', 'f', 'A', 'F', '1a\r\n', 'false', '17'])('%j does', (body) => {
    expect(beginsLikeChunk(Buffer.from(body))).toBe(true)
  })
  it.each(['', '{', ' {', '\n', '[', '"', 'g', 'n', 't', '-1', '/', ':', '@', 'G', '`'])(
    '%j does not',
    (body) => {
      expect(beginsLikeChunk(Buffer.from(body))).toBe(false)
    },
  )
})
