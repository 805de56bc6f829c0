// Canonical text: the examples of RFC 5952, the round trip, and ipaddr.js as a second writer.

import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { formatAddress, formatIpv4 } from '../../src/ip/format-address.ts'
import { addressArbitrary, bytesOf, ipv4Words, ipv6Words } from './addresses.ts'

/** Text as somebody wrote it, then canonical. */
const canonical: readonly (readonly [written: string, text: string])[] = [
  ['0.0.0.0', '0.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['192.0.2.1', '192.0.2.1'],
  // RFC 5952, 4.1: no leading zeros, yet one digit for zero.
  ['2001:0db8::0001', '2001:db8::1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  // 4.2.1: as short as possible.
  ['2001:db8:0:0:0:0:2:1', '2001:db8::2:1'],
  ['2001:db8:0:0::1', '2001:db8::1'],
  // 4.2.2: not for one group alone.
  ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  // 4.2.3: the longest run, of equal ones the first.
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['0:0:1:0:0:1:0:0', '::1:0:0:1:0:0'],
  ['0:0:1:0:0:0:1:0', '0:0:1::1:0'],
  // 4.3: lower case.
  ['2001:DB8::ABCD', '2001:db8::abcd'],
  // Runs at the ends and nothing else.
  ['0:0:0:0:0:0:0:0', '::'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['1:0:0:0:0:0:0:0', '1::'],
  ['1:0:0:0:0:0:0:1', '1::1'],
  ['1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
  ['0:0:3:4:5:6:7:8', '::3:4:5:6:7:8'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  // 5: mixed for IPv4-mapped addresses, and for no others.
  ['::ffff:c000:0201', '::ffff:192.0.2.1'],
  ['0:0:0:0:0:FFFF:0:0', '::ffff:0.0.0.0'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['::192.0.2.1', '::c000:201'],
  ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
  ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
  ['1::ffff:1.2.3.4', '1::ffff:102:304'],
  ['::1:0:ffff:1.2.3.4', '::1:0:ffff:102:304'],
]

function twinText(twin: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (twin instanceof ipaddr.IPv4) return twin.toString()
  if (twin.isIPv4MappedAddress()) return `::ffff:${twin.toIPv4Address().toString()}`
  return twin.toRFC5952String()
}

function isNotMapped(words: Uint32Array): boolean {
  return words[0] !== 0 || words[1] !== 0 || words[2] !== 0xffff
}

describe('canonical text', () => {
  it.each(canonical)('%s is %s', (written, text) => {
    const words = newAddressWords()
    const family = parseAddress(written, words)
    if (family === 0) throw new Error(`${written} is no address`)
    expect(formatAddress(family, words)).toBe(text)
  })

  it('is what the parser reads back', () => {
    fc.assert(
      fc.property(addressArbitrary, ([family, words]) => {
        const back = newAddressWords()
        expect(parseAddress(formatAddress(family, words), back)).toBe(family)
        expect([...back]).toEqual([...words])
      }),
      { numRuns: 5_000 },
    )
  })

  it('is what ipaddr.js writes, but for IPv4-mapped addresses', () => {
    fc.assert(
      fc.property(addressArbitrary, ([family, words]) => {
        const twin = ipaddr.fromByteArray(bytesOf(family, words))
        expect(formatAddress(family, words)).toBe(twinText(twin))
      }),
      { numRuns: 5_000 },
    )
  })

  it('of IPv6 agrees with the URL parser of this runtime', () => {
    fc.assert(
      fc.property(ipv6Words.filter(isNotMapped), (words) => {
        const text = formatAddress(6, words)
        expect(new URL(`http://[${text}]/`).hostname).toBe(`[${text}]`)
      }),
      { numRuns: 5_000 },
    )
  })

  it('of IPv4 reads words[0] alone', () => {
    fc.assert(
      fc.property(ipv4Words, (words) => {
        const [value] = words
        expect(formatAddress(4, Uint32Array.of(value!, 7, 7, 7))).toBe(formatIpv4(value!))
        expect(formatIpv4(value!)).toBe(bytesOf(4, words).join('.'))
      }),
    )
  })
})
