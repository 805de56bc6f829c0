// Hot path: everything except `bogonRanges` and `rangesOf`. No allocation, throw, closure, BigInt
// or regular expression there.
//
// Bogons: addresses that must not appear on the public Internet. The most specific entry of IANA's
// special-purpose registries (data/iana) that says True or False decides; multicast and unassigned
// IPv6, outside 2000::/3, are added. The API's contract treats two cases that the registries leave
// open as ordinary: Teredo (judged by its client's address) and 192.88.99.0/24. ::ffff:0:0/96 is a
// bogon in IPv6: callers that judge embedded addresses check embedded-ipv4.ts first.
//
// Invariant, tested: the fast `isBogon` agrees with `bogonRanges` and the registries.

import type { Family } from './address.ts'
import { parsePrefix, type Range } from './range.ts'
import { subtract, toRangeSet } from './range-set.ts'

/** The words are those of parse-address.ts. */
export function isBogon(family: Family, words: Uint32Array): boolean {
  return family === 4 ? isIpv4Bogon(words[0]!) : isIpv6Bogon(words)
}

/** 1 for a first octet with any bogon; other octets need no further check. */
const hasBogons = new Uint8Array(256).fill(1, 224)
for (const octet of [0, 10, 100, 127, 169, 172, 192, 198, 203]) hasBogons[octet] = 1

function isIpv4Bogon(value: number): boolean {
  const top = value >>> 24
  return hasBogons[top] === 1 && isBogonUnder(top, value)
}

function isBogonUnder(top: number, value: number): boolean {
  if (top >= 224) return true // 224.0.0.0/4 multicast, 240.0.0.0/4 reserved
  switch (top) {
    case 0:
    case 10:
    case 127:
      return true
    case 100:
      return value >>> 22 === 0x191 // 100.64.0.0/10
    case 169:
      return value >>> 16 === 0xa9fe // 169.254.0.0/16
    case 172:
      return value >>> 20 === 0xac1 // 172.16.0.0/12
    case 192:
      if (value >>> 16 === 0xc0a8) return true // 192.168.0.0/16
      if (value >>> 8 === 0xc00002) return true // 192.0.2.0/24
      // 192.0.0.0/24 but for the two anycast addresses 192.0.0.9 and 192.0.0.10
      return value >>> 8 === 0xc00000 && value !== 0xc0000009 && value !== 0xc000000a
    case 198:
      return value >>> 17 === 0x6309 || value >>> 8 === 0xc63364 // 198.18.0.0/15, 198.51.100.0/24
    case 203:
      return value >>> 8 === 0xcb0071 // 203.0.113.0/24
    default:
      return false
  }
}

function isIpv6Bogon(words: Uint32Array): boolean {
  const top = words[0]!
  if (top >>> 29 !== 1) {
    // Outside 2000::/3, only 64:ff9b::/96 is ordinary.
    return top !== 0x0064ff9b || words[1] !== 0 || words[2] !== 0
  }
  if (top >>> 9 === 0x20010000 >>> 9) return isProtocolBogon(top & 0x1ff, words)
  return top === 0x20010db8 || top >>> 12 === 0x3fff0 // 2001:db8::/32, 3fff::/20
}

/** Inside 2001::/23, IETF Protocol Assignments; `group` is the address' second group. */
function isProtocolBogon(group: number, words: Uint32Array): boolean {
  switch (group) {
    case 0: // 2001::/32, Teredo
    case 3: // 2001:3::/32, AMT
      return false
    case 1: // 2001:1::1 to 2001:1::3, anycast
      return words[1] !== 0 || words[2] !== 0 || words[3]! < 1 || words[3]! > 3
    case 4: // 2001:4:112::/48, AS112
      return words[1]! >>> 16 !== 0x112
    default: // 2001:20::/28 ORCHIDv2 and 2001:30::/28 DET are ordinary
      return group >>> 5 !== 1
  }
}

const bogonPrefixes = {
  4:
    '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
    '192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
  6: '::/3 2001::/23 2001:db8::/32 3fff::/20 4000::/2 8000::/1',
} as const
const ordinaryPrefixes = {
  4: '192.0.0.9/32 192.0.0.10/32',
  6: '64:ff9b::/96 2001::/32 2001:1::1/128 2001:1::2/127 2001:3::/32 2001:4:112::/48 2001:20::/27',
} as const

/** All bogons of a family; computed on each call. */
export function bogonRanges(family: Family): readonly Range[] {
  return subtract(rangesOf(bogonPrefixes[family]), rangesOf(ordinaryPrefixes[family]))
}

function rangesOf(prefixes: string): Range[] {
  return toRangeSet(prefixes.split(' ').map((prefix) => parsePrefix(prefix)!))
}
