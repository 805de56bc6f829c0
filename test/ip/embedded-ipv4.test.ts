// IPv4 inside IPv6: worked examples of the RFCs, the edges of each prefix, and a bigint twin.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newAddressWords } from '../../src/ip/address.ts'
import { EMBEDDED, embeddedIpv4, embeddedKind } from '../../src/ip/embedded-ipv4.ts'
import type { EmbeddedKind } from '../../src/ip/embedded-ipv4.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { wordsToBigint } from '../../src/ip/range.ts'
import { formatIpv4 } from '../../src/ip/format-address.ts'
import { ipv6Words } from './addresses.ts'

const { none, mapped, sixToFour, nat64, teredo } = EMBEDDED

const examples: readonly (readonly [text: string, kind: EmbeddedKind, ipv4: string])[] = [
  ['::ffff:192.0.2.1', mapped, '192.0.2.1'],
  ['::ffff:0:0', mapped, '0.0.0.0'],
  ['::ffff:ffff:ffff', mapped, '255.255.255.255'],
  ['::fffe:ffff:ffff', none, '0.0.0.0'],
  ['::1:0:0:0', none, '0.0.0.0'],
  ['::ffff:0:1.2.3.4', none, '0.0.0.0'],
  ['0:1::ffff:1.2.3.4', none, '0.0.0.0'],
  ['0:0:1:0:0:ffff:1.2.3.4', none, '0.0.0.0'],
  ['::1.2.3.4', none, '0.0.0.0'],
  ['2002:0a00:1::', sixToFour, '10.0.0.1'],
  ['2002:c000:0204:0:1:2:3:4', sixToFour, '192.0.2.4'],
  ['2002::', sixToFour, '0.0.0.0'],
  ['2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', sixToFour, '255.255.255.255'],
  ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', none, '0.0.0.0'],
  ['2003::', none, '0.0.0.0'],
  // RFC 6052, 2.4.
  ['64:ff9b::192.0.2.33', nat64, '192.0.2.33'],
  ['64:ff9b::', nat64, '0.0.0.0'],
  ['64:ff9b::ffff:ffff', nat64, '255.255.255.255'],
  ['64:ff9b::1:0:0', none, '0.0.0.0'],
  ['64:ff9b:0:1::1.2.3.4', none, '0.0.0.0'],
  ['64:ff9b:1::1.2.3.4', none, '0.0.0.0'],
  ['64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff', none, '0.0.0.0'],
  // Server 65.54.227.120, port 40000, client 192.0.2.45: the client's, not the server's.
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', teredo, '192.0.2.45'],
  ['2001::', teredo, '255.255.255.255'],
  ['2001:0:ffff:ffff:ffff:ffff:ffff:ffff', teredo, '0.0.0.0'],
  ['2001:1::', none, '0.0.0.0'],
  ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', none, '0.0.0.0'],
  ['2606:4700:4700::1111', none, '0.0.0.0'],
]

/** The same, by the drawing at the head of embedded-ipv4.ts and nothing else. */
function twin(value: bigint): readonly [EmbeddedKind, bigint] {
  const low = value & 0xffffffffn
  if (value >> 32n === 0xffffn) return [mapped, low]
  if (value >> 112n === 0x2002n) return [sixToFour, (value >> 80n) & 0xffffffffn]
  if (value >> 32n === 0x64ff9bn << 64n) return [nat64, low]
  if (value >> 96n === 0x20010000n) return [teredo, low ^ 0xffffffffn]
  return [none, 0n]
}

describe('embedded IPv4', () => {
  it.each(examples)('%s', (text, kind, ipv4) => {
    const words = newAddressWords()
    expect(parseAddress(text, words)).toBe(6)
    expect(embeddedKind(words)).toBe(kind)
    expect(formatIpv4(embeddedIpv4(embeddedKind(words), words))).toBe(ipv4)
  })

  it('agrees with a bigint twin', () => {
    const seen = new Set<EmbeddedKind>()
    const tops = fc.constantFrom<readonly number[]>(
      [0, 0, 0xffff],
      [0x0064ff9b, 0, 0],
      [0x20010000],
      [0x20020a00],
      [0x2002ffff],
    )
    const near = fc.tuple(ipv6Words, tops).map(([words, top]) => {
      words.set(top)
      return words
    })
    fc.assert(
      fc.property(fc.oneof(ipv6Words, near), (words) => {
        const [kind, ipv4] = twin(wordsToBigint(6, words))
        seen.add(kind)
        expect(embeddedKind(words)).toBe(kind)
        expect(BigInt(embeddedIpv4(kind, words))).toBe(ipv4)
      }),
      { numRuns: 5_000 },
    )
    expect(seen.size).toBe(5)
  })
})
