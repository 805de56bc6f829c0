// Hot path: no allocation, no throw, no closure, no BigInt, no regular expression in this file.
//
// Parses the strict text of an address to words: four decimal octets without leading zeros; RFC
// 4291 IPv6 with `::` and a trailing dotted quad, as strict. Rejects zones, brackets, prefix
// lengths, white space, and octal, hexadecimal or shortened IPv4.
//
// Invariants: `out` is written completely (unused words zero) if the result is 4 or 6, and
// unchanged if it is 0. Nothing outside bytes[start, end) is read. The scratch arrays are safe
// since nothing here can be interrupted.

/** The longest address: `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`. */
export const addressCharsMax = 45

const DOT = 0x2e
const COLON = 0x3a
const ZERO = 0x30

const NOT_HEX = 0xff

/** Character code to hexadecimal digit, or NOT_HEX. */
const hexDigits = new Uint8Array(256).fill(NOT_HEX)
for (let digit = 0; digit < 16; digit++) {
  hexDigits[digit.toString(16).charCodeAt(0)] = digit
  hexDigits[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

// Usual forms are read from the text itself, in a third to two thirds of the time. Other texts are
// copied here for the parser of bytes.
const textBytes = new Uint8Array(addressCharsMax)
const groups = new Uint16Array(8)

/**
 * Returns the family of the address `text`, its value in `out`, or 0 if it is invalid. IPv4-mapped
 * addresses are IPv6 here (see embedded-ipv4.ts).
 */
export function parseAddress(text: string, out: Uint32Array): 0 | 4 | 6 {
  const length = text.length
  if (length > addressCharsMax) return 0
  const value = length > 4 && text.charCodeAt(4) === COLON ? -1 : readIpv4Text(text)
  if (value >= 0) {
    out[0] = value
    out[1] = 0
    out[2] = 0
    out[3] = 0
    return 4
  }
  if (readIpv6Text(text, out)) return 6
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    // The low byte of a wider code could pass for a digit.
    if (code > 0x7f) return 0
    textBytes[at] = code
  }
  return parseAddressBytes(textBytes, 0, length, out)
}

/** `parseAddress` of bytes[start, end). */
export function parseAddressBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint32Array,
): 0 | 4 | 6 {
  // Bounds the work on hostile texts: no longer one is an address.
  if (end - start > addressCharsMax) return 0
  // A colon follows the first four digits of IPv6 at the latest, a dot three of IPv4.
  for (let at = start; at < end; at++) {
    const code = bytes[at]!
    if (code === DOT) {
      const value = readIpv4(bytes, start, end)
      if (value < 0) return 0
      out[0] = value
      out[1] = 0
      out[2] = 0
      out[3] = 0
      return 4
    }
    if (code === COLON) return parseIpv6(bytes, start, end, out)
  }
  return 0
}

/** The value of a dotted quad, or -1. */
function readIpv4(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  let at = start
  for (let dots = 0; dots < 3; dots++) {
    // An octet is followed by its dot and at least one digit.
    if (at + 2 >= end) return -1
    const octet = octetBeforeDot(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!)
    if (octet < 0) return -1
    at += octet & 3
    if (at >= end || bytes[at] !== DOT) return -1
    at++
    value = (value << 8) | (octet >> 2)
  }
  const octet = lastOctet(end - at, bytes[end - 3]!, bytes[end - 2]!, bytes[end - 1]!)
  return octet < 0 ? -1 : ((value << 8) | octet) >>> 0
}

/** `readIpv4` of a text, step by step. */
function readIpv4Text(text: string): number {
  const end = text.length
  let value = 0
  let at = 0
  for (let dots = 0; dots < 3; dots++) {
    if (at + 2 >= end) return -1
    const octet = octetBeforeDot(
      text.charCodeAt(at),
      text.charCodeAt(at + 1),
      text.charCodeAt(at + 2),
    )
    if (octet < 0) return -1
    at += octet & 3
    if (at >= end || text.charCodeAt(at) !== DOT) return -1
    at++
    value = (value << 8) | (octet >> 2)
  }
  const octet = lastOctet(
    end - at,
    text.charCodeAt(end - 3),
    text.charCodeAt(end - 2),
    text.charCodeAt(end - 1),
  )
  return octet < 0 ? -1 : ((value << 8) | octet) >>> 0
}

// An octet's number of digits is unpredictable, and a mispredicted branch costs as much as reading
// the octet. So both functions below read three characters and mask those outside the octet: -1
// keeps all bits, 0 none. Negative results are invalid: in a sum of conditions by `|`, the sign
// shows whether one failed.

/**
 * The octet that begins with `first`, in the upper bits, and its number of digits, in the lowest
 * two, by the position of the dot. Negative if invalid.
 */
function octetBeforeDot(first: number, second: number, third: number): number {
  const two = -(second ^ DOT) >> 31
  const three = two & (-(third ^ DOT) >> 31)
  const a = first - ZERO
  const b = (second - ZERO) & two
  const c = (third - ZERO) & three
  let octet = a + (two & (a * 9 + b))
  octet += three & (octet * 9 + c)
  const fault = a | (9 - a) | (two & (a - 1)) | b | (9 - b) | c | (9 - c) | (255 - octet)
  return (octet << 2) | (1 - two - three) | (fault & (1 << 31))
}

/** The octet of the last `digits` of three characters; negative if invalid. */
function lastOctet(digits: number, first: number, second: number, third: number): number {
  const two = (1 - digits) >> 31
  const three = (2 - digits) >> 31
  const a = (first - ZERO) & three
  const b = (second - ZERO) & two
  const c = third - ZERO
  const octet = a * 100 + b * 10 + c
  const leads = three === 0 ? b : a
  const fault = a | (9 - a) | b | (9 - b) | c | (9 - c) | (two & (leads - 1)) | (255 - octet)
  return digits >= 1 && digits <= 3 ? octet | (fault & (1 << 31)) : -1
}

/**
 * Parses IPv6 without a dotted quad into `out`; false, with `out` unchanged, for anything else.
 * Follows `parseIpv6` step by step, which decides the rest.
 */
function readIpv6Text(text: string, out: Uint32Array): boolean {
  const end = text.length
  if (end < 2) return false
  let at = 0
  let count = 0
  let gap = -1
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return false
    gap = 0
    at = 2
  }
  while (at < end) {
    if (count === 8) return false
    let value = at + 4 < end ? fourDigits(text, at) : -1
    let code = 0
    if (value >= 0) {
      at += 4
      code = text.charCodeAt(at)
    } else {
      value = digitOf(text.charCodeAt(at))
      if (value === NOT_HEX) return false
      // Unrolled: a loop takes a third longer.
      code = ++at < end ? text.charCodeAt(at) : 0
      let digit = digitOf(code)
      if (digit !== NOT_HEX) {
        value = (value << 4) | digit
        code = ++at < end ? text.charCodeAt(at) : 0
        digit = digitOf(code)
        if (digit !== NOT_HEX) {
          value = (value << 4) | digit
          code = ++at < end ? text.charCodeAt(at) : 0
          digit = digitOf(code)
          // A fourth digit is the text's last.
          if (digit !== NOT_HEX) {
            value = (value << 4) | digit
            at++
          }
        }
      }
    }
    groups[count++] = value
    if (at === end) break
    if (code !== COLON) return false
    at++
    if (at === end) return false
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return false
      gap = count
      at++
    }
  }
  if (gap < 0 ? count !== 8 : count === 8) return false
  writeGroups(count, gap, out)
  return true
}

/** The value of the four characters from `at`, or -1: most groups have four digits. */
function fourDigits(text: string, at: number): number {
  const first = text.charCodeAt(at)
  const second = text.charCodeAt(at + 1)
  const third = text.charCodeAt(at + 2)
  const fourth = text.charCodeAt(at + 3)
  const a = hexDigits[first & 0xff]!
  const b = hexDigits[second & 0xff]!
  const c = hexDigits[third & 0xff]!
  const d = hexDigits[fourth & 0xff]!
  const wide = (first | second | third | fourth) >> 8
  return (a | b | c | d) > 15 || wide > 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d
}

/** For any character, also above a byte. */
function digitOf(code: number): number {
  return code < hexDigits.length ? hexDigits[code]! : NOT_HEX
}

/**
 * Each iteration reads one group and the colon or colons after it. For `1::2.3.4.5`: group 1, gap
 * at 1, then the quad as two groups: count 3, so five zero groups fill the gap.
 */
function parseIpv6(bytes: Uint8Array, start: number, end: number, out: Uint32Array): 0 | 6 {
  let at = start
  let count = 0
  let gap = -1
  if (bytes[at] === COLON) {
    if (end - at < 2 || bytes[at + 1] !== COLON) return 0
    gap = 0
    at += 2
  }
  while (at < end) {
    if (count === 8) return 0
    const begin = at
    let value = 0
    while (at < end) {
      const digit = hexDigits[bytes[at]!]!
      if (digit === NOT_HEX) break
      value = (value << 4) | digit
      at++
    }
    if (at === begin || at - begin > 4) return 0
    if (at < end && bytes[at] === DOT) {
      if (count > 6) return 0
      const quad = readIpv4(bytes, begin, end)
      if (quad < 0) return 0
      groups[count++] = quad >>> 16
      groups[count++] = quad & 0xffff
      break
    }
    groups[count++] = value
    if (at === end) break
    if (bytes[at] !== COLON) return 0
    at++
    // A single colon cannot end the text, a double one can.
    if (at === end) return 0
    if (bytes[at] === COLON) {
      if (gap >= 0) return 0
      gap = count
      at++
    }
  }
  // `::` stands for at least one group (RFC 4291, 2.2).
  if (gap < 0 ? count !== 8 : count === 8) return 0
  writeGroups(count, gap, out)
  return 6
}

/** Groups before the gap go to the front of `out`, later ones to the end. */
function writeGroups(count: number, gap: number, out: Uint32Array): void {
  if (gap >= 0) {
    const zeros = 8 - count
    for (let index = count - 1; index >= gap; index--) groups[index + zeros] = groups[index]!
    for (let index = gap; index < gap + zeros; index++) groups[index] = 0
  }
  out[0] = (groups[0]! << 16) | groups[1]!
  out[1] = (groups[2]! << 16) | groups[3]!
  out[2] = (groups[4]! << 16) | groups[5]!
  out[3] = (groups[6]! << 16) | groups[7]!
}
