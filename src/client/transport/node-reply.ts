// Reads one HTTP/1.1 reply (RFC 9112) as its bytes arrive: the status, the body and what a client
// must know about the connection. Ambiguous replies are refused.
// Invariant: nothing is kept beyond `headBytesMax` and the limit of the body.

import { type TransportReply, replyTooLong } from './transport.ts'

/** As in node:http, with all interim replies; also for the lines between chunks. */
const headBytesMax = 16_384

export interface HttpReply extends TransportReply {
  readonly keepsAlive: boolean
  /** Seconds of `Keep-Alive: timeout=N`. */
  readonly idleSeconds: number | undefined
}

export type ReplyReader = ReturnType<typeof createReplyReader>

export function createReplyReader(bodyBytesMax: number) {
  let head: ResponseHead | undefined
  let parts: Buffer[] = []
  let bytes = 0
  const addToBody = (part: Buffer): void => {
    parts.push(part)
    bytes += part.length
    if (bytes > bodyBytesMax) throw replyTooLong()
  }
  const takeChunks = createChunkReader(addToBody, headBytesMax + bodyBytesMax)
  const joined = (): Buffer => (parts.length === 1 ? parts[0]! : Buffer.concat(parts))
  /** `isLast`: the connection serves no other request. */
  const reply = (isLast: boolean, body = joined()): HttpReply => {
    const { length: _length, keepsAlive, ...about } = head!
    return { ...about, text: body.toString(), keepsAlive: keepsAlive && !isLast }
  }

  /** The reply once it is complete. Throws if it is not HTTP/1.1, or too long. */
  function take(chunk: Buffer): HttpReply | undefined {
    if (head !== undefined) return takeBody(chunk)
    parts.push(chunk)
    const whole = joined()
    const end = whole.indexOf('\r\n\r\n')
    if (bytes + (end < 0 ? whole.length : end) > headBytesMax) throw noHttp()
    parts = end < 0 ? [whole] : []
    if (end < 0) return undefined
    head = parseHead(whole.toString('latin1', 0, end))
    const rest = whole.subarray(end + 4)
    if (head.status >= 200) {
      bytes = 0
      return takeBody(rest)
    }
    // An interim reply (RFC 9110, 15.2); the final one follows.
    head = undefined
    bytes += end
    return rest.length === 0 ? undefined : take(rest)
  }

  function takeBody(chunk: Buffer): HttpReply | undefined {
    const { length } = head!
    if (length === 'chunks') {
      const end = takeChunks(chunk)
      return end < 0 ? undefined : reply(end < chunk.length)
    }
    addToBody(chunk)
    if (length === 'until end') return undefined
    if (length > bodyBytesMax) throw replyTooLong()
    return bytes < length ? undefined : reply(bytes > length, joined().subarray(0, length))
  }

  /** The reply that ends with its connection, if allowed. */
  const end = () => (head?.length === 'until end' ? reply(true) : undefined)
  return { take, end }
}

/**
 * Passes on the content of a chunked body (RFC 9112, 7.1), and returns the place after its end; -1
 * if more is to come. The lines around the chunks have at most `linesBytesMax`.
 */
function createChunkReader(
  add: (part: Buffer) => void,
  linesBytesMax: number,
): (bytes: Buffer) => number {
  let line = ''
  let linesBytes = 0
  let left = 0
  let next: 'size' | 'end' | 'trailer' = 'size'

  function isEnd(ended: string): boolean {
    const isEmpty = ended === '\r\n'
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?\r\n$/i.exec(ended)?.[1]
    if (next === 'trailer' && ended.endsWith('\r\n')) return isEmpty
    if (next === 'end' && isEmpty) next = 'size'
    else if (next === 'size' && size !== undefined) {
      left = Number.parseInt(size, 16)
      next = left === 0 ? 'trailer' : 'end'
    } else throw noHttp()
    return false
  }

  return (bytes) => {
    for (let at = 0; at < bytes.length;) {
      if (left > 0) {
        const part = bytes.subarray(at, at + left)
        add(part)
        left -= part.length
        at += part.length
        continue
      }
      const end = bytes.indexOf(0x0a, at) + 1
      const to = end === 0 ? bytes.length : end
      line += bytes.toString('latin1', at, to)
      linesBytes += to - at
      if (linesBytes > linesBytesMax) throw noHttp()
      at = to
      if (end === 0) break
      if (isEnd(line)) return at
      line = ''
    }
    return -1
  }
}

interface ResponseHead extends Omit<HttpReply, 'text'> {
  readonly length: number | 'chunks' | 'until end'
}

/** `text` is without the empty line that ends it. */
function parseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, code] = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: .*)?$/.exec(first) ?? []
  if (code === undefined) throw noHttp()
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+):(.*)$/.exec(line) ?? []
    if (name === undefined) throw noHttp()
    const key = name.toLowerCase()
    const before = headers.get(key)
    headers.set(key, before === undefined ? value.trim() : `${before},${value.trim()}`)
  }
  const status = Number(code)
  if (status === 101) throw noHttp()
  const connection = headers.get('connection') ?? ''
  const hint = /timeout=(\d+)/i.exec(headers.get('keep-alive') ?? '')?.[1]
  return {
    status,
    length: status < 200 || status === 204 || status === 304 ? 0 : bodyLength(headers),
    keepsAlive: minor === '1' ? !/\bclose\b/i.test(connection) : /\bkeep-alive\b/i.test(connection),
    idleSeconds: hint === undefined ? undefined : Number(hint),
    requestId: headers.get('x-request-id'),
  }
}

function bodyLength(headers: ReadonlyMap<string, string>): ResponseHead['length'] {
  const coding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  if (coding === undefined) {
    if (length === undefined) return 'until end'
    if (/^\d{1,15}$/.test(length)) return Number(length)
  } else if (length === undefined && coding.toLowerCase() === 'chunked') return 'chunks'
  throw noHttp()
}

function noHttp(): Error {
  return new Error('The reply is not HTTP/1.1.')
}
