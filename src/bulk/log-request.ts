// Hot path: no allocation, throw, closure or regular expression.
//
// Finds the path and status in an access log's line: the second word of the first quoted text after
// the time, without its query, and the word after that text. A user's name before it may be quoted,
// too.
//
//   9.1.2.3 - - [22/Aug/2026:00:00:01 +0000] "GET /a?x=1 HTTP/1.1" 200 1
//                                                 ^^               ^^^

const quote = 0x22
const bracket = 0x5d
const space = 0x20
const questionMark = 0x3f
const backslash = 0x5c
const lineEnd = 0x0a

/** Offsets in the line; `pathTo` is 0 without a request, `statusTo` without a status. */
export interface LogRequest {
  pathFrom: number
  pathTo: number
  statusFrom: number
  statusTo: number
}

/** Reads from `at`, after the client's address, to the end of the line. */
export function findLogRequest(bytes: Uint8Array, at: number, out: LogRequest): void {
  out.pathTo = 0
  out.statusTo = 0
  const end = bytes.length
  let i = at
  while (i < end && bytes[i] !== lineEnd) {
    if (bytes[i] === quote && bytes[i - 1] === space && bytes[i - 2] === bracket) break
    i += 1
  }
  if (i >= end || bytes[i] === lineEnd) return
  i += 1
  while (i < end && bytes[i] !== space && bytes[i] !== quote && bytes[i] !== lineEnd) {
    i = behind(bytes, i)
  }
  if (bytes[i] === space) {
    out.pathFrom = i + 1
    i += 1
    while (i < end && bytes[i] !== space && bytes[i] !== quote && bytes[i] !== lineEnd) {
      if (bytes[i] === questionMark && out.pathTo === 0) out.pathTo = i
      i = behind(bytes, i)
    }
    if (out.pathTo === 0) out.pathTo = i
    if (out.pathTo === out.pathFrom) out.pathTo = 0
  }
  while (i < end && bytes[i] !== quote && bytes[i] !== lineEnd) i = behind(bytes, i)
  if (i >= end || bytes[i] === lineEnd) return
  i += 1
  if (bytes[i] === lineEnd) return
  i += 1
  out.statusFrom = i
  while (i < end && bytes[i]! >= 0x30 && bytes[i]! <= 0x39) i += 1
  if (i - out.statusFrom === 3) out.statusTo = i
}

/** After the byte at `i` and the one that it escapes; never past the end of the line. */
function behind(bytes: Uint8Array, i: number): number {
  const isEscape = bytes[i] === backslash && i + 1 < bytes.length && bytes[i + 1] !== lineEnd
  return isEscape ? i + 2 : i + 1
}
