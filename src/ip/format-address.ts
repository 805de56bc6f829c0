// Canonical text of an address (RFC 5952). IPv4-mapped addresses are written mixed,
// `::ffff:192.0.2.1` (RFC 5952, 5); others by format-address-bytes.ts. The inverse of
// parse-address.ts.

import type { Family } from './address.ts'
import { formatAddressBytes } from './format-address-bytes.ts'

const bytes = Buffer.alloc(39)

/** IPv4 is read from words[0] alone. */
export function formatAddress(family: Family, words: Uint32Array): string {
  if (family === 4) return formatIpv4(words[0]!)
  if (words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    return `::ffff:${formatIpv4(words[3]!)}`
  }
  return bytes.toString('latin1', 0, formatAddressBytes(words, bytes, 0))
}

export const formatIpv4 = (value: number): string =>
  `${value >>> 24}.${(value >>> 16) & 0xff}.${(value >>> 8) & 0xff}.${value & 0xff}`
