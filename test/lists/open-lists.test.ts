// Compiled lists against a linear scan: nested, overlapping and expiring entries of both families,
// AS numbers, and IPv4 inside IPv6.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Family } from '../../src/ip/address.ts'
import { bigintToWords, maxAddress, prefixRange } from '../../src/ip/range.ts'
import { keyOfAs, keyOfRange, rangeOfKey } from '../../src/lists/list-entry.ts'
import { listEffects } from '../../src/model/kind.ts'
import { type Asked, type PlainList, askedOf, scanLists } from './linear-scan.ts'
import { matcherOf, plainList as list } from './matcher-of.ts'
import { inForm } from '../form.ts'

/** The last of equal keys counts, as in a list. */
function withoutTwins(lists: readonly PlainList[]): PlainList[] {
  return lists.map((list) => ({
    ...list,
    entries: [...new Map(list.entries.map((one) => [one.key, one])).values()],
  }))
}

/** Few places, so that entries meet; the ends of the space among them. */
function address(family: Family): fc.Arbitrary<bigint> {
  const top = maxAddress(family)
  const base = family === 4 ? 0xc000_0200n : 0x2a01_04f8n << 96n
  return fc.oneof(
    { weight: 6, arbitrary: fc.bigInt({ min: 0n, max: 40n }).map((near) => base + near) },
    { weight: 2, arbitrary: fc.bigInt({ min: 0n, max: 3n }).map((near) => top - near) },
    { weight: 2, arbitrary: fc.bigInt({ min: 0n, max: 3n }) },
    {
      weight: 2,
      arbitrary: fc.bigInt({ min: 0n, max: 0xffffn }).map((near) => base + (near << 8n)),
    },
    fc.bigInt({ min: 0n, max: top }),
  )
}

function rangeKey(family: Family): fc.Arbitrary<string> {
  const bits = family === 4 ? 32 : 128
  const prefix = fc
    .tuple(
      address(family),
      fc.oneof(fc.integer({ min: bits - 8, max: bits }), fc.integer({ min: 0, max: bits })),
    )
    .map(([value, length]) => prefixRange(family, value, length))
  const ends = fc.tuple(address(family), address(family)).map(([a, b]) => ({
    family,
    first: a < b ? a : b,
    last: a < b ? b : a,
  }))
  return fc.oneof({ weight: 3, arbitrary: prefix }, ends).map(keyOfRange)
}

const key = fc.oneof(
  { weight: 5, arbitrary: rangeKey(4) },
  { weight: 5, arbitrary: rangeKey(6) },
  fc.integer({ min: 1, max: 3 }).map(keyOfAs),
)
const lists = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    effect: fc.constantFrom(...listEffects),
    entries: fc.array(
      fc.record({ key, expires: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })) }),
      { maxLength: 12 },
    ),
  }),
  { maxLength: 6 },
)
const inner = fc.oneof(fc.constant(-1), address(4).map(Number))

function* askedAround(all: readonly PlainList[], nowMs: number): Generator<Asked> {
  for (const { entries } of all) {
    for (const { key } of entries) {
      if (key.startsWith('a')) continue
      const { family, first, last } = rangeOfKey(key)
      for (const value of [first - 1n, first, last, last + 1n]) {
        if (value < 0n || value > maxAddress(family)) continue
        const words = new Uint32Array(4)
        bigintToWords(family, value, words)
        yield { family, words, ipv4: family === 4 ? Number(value) : -1, asn: 2, nowMs }
      }
    }
  }
}

describe('compiled lists', () => {
  it('say what a linear scan says, at the ends of every entry and elsewhere', () => {
    const property = fc.property(
      lists,
      fc.array(fc.tuple(address(6), inner, fc.nat(4)), { minLength: 3, maxLength: 6 }),
      fc.integer({ min: 0, max: 21 }),
      fc.integer({ min: 0, max: 5 }),
      (some, others, nowSeconds, compiledSeconds) => {
        const named = withoutTwins([...new Map(some.map((one) => [one.name, one])).values()])
        const matcher = matcherOf(named, Math.min(compiledSeconds, nowSeconds))
        const nowMs = nowSeconds * 1000
        const asked = others.map(([value, ipv4, asn]): Asked => {
          const words = new Uint32Array(4)
          bigintToWords(6, value, words)
          return { family: 6, words, ipv4, asn, nowMs }
        })
        for (const one of [...askedAround(named, nowMs), ...asked]) {
          const expected = scanLists(named, one)
          expect(matcher.match(one)).toEqual(expected)
          const { family, words, ipv4, asn } = one
          const isCovered = matcher.covers(family, words, ipv4, asn)
          const hasEntry = scanLists(named, { ...one, nowMs: 0 }) !== undefined
          expect(isCovered || expected === undefined).toBe(true)
          expect(hasEntry || !isCovered).toBe(true)
        }
      },
    )
    fc.assert(property, { numRuns: inForm({ short: 120, full: 600, long: 20_000 }) })
  })

  it('without an entry match nothing', () => {
    const matcher = matcherOf([{ name: 'a', effect: 'block', entries: [] }])
    for (const text of ['0.0.0.0', '255.255.255.255', '::', '2a01::1']) {
      expect(matcher.match(askedOf(text, 5))).toBeUndefined()
    }
  })

  it('let the smaller range win whatever its form, and allow at equal size', () => {
    const effectOf = (...lists: readonly PlainList[]): string | undefined =>
      matcherOf(lists).match(askedOf('192.0.2.5', 64496))?.effect
    const blocked = list('b', 'block', '192.0.2.4-192.0.2.6')
    expect(effectOf(blocked, list('a', 'allow', '192.0.2.0/24'))).toBe('block')
    expect(effectOf(blocked, list('a', 'allow', '192.0.2.5'))).toBe('allow')
    expect(effectOf(blocked, list('a', 'allow', '192.0.2.5-192.0.2.7'))).toBe('allow')
    expect(effectOf(blocked, list('a', 'allow', 'AS64496'))).toBe('block')
    expect(effectOf(list('b', 'block', '0.0.0.0/0'), list('a', 'allow', 'AS64496'))).toBe('block')
    expect(effectOf(list('n', 'none', '192.0.2.5'), list('b', 'block', 'AS64496'))).toBe('block')
  })

  it('grow with their entries, however much they nest', () => {
    // A chain of ranges each inside the other: what a set for each piece would take squares of.
    const entries = Array.from({ length: 2000 }, (_, i) => ({
      key: keyOfRange({ family: 4, first: BigInt(i), last: BigInt(1_000_000 - i) }),
      expires: 0,
    }))
    const nested = { name: 'a', effect: 'block', entries } as const
    const matcher = matcherOf([nested])
    for (const value of [0, 1, 1999, 2000, 998_000, 998_002, 1_000_000, 1_000_001]) {
      const asked: Asked = { ...askedOf('1.1.1.1'), ipv4: value }
      expect(matcher.match(asked)).toEqual(scanLists([nested], asked))
    }
  })
})
