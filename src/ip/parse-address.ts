// Hot path: no allocation, no throw, no closure, no BigInt, no regular expression in this file.
//
// Strict text of an address to words. Four decimal octets without leading zeros; RFC 4291 IPv6
// with `::` and a trailing dotted quad under the same strictness. Deliberately not here: zones,
// brackets, prefix lengths, white space, octal, hexadecimal or shortened IPv4: no addresses.
//
// Invariants: `out` is written whole (unused words zero) when the answer is 4 or 6, and not touched
// when it is 0. Nothing outside bytes[start, end) is read. The scratch arrays below are safe
// because nothing in here can be interrupted.

/** The longest text of an address: `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`. */
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

// Addresses of the usual forms are read from the text itself, in a third to two thirds of the time.
// What is neither is copied here, and the parser of bytes decides.
const textBytes = new Uint8Array(addressCharsMax)
const groups = new Uint16Array(8)

/**
 * The family of the address that `text` is, its value in `out`; 0 where `text` is no address.
 * An IPv4-mapped address is IPv6 here: see embedded-ipv4.ts for what it stands for.
 */
export function parseAddress(text: string, out: Uint32Array): 0 | 4 | 6 {
  const length = text.length
  if (length > addressCharsMax) return 0
  const value = readIpv4Text(text)
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
    // A wider code would lose its high bits in a byte and could then pass for a digit.
    if (code > 0x7f) return 0
    textBytes[at] = code
  }
  return parseAddressBytes(textBytes, 0, length, out)
}

/** `parseAddress` of the bytes from `start` to before `end`. */
export function parseAddressBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint32Array,
): 0 | 4 | 6 {
  // No longer text is an address; this bounds the work on a hostile one.
  if (end - start > addressCharsMax) return 0
  // A colon comes at the latest behind the first four digits of IPv6, a dot behind three of IPv4.
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

/** The value of exactly a dotted quad, or -1. */
function readIpv4(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  let dots = 0
  // -1 until the octet has a digit, so that 0 can only mean a leading zero.
  let octet = -1
  for (let at = start; at < end; at++) {
    const code = bytes[at]!
    const digit = code - ZERO
    if (digit >= 0 && digit <= 9) {
      if (octet === 0) return -1
      octet = octet < 0 ? digit : octet * 10 + digit
      if (octet > 255) return -1
    } else {
      if (code !== DOT || octet < 0 || dots === 3) return -1
      value = value * 256 + octet
      octet = -1
      dots++
    }
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : -1
}

/** `readIpv4` of a text; its twin, step by step. */
function readIpv4Text(text: string): number {
  let value = 0
  let dots = 0
  let octet = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const digit = code - ZERO
    if (digit >= 0 && digit <= 9) {
      if (octet === 0) return -1
      octet = octet < 0 ? digit : octet * 10 + digit
      if (octet > 255) return -1
    } else {
      if (code !== DOT || octet < 0 || dots === 3) return -1
      value = value * 256 + octet
      octet = -1
      dots++
    }
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : -1
}

/**
 * Whether `text` is an address of IPv6 without a dotted quad; its value in `out`, which is not
 * touched where it is none. `parseIpv6` step by step, whose word counts on all that this one does
 * not take.
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
    let value = digitOf(text.charCodeAt(at))
    if (value === NOT_HEX) return false
    // Digit by digit: a loop over them takes a third longer.
    let code = ++at < end ? text.charCodeAt(at) : 0
    let digit = digitOf(code)
    if (digit !== NOT_HEX) {
      value = (value << 4) | digit
      code = ++at < end ? text.charCodeAt(at) : 0
      digit = digitOf(code)
      if (digit !== NOT_HEX) {
        value = (value << 4) | digit
        code = ++at < end ? text.charCodeAt(at) : 0
        digit = digitOf(code)
        if (digit !== NOT_HEX) {
          value = (value << 4) | digit
          code = ++at < end ? text.charCodeAt(at) : 0
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

/** Of any character of a text, also one that is no byte. */
function digitOf(code: number): number {
  return code < hexDigits.length ? hexDigits[code]! : NOT_HEX
}

/**
 * One turn of the loop reads one group and the colon, or colons, behind it. For `1::2.3.4.5`:
 * group 1, gap at 1, then the quad as two groups: count 3, so five zero groups fill the gap.
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
    // A single colon may not end the text, a double one may.
    if (at === end) return 0
    if (bytes[at] === COLON) {
      if (gap >= 0) return 0
      gap = count
      at++
    }
  }
  // `::` stands for one group or more (RFC 4291, 2.2), never for none.
  if (gap < 0 ? count !== 8 : count === 8) return 0
  writeGroups(count, gap, out)
  return 6
}

/** The groups before the gap go to the front of `out`, those behind it to the end. */
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
