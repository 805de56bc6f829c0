// Hot path: no allocation, throw, closure or regular expression.
//
// Reads lines that are a dotted IPv4 address and nothing else, as nearly all lines of most files
// are: line end and value in one pass, from one array for all pieces, so that compiled code knows
// its address. All other lines are left to line-field.ts and src/ip/parse-address.ts, the twins.

import { runElementBytes } from '../../schema/table-layout.ts'
import type { Query } from '../../table/lookup/query.ts'
import type { GrowingBuffer } from '../growing-buffer.ts'
import { appendSlice, appendView } from '../output-buffer.ts'

/** Larger than any piece without very long lines. */
const pageBytes = 1 << 17

/** The lines of one piece, a line end, and spare bytes for long copies. */
const page = new Uint8Array(pageBytes + 2 * runElementBytes)
const pageView = new DataView(page.buffer)

const lineEnd = 0x0a
const dot = 0x2e
const zero = 0x30

/** The page with these lines, until the next piece; `undefined` if they do not fit. */
export function copyToPage(lines: Uint8Array): Uint8Array | undefined {
  if (lines.length > pageBytes) return undefined
  page.set(lines)
  page[lines.length] = lineEnd
  return page
}

/** Reads the line at `from` of the page and returns its end, or -1 if it is not a plain address. */
export function parseIpv4Line(query: Query, from: number): number {
  let value = 0
  let at = from
  for (let octets = 1; ; octets++) {
    let octet = digitAt(at++)
    if (octet > 9) return -1
    let digit = digitAt(at)
    if (digit <= 9) {
      // An octet of several digits never begins with zero.
      if (octet === 0) return -1
      octet = octet * 10 + digit
      digit = digitAt(++at)
      if (digit <= 9) {
        octet = octet * 10 + digit
        if (octet > 255) return -1
        at += 1
      }
    }
    value = (value << 8) | octet
    if (octets === 4) break
    if (page[at++] !== dot) return -1
  }
  if (page[at] !== lineEnd) return -1
  const { words } = query
  words[0] = value
  words[1] = 0
  words[2] = 0
  words[3] = 0
  query.bytes = page
  query.from = from
  query.to = at
  query.family = 4
  return at
}

/** More than 9 if it is not a digit. */
function digitAt(at: number): number {
  return (page[at]! - zero) >>> 0
}

export function appendQueryText(buffer: GrowingBuffer, { bytes, from, to }: Query): void {
  if (bytes === page) appendView(buffer, pageView, from, to)
  else appendSlice(buffer, bytes, from, to)
}
