// Hot path: no allocation, throw or closure but in `newHeaderScan` and `framingForMethod`.
//
// The framing guard. It checks requests before uWebSockets.js's parser, which is too lenient to be
// safe behind a proxy: if proxy and server disagree on the end of a request, the rest becomes a
// second request that the proxy never saw (request smuggling). What the parser does, observed on
// raw sockets with uws-pack 20.0.8:
//
//   rejected by itself      Host missing; Content-Length beside Transfer-Encoding; Content-Length
//                           with a sign, a comma, a base, a space or 20 digits; HTTP/1.0; header
//                           names with invalid characters (the socket hangs, then is closed)
//   passed on               two Content-Length, two Host, two Transfer-Encoding, any coding
//                           (`xchunked`, `gzip, chunked`), an empty Content-Length
//   misread                 a last chunk without its CRLF; chunk data without CRLF; bare line feeds
//   hidden                  all headers after one with an empty name; forEach ends there
//   answered with 505       a request line split between segments after the method's space or
//                           inside `HTTP/1.1` and its line end, an absolute or asterisk target,
//                           and a trailer, after the body was passed on
//   not answered            an empty line before a request, and a chunk with an extension, whose
//                           size it misreads
//
// So a connection stays open only if nothing can be read in two ways:
//
//   refused   what `framingOf` calls bad: closed at once, because only close() stops the parser
//   last      a body in chunks, or no stated length (a hidden one may follow an empty name), or
//             a body that begins as a chunk would, or a method that is not GET or POST: answered
//             from a later turn of the loop, with close; if anything was parsed after it by then,
//             uWebSockets.js kills the connection
//   kept      GET or POST, one Content-Length of digits and nothing else
//
// What remains: a front proxy that accepts two different Content-Length, forwards both with an
// empty name between them, and uses the second one. We know of no proxy that does any of that.
//
// The parser also treats bytes above 0x7f around a value as white space, so a length after such a
// byte is read. It also accepts the binary preface of the PROXY protocol before a request; the
// addresses in it are not used.
//
// Not here: what a request means.

export const framings = { refused: 0, last: 1, kept: 2 } as const
export type Framing = (typeof framings)[keyof typeof framings]

/** Fifteen digits are exact in a double, and far above every limit. */
const lengthDigitsMax = 15

/** One object per worker, reset by every request. */
export type HeaderScan = ReturnType<typeof newHeaderScan>

export function newHeaderScan() {
  return {
    hostCount: 0,
    contentLengthCount: 0,
    transferEncodingCount: 0,
    /** -1 if the last Content-Length is not one to fifteen digits. */
    contentLength: 0,
    /** The last Transfer-Encoding is exactly `chunked`. */
    chunked: false,
    /** A name that no request may have. */
    badName: false,
    authorizationCount: 0,
    authorization: '',
    requestId: '',
    /** The client says that it will send nothing more. */
    connectionClose: false,
    /** It says nothing else: then uWebSockets.js itself closes after the answer. */
    closesItself: false,
  }
}

export function resetHeaderScan(scan: HeaderScan): void {
  scan.hostCount = 0
  scan.contentLengthCount = 0
  scan.transferEncodingCount = 0
  scan.contentLength = 0
  scan.chunked = false
  scan.badName = false
  scan.authorizationCount = 0
  scan.authorization = ''
  scan.requestId = ''
  scan.connectionClose = false
  scan.closesItself = false
}

/** The name is in lower case, the value trimmed. Lengths are compared first: they mostly differ. */
export function scanHeader(scan: HeaderScan, name: string, value: string): void {
  switch (name.length) {
    case 0:
      scan.badName = true
      return
    case 4:
      if (name === 'host') scan.hostCount += 1
      return
    case 10:
      if (name !== 'connection') return
      scan.connectionClose ||= saysClose(value)
      scan.closesItself = value.length === 5 && scan.connectionClose
      return
    case 12:
      if (name === 'x-request-id') scan.requestId = value
      return
    case 13:
      if (name !== 'authorization') return
      scan.authorizationCount += 1
      scan.authorization = value
      return
    case 14:
      if (name !== 'content-length') return
      scan.contentLengthCount += 1
      scan.contentLength = readLength(value)
      return
    case 17:
      if (name !== 'transfer-encoding') return
      scan.transferEncodingCount += 1
      scan.chunked = value.length === 7 && value.toLowerCase() === 'chunked'
      return
    default:
  }
}

function saysClose(connection: string): boolean {
  return connection.length >= 5 && connection.toLowerCase().includes('close')
}

export function framingOf(scan: HeaderScan): Framing {
  if (
    scan.hostCount !== 1 ||
    scan.contentLengthCount > 1 ||
    scan.transferEncodingCount > 1 ||
    scan.badName
  ) {
    return framings.refused
  }
  if (scan.transferEncodingCount === 1) {
    return scan.chunked && scan.contentLengthCount === 0 ? framings.last : framings.refused
  }
  if (scan.contentLength < 0) return framings.refused
  return scan.contentLengthCount === 1 && !scan.connectionClose ? framings.kept : framings.last
}

/** -1 if it is not one to fifteen digits. */
function readLength(text: string): number {
  if (text.length === 0 || text.length > lengthDigitsMax) return -1
  let value = 0
  for (let i = 0; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/**
 * Whether a proxy that saw a hidden Transfer-Encoding could read a body of stated length as chunks:
 * it begins with a hexadecimal digit. No body that is answered with 200 does.
 */
export function beginsLikeChunk(body: Uint8Array): boolean {
  const byte = body.length === 0 ? 0 : body[0]!
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x46) ||
    (byte >= 0x61 && byte <= 0x66)
  )
}

/** All parsers read these alike. */
const plainMethods: ReadonlySet<string> = new Set(['GET', 'POST'])

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * For requests that no route has taken, whose method may be anything: one with other characters
 * than a token's begins with the rest of a body. Not hot.
 */
export function framingForMethod(method: string, framing: Framing): Framing {
  if (framing === framings.refused || plainMethods.has(method)) return framing
  return token.test(method) ? framings.last : framings.refused
}
