// Hot path: no allocation, no throw, no closure, no BigInt.
//
// Canonical text (RFC 5952) as bytes: lower case, no leading zeros, `::` for the longest run of two
// or more zero groups, the leftmost of equal runs. IPv4-mapped addresses are not written mixed
// here, since they are judged and written as IPv4.
//
// Each function writes at `at`, needs room for 39 bytes, and returns the position after.

const zero = 0x30
const colon = 0x3a
const dot = 0x2e

const hexDigits = new Uint8Array(16)
for (let digit = 0; digit < 16; digit++) hexDigits[digit] = digit.toString(16).charCodeAt(0)

export function formatIpv4Bytes(value: number, out: Uint8Array, at: number): number {
  let end = putOctet(value >>> 24, out, at)
  out[end++] = dot
  end = putOctet((value >>> 16) & 0xff, out, end)
  out[end++] = dot
  end = putOctet((value >>> 8) & 0xff, out, end)
  out[end++] = dot
  return putOctet(value & 0xff, out, end)
}

function putOctet(octet: number, out: Uint8Array, at: number): number {
  let end = at
  // octet * 41 >>> 12 is octet / 100, and rest * 205 >>> 11 is rest / 10, for all values here.
  const hundreds = (octet * 41) >>> 12
  const rest = octet - hundreds * 100
  const tens = (rest * 205) >>> 11
  if (hundreds > 0) out[end++] = zero + hundreds
  if (octet >= 10) out[end++] = zero + tens
  out[end++] = zero + rest - tens * 10
  return end
}

export function formatAddressBytes(words: Uint32Array, out: Uint8Array, at: number): number {
  let gap = -1
  let gapEnd = -1
  let run = 0
  for (let index = 0; index < 8; index++) {
    run = groupAt(words, index) === 0 ? run + 1 : 0
    if (run > 1 && run > gapEnd - gap) {
      gapEnd = index + 1
      gap = gapEnd - run
    }
  }
  let end = at
  for (let index = 0; index < 8; index++) {
    if (index === gap) {
      out[end++] = colon
      out[end++] = colon
      index = gapEnd - 1
    } else {
      if (index > 0 && index !== gapEnd) out[end++] = colon
      end = putGroup(groupAt(words, index), out, end)
    }
  }
  return end
}

function putGroup(group: number, out: Uint8Array, at: number): number {
  let end = at
  if (group > 0xfff) out[end++] = hexDigits[group >>> 12]!
  if (group > 0xff) out[end++] = hexDigits[(group >>> 8) & 15]!
  if (group > 0xf) out[end++] = hexDigits[(group >>> 4) & 15]!
  out[end++] = hexDigits[group & 15]!
  return end
}

/** A group of 16 bits, 0 to 7. */
function groupAt(words: Uint32Array, index: number): number {
  const word = words[index >> 1]!
  return (index & 1) === 0 ? word >>> 16 : word & 0xffff
}
