// The algebra against its definition: sets of numbers in a universe small enough to enumerate, and
// the laws that hold for any ranges.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Family } from '../../src/ip/address.ts'
import { maxAddress, parseRange } from '../../src/ip/range.ts'
import type { Range } from '../../src/ip/range.ts'
import { rangeSetContains, subtract, toRangeSet } from '../../src/ip/range-set.ts'
import { addressCount } from './addresses.ts'

const UNIVERSE = 64n

/** Ranges within 64 addresses, at the bottom or the very top of a family. */
function universe(family: Family, base: bigint): fc.Arbitrary<Range[]> {
  const address = fc.bigInt(0n, UNIVERSE - 1n)
  const range = fc.tuple(address, address).map(([a, b]) => ({
    family,
    first: base + (a < b ? a : b),
    last: base + (a < b ? b : a),
  }))
  return fc.array(range, { maxLength: 12 })
}

const places = [
  [4, 0n],
  [4, maxAddress(4) - UNIVERSE + 1n],
  [6, maxAddress(6) - UNIVERSE + 1n],
] as const

/** The addresses of ranges, one by one. */
function enumerate(ranges: readonly Range[]): Set<bigint> {
  const addresses = new Set<bigint>()
  for (const { first, last } of ranges) {
    for (let value = first; value <= last; value++) addresses.add(value)
  }
  return addresses
}

function expectRangeSet(set: readonly Range[], family: Family): void {
  expect(set.every((range) => range.family === family && range.first <= range.last)).toBe(true)
  for (let at = 1; at < set.length; at++) {
    expect(set[at]!.first > set[at - 1]!.last + 1n).toBe(true)
  }
}

function rangesOf(...texts: readonly string[]): Range[] {
  return texts.map((text) => parseRange(text)!)
}

describe.each(places)('IPv%i from %i', (family, base) => {
  const ranges = universe(family, base)

  it('toRangeSet keeps the addresses and makes a range set', () => {
    fc.assert(
      fc.property(ranges, (some) => {
        const before = structuredClone(some)
        const set = toRangeSet(some)
        expectRangeSet(set, family)
        expect(enumerate(set)).toEqual(enumerate(some))
        expect(addressCount(set)).toBe(BigInt(enumerate(some).size))
        expect(toRangeSet(set)).toEqual(set)
        expect(toRangeSet(some.toReversed())).toEqual(set)
        expect(some).toEqual(before)
      }),
    )
  })

  it('setContains is membership', () => {
    fc.assert(
      fc.property(ranges, (some) => {
        const set = toRangeSet(some)
        const members = enumerate(some)
        for (let value = base; value < base + UNIVERSE; value++) {
          expect(rangeSetContains(set, value)).toBe(members.has(value))
        }
      }),
    )
  })

  it('subtract is that of sets', () => {
    fc.assert(
      fc.property(ranges, ranges, (some, others) => {
        const [a, b] = [toRangeSet(some), toRangeSet(others)]
        const [inA, inB] = [enumerate(a), enumerate(b)]
        const rest = subtract(a, b)
        expectRangeSet(rest, family)
        expect(enumerate(rest)).toEqual(new Set([...inA].filter((value) => !inB.has(value))))
      }),
    )
  })
})

describe('laws', () => {
  // Wide enough that ranges of two sets meet, anywhere in the family.
  const range = fc.tuple(fc.bigInt(0n, maxAddress(6)), fc.nat(124)).map(([first, bits]) => {
    const last = first + (1n << BigInt(bits))
    return { family: 6, first, last: last > maxAddress(6) ? maxAddress(6) : last } as const
  })
  const sets = fc.array(range, { maxLength: 20 }).map(toRangeSet)
  const all: Range[] = [{ family: 6, first: 0n, last: maxAddress(6) }]

  it('hold for any sets', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const intersect = (one: Range[], other: Range[]): Range[] =>
          subtract(one, subtract(all, other))
        expect(intersect(a, b)).toEqual(intersect(b, a))
        expect(toRangeSet([...intersect(a, b), ...subtract(a, b)])).toEqual(a)
        expect(intersect(subtract(a, b), b)).toEqual([])
        expect(subtract(all, subtract(all, a))).toEqual(a)
        expect(addressCount(a) + addressCount(b)).toBe(
          addressCount(toRangeSet([...a, ...b])) + addressCount(intersect(a, b)),
        )
      }),
    )
  })
})

describe('worked examples', () => {
  it('merges what overlaps or touches', () => {
    expect(toRangeSet([])).toEqual([])
    expect(toRangeSet(rangesOf('10.0.1.0/24', '10.0.0.0/24', '10.0.0.7'))).toEqual(
      rangesOf('10.0.0.0/23'),
    )
    expect(toRangeSet(rangesOf('10.0.2.0/24', '10.0.0.0/24'))).toEqual(
      rangesOf('10.0.0.0/24', '10.0.2.0/24'),
    )
    expect(toRangeSet(rangesOf('10.0.0.0/8', '10.1.0.0/16', '10.255.255.255'))).toEqual(
      rangesOf('10.0.0.0/8'),
    )
  })

  it('cuts holes, also one that spans two ranges', () => {
    expect(subtract(rangesOf('10.0.0.0/30'), rangesOf('10.0.0.1'))).toEqual(
      rangesOf('10.0.0.0', '10.0.0.2/31'),
    )
    const hole = rangesOf('10.0.0.128-10.0.2.127')
    expect(subtract(rangesOf('10.0.0.0/24', '10.0.2.0/24'), hole)).toEqual(
      rangesOf('10.0.0.0/25', '10.0.2.128/25'),
    )
    expect(subtract(rangesOf('10.0.0.0/24'), [])).toEqual(rangesOf('10.0.0.0/24'))
    expect(subtract([], rangesOf('::/0'))).toEqual([])
  })

  it('refuses two families', () => {
    expect(() => toRangeSet(rangesOf('10.0.0.1', '::1'))).toThrow(/one family/)
    expect(() => subtract(rangesOf('10.0.0.1'), rangesOf('::1'))).toThrow(/differ in family/)
    expect(() => subtract([], rangesOf('::1'))).not.toThrow()
  })
})
