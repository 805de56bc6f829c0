// How wide the column of addresses is in lines for people: as the first lines of an input need it,
// so that IPv6 stands aligned where there is any, and IPv4 alone stays narrow.

import { addressCharsMax } from '../../ip/parse-address.ts'
import { type LineFormat, type Span, findLineField } from '../line-field.ts'

/** The longest address of IPv4. */
export const ipv4Chars = 15

const lineEnd = 0x0a
const span: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }

/** The characters of the longest text that may be an address, at least those of IPv4. */
export function addressWidth(form: LineFormat, lines: Uint8Array): number {
  let width = ipv4Chars
  for (let from = 0, to = 0; from < lines.length; from = to + 1) {
    const found = lines.indexOf(lineEnd, from)
    to = found < 0 ? lines.length : found
    findLineField(form, lines, { from, to }, span)
    const chars = span.to - span.from
    if (chars > width && chars <= addressCharsMax) width = chars
  }
  return width
}
