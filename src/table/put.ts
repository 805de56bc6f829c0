// Hot path: no allocation, no throw, no closure, no regular expression.
//
// Puts pieces of JSON into bytes. Each function writes at `at` and returns the place behind what it
// wrote; the caller has made sure that there is room (`escapedBytesMax` a byte of text).

/** A control character becomes six bytes, `\u001f`; nothing becomes more. */
export const escapedBytesMax = 6

const zero = 0x30
const quote = 0x22
const backslash = 0x5c

/** Up to here a division is one of integers, five times as fast. */
const intMax = 2 ** 31 - 1

const hexDigits = Buffer.from('0123456789abcdef', 'latin1')

/** The letter behind the backslash for characters that have a short escape (RFC 8259, 7). */
const shortEscapes = new Uint8Array(128)
for (const [code, letter] of [
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [quote, '"'],
  [backslash, '\\'],
] as const) {
  shortEscapes[code] = letter.charCodeAt(0)
}

/** Bytes as they are. A loop, for pieces of up to some twenty bytes; `Uint8Array.set` is for more. */
export function putBytes(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) out[at + i] = bytes[i]!
  return at + bytes.length
}

/** `source[from … to)`, UTF-8, as the inside of a JSON string, escaped as JSON.stringify does. */
export function putText(
  out: Uint8Array,
  at: number,
  source: Uint8Array,
  from: number,
  to: number,
): number {
  let end = at
  for (let i = from; i < to; i++) {
    const byte = source[i]!
    if (byte >= 0x20 && byte !== quote && byte !== backslash) out[end++] = byte
    else end = putEscaped(out, end, byte)
  }
  return end
}

function putEscaped(out: Uint8Array, at: number, byte: number): number {
  out[at] = backslash
  const letter = shortEscapes[byte]!
  if (letter !== 0) {
    out[at + 1] = letter
    return at + 2
  }
  out[at + 1] = 0x75
  out[at + 2] = zero
  out[at + 3] = zero
  out[at + 4] = hexDigits[byte >>> 4]!
  out[at + 5] = hexDigits[byte & 15]!
  return at + 6
}

/** A whole number from 0 to 2^53 - 1. */
export function putWhole(out: Uint8Array, at: number, value: number): number {
  let digits = 1
  for (let limit = 10; digits < 16 && value >= limit; limit *= 10) digits++
  let rest = value
  let i = at + digits - 1
  for (; rest > intMax; i--) {
    const next = Math.floor(rest / 10)
    out[i] = zero + (rest - next * 10)
    rest = next
  }
  let whole = rest | 0
  for (; i >= at; i--) {
    const next = (whole / 10) | 0
    out[i] = zero + (whole - next * 10)
    whole = next
  }
  return at + digits
}

/**
 * `value` ten-thousandths as JSON writes the number: -1512093 is `-151.2093`, 525200 is `52.52`.
 * Exact, because a double's shortest text is the decimal it was made of, up to 15 digits.
 */
export function putTenThousandths(out: Uint8Array, at: number, value: number): number {
  let end = at
  let rest = value
  if (rest < 0) {
    out[end++] = 0x2d
    rest = -rest
  }
  const whole = Math.floor(rest / 10_000)
  end = putWhole(out, end, whole)
  let fraction = rest - whole * 10_000
  if (fraction === 0) return end
  out[end++] = 0x2e
  for (let place = 1000; fraction > 0; place /= 10) {
    const digit = Math.floor(fraction / place)
    out[end++] = zero + digit
    fraction -= digit * place
  }
  return end
}
