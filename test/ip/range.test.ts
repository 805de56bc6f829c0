// Ranges as text: tables of good and bad texts, and the properties that tie the functions together.

import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import type { Family } from '../../src/ip/address.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import {
  addressBits,
  formatRange,
  hasHostBits,
  maxAddress,
  parsePrefix,
  parseRange,
  prefixRange,
  wordsToBigint,
  bigintToWords,
} from '../../src/ip/range.ts'
import type { Range } from '../../src/ip/range.ts'
import { toRangeSet } from '../../src/ip/range-set.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import { addressArbitrary, addressCount, bytesOf, rangeToPrefixes } from './addresses.ts'
import { inForm } from '../form.ts'

/** Text, family, first and last address, and the canonical text of the range. */
const good: readonly (readonly [string, Family, bigint, bigint, string])[] = [
  ['192.0.2.1', 4, 0xc0000201n, 0xc0000201n, '192.0.2.1'],
  ['192.0.2.1/32', 4, 0xc0000201n, 0xc0000201n, '192.0.2.1'],
  ['192.0.2.0/24', 4, 0xc0000200n, 0xc00002ffn, '192.0.2.0/24'],
  ['192.0.2.77/24', 4, 0xc0000200n, 0xc00002ffn, '192.0.2.0/24'],
  ['255.255.255.255/1', 4, 0x80000000n, 0xffffffffn, '128.0.0.0/1'],
  ['1.2.3.4/0', 4, 0n, 0xffffffffn, '0.0.0.0/0'],
  ['192.0.2.0-192.0.2.255', 4, 0xc0000200n, 0xc00002ffn, '192.0.2.0/24'],
  ['192.0.2.1 - 192.0.2.9', 4, 0xc0000201n, 0xc0000209n, '192.0.2.1-192.0.2.9'],
  ['192.0.2.1  -192.0.2.1', 4, 0xc0000201n, 0xc0000201n, '192.0.2.1'],
  ['192.0.2.1-192.0.2.2', 4, 0xc0000201n, 0xc0000202n, '192.0.2.1-192.0.2.2'],
  ['0.0.0.0-255.255.255.255', 4, 0n, 0xffffffffn, '0.0.0.0/0'],
  ['::', 6, 0n, 0n, '::'],
  ['::/0', 6, 0n, (1n << 128n) - 1n, '::/0'],
  ['2001:DB8::/32', 6, 0x20010db8n << 96n, (0x20010db9n << 96n) - 1n, '2001:db8::/32'],
  ['::1/127', 6, 0n, 1n, '::/127'],
  ['::1 - ::3', 6, 1n, 3n, '::1-::3'],
  // IPv4-mapped text means IPv4.
  ['::ffff:1.2.3.4', 4, 0x01020304n, 0x01020304n, '1.2.3.4'],
  ['::ffff:102:304', 4, 0x01020304n, 0x01020304n, '1.2.3.4'],
  ['::ffff:1.2.3.4/128', 4, 0x01020304n, 0x01020304n, '1.2.3.4'],
  ['::ffff:1.2.3.4/120', 4, 0x01020300n, 0x010203ffn, '1.2.3.0/24'],
  ['::ffff:1.2.3.4/96', 4, 0n, 0xffffffffn, '0.0.0.0/0'],
  ['::ffff:1.2.3.4-::ffff:1.2.3.6', 4, 0x01020304n, 0x01020306n, '1.2.3.4-1.2.3.6'],
  // These reach beyond ::ffff:0:0/96, so they can only be IPv6.
  ['::ffff:1.2.3.4/95', 6, 0xfffe00000000n, 0xffffffffffffn, '::fffe:0:0/95'],
  ['::1-::ffff:0.0.0.1', 6, 1n, 0xffff00000001n, '::1-::ffff:0.0.0.1'],
  ['::ffff:0:0-::1:0:0:0', 6, 0xffff00000000n, 1n << 48n, '::ffff:0.0.0.0-::1:0:0:0'],
]

const bad: Readonly<Record<string, readonly string[]>> = {
  'no address': [
    '',
    ' ',
    '/',
    '-',
    'x',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    'example.com',
    'fe80::1%1',
  ],
  'white space outside a dash': [
    ' 1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.0/24 ',
    '1.2.3.0 /24',
    '1.2.3.0/ 24',
    ' 1.1.1.1-1.1.1.2',
    '1.1.1.1-1.1.1.2\n',
  ],
  'prefix lengths': [
    '1.2.3.0/',
    '1.2.3.0/33',
    '1.2.3.0/-1',
    '1.2.3.0/024',
    '1.2.3.0/00',
    '1.2.3.0/+8',
    '1.2.3.0/8.0',
    '1.2.3.0/1e1',
    '1.2.3.0/0x8',
    '::/129',
    '::/1000',
    '1.2.3.0/٨',
  ],
  'net masks and wildcards': [
    '1.2.3.0/255.255.255.0',
    '1.2.3.*',
    '1.2.3',
    '1.2.3/24',
    '1.2.3.0/24/24',
  ],
  'last before first': ['1.2.3.4-1.2.3.3', '::2-::1', '::ffff:1.2.3.4-::ffff:1.2.3.3'],
  'mixed families': [
    '1.2.3.4-::1',
    '::1-1.2.3.4',
    '1.2.3.4-::ffff:1.2.3.5',
    '::ffff:1.2.3.4-1.2.3.5',
  ],
  'half or double dashes': [
    '1.2.3.4-',
    '-1.2.3.4',
    '1.2.3.4--1.2.3.5',
    '1.2.3.4-1.2.3.5-1.2.3.6',
    '1.2.3.4-9',
  ],
  'prefixes as ends': ['1.2.3.0/24-1.2.4.0/24', '1.2.3.0-1.2.3.0/24'],
  'other separators': [
    '1.2.3.4,1.2.3.5',
    '1.2.3.4 1.2.3.5',
    '1.2.3.4–1.2.3.5',
    '1.2.3.4..1.2.3.5',
    '1.2.3.4#',
    '1.2.3.4;',
  ],
}

const valueArbitrary = addressArbitrary.map(
  ([family, words]) => [family, wordsToBigint(family, words)] as const,
)

/** Any range but those wholly inside ::ffff:0:0/96, whose text means IPv4. */
const rangeArbitrary: fc.Arbitrary<Range> = fc
  .tuple(valueArbitrary, valueArbitrary, fc.nat(300))
  .map(([[family, a], [otherFamily, other], near]) => {
    const max = maxAddress(family)
    const b = family === otherFamily ? other : a + BigInt(near) > max ? max : a + BigInt(near)
    return a <= b ? { family, first: a, last: b } : { family, first: b, last: a }
  })
  .filter(
    ({ family, first, last }) =>
      family === 4 || first >> 32n !== 0xffffn || last >> 32n !== 0xffffn,
  )

const prefixArbitrary = fc.tuple(valueArbitrary, fc.nat(128)).map(([[family, value], length]) => ({
  family,
  value,
  length: length % (addressBits(family) + 1),
}))

function text(family: Family, value: bigint): string {
  const words = newAddressWords()
  bigintToWords(family, value, words)
  return formatAddress(family, words)
}

describe('parseRange', () => {
  it.each(good)('%s', (written, family, first, last, canonical) => {
    const range = parseRange(written)
    expect(range).toEqual({ family, first, last })
    expect(formatRange(range!)).toBe(canonical)
    expect(parsePrefix(written)).toEqual(written.includes('/') ? range : undefined)
  })

  it.each(Object.entries(bad))('refuses %s', (_, texts) => {
    for (const written of texts) {
      const answers = [parseRange(written), parsePrefix(written), hasHostBits(written)]
      // The text is in the comparison so that a failure names it.
      expect([written, ...answers]).toEqual([written, undefined, undefined, false])
    }
  })

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789abcdef:./- %x'.split('')) }),
        (written) => {
          const range = parseRange(written)
          expect(range === undefined || range.first <= range.last).toBe(true)
        },
      ),
      { numRuns: inForm({ short: 400, full: 2500, long: 5000 }) },
    )
  })

  it('is the inverse of formatRange', () => {
    fc.assert(
      fc.property(rangeArbitrary, (range) => {
        expect(parseRange(formatRange(range))).toEqual(range)
      }),
      { numRuns: inForm({ short: 400, full: 2500, long: 5000 }) },
    )
  })
})

describe('prefixes', () => {
  it('agree with ipaddr.js on first and last address', () => {
    fc.assert(
      fc.property(prefixArbitrary, ({ family, value, length }) => {
        const written = `${text(family, value)}/${length}`
        const range = prefixRange(family, value, length)
        const reader = family === 4 ? ipaddr.IPv4 : ipaddr.IPv6
        const words = newAddressWords()
        bigintToWords(family, range.first, words)
        const first = reader.networkAddressFromCIDR(written).toByteArray()
        expect(bytesOf(family, words)).toEqual(first)
        bigintToWords(family, range.last, words)
        expect(bytesOf(family, words)).toEqual(
          reader.broadcastAddressFromCIDR(written).toByteArray(),
        )
        expect(addressCount([range])).toBe(1n << BigInt(addressBits(family) - length))
      }),
      { numRuns: inForm({ short: 200, full: 1000, long: 2000 }) },
    )
  })

  it('are read as by a regular expression and a mask of bits', () => {
    const octet = fc.nat({ max: 255 })
    const address = fc.oneof(
      fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.')),
      fc.constantFrom('2001:db8::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::', '1.2.3'),
    )
    const length = fc.oneof(
      fc.nat({ max: 140 }).map(String),
      fc.string({ unit: fc.constantFrom(...Array.from('0123456789 +-.ex/١')), maxLength: 4 }),
    )
    const twin = (text: string, length: string): Range | undefined => {
      const single = parseRange(text)
      const bits = single?.family === 4 ? 32n : 128n
      if (single === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length) || BigInt(length) > bits) {
        return undefined
      }
      const hosts = (1n << (bits - BigInt(length))) - 1n
      const { family, first: value } = single
      return { family, first: value - (value & hosts), last: value | hosts }
    }
    fc.assert(
      fc.property(address, length, (text, length) => {
        expect(parsePrefix(`${text}/${length}`)).toEqual(twin(text, length))
      }),
      { numRuns: 2000 },
    )
  })

  it('have host bits where masking changes the address', () => {
    fc.assert(
      fc.property(prefixArbitrary, ({ family, value, length }) => {
        const { first } = prefixRange(family, value, length)
        expect(hasHostBits(`${text(family, value)}/${length}`)).toBe(first !== value)
        expect(hasHostBits(`${text(family, first)}/${length}`)).toBe(false)
      }),
      { numRuns: inForm({ short: 200, full: 1000, long: 2000 }) },
    )
  })

  it('have host bits as written, IPv4-mapped ones too', () => {
    expect(hasHostBits('192.0.2.1/24')).toBe(true)
    expect(hasHostBits('::ffff:192.0.2.1/120')).toBe(true)
    expect(hasHostBits('::ffff:192.0.2.0/120')).toBe(false)
    expect(hasHostBits('192.0.2.1')).toBe(false)
    expect(hasHostBits('192.0.2.1-192.0.2.2')).toBe(false)
  })
})

describe('prefixesOf', () => {
  it('is the fewest prefixes of a range', () => {
    expect(rangeToPrefixes(parseRange('0.0.0.0/0')!)).toEqual(['0.0.0.0/0'])
    expect(rangeToPrefixes(parseRange('::/0')!)).toEqual(['::/0'])
    expect(rangeToPrefixes(parseRange('255.255.255.255')!)).toEqual(['255.255.255.255/32'])
    expect(rangeToPrefixes(parseRange('192.0.2.1-192.0.2.9')!)).toEqual([
      '192.0.2.1/32',
      '192.0.2.2/31',
      '192.0.2.4/30',
      '192.0.2.8/31',
    ])
    // The worst case of a family: 2 × (bits − 1) prefixes.
    expect(rangeToPrefixes(parseRange('0.0.0.1-255.255.255.254')!)).toHaveLength(62)
    expect(rangeToPrefixes({ family: 6, first: 1n, last: maxAddress(6) - 1n })).toHaveLength(254)
  })

  it('covers the range exactly, in order, and no two could be one', () => {
    fc.assert(
      fc.property(rangeArbitrary, (range) => {
        const { family } = range
        const parts = rangeToPrefixes(range).map((prefix) => {
          expect(hasHostBits(prefix)).toBe(false)
          const [address, length] = prefix.split('/')
          const first = readBack(address!)
          return prefixRange(family, first, Number(length))
        })
        expect(toRangeSet(parts)).toEqual([range])
        expect(addressCount(parts)).toBe(addressCount([range]))
        for (let at = 1; at < parts.length; at++) {
          const [a, b] = [parts[at - 1]!, parts[at]!]
          expect(b.first).toBe(a.last + 1n)
          const same = a.last - a.first === b.last - b.first
          const aligned = (a.first & (addressCount([a, b]) - 1n)) === 0n
          expect(same && aligned).toBe(false)
        }
      }),
      { numRuns: inForm({ short: 120, full: 1000 }) },
    )
  })

  /** By ipaddr.js, since parseRange would turn a mapped prefix into IPv4. */
  function readBack(address: string): bigint {
    return ipaddr
      .parse(address)
      .toByteArray()
      .reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
  }
})

describe('words and values', () => {
  it('are inverses', () => {
    fc.assert(
      fc.property(addressArbitrary, ([family, words]) => {
        const back = newAddressWords().fill(0xdeadbeef)
        const value = wordsToBigint(family, words)
        bigintToWords(family, value, back)
        expect([...back]).toEqual([...words])
        expect(value).toBe(
          bytesOf(family, words).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n),
        )
      }),
    )
  })

  it('end at the highest address', () => {
    for (const family of [4, 6] as const) {
      const words = newAddressWords()
      bigintToWords(family, maxAddress(family), words)
      expect(bytesOf(family, words).every((byte) => byte === 255)).toBe(true)
      expect(maxAddress(family) + 1n).toBe(1n << BigInt(addressBits(family)))
    }
  })
})
