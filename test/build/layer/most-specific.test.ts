// flattenRanges against a twin that asks, for every address of interest, which of all ranges wins.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { flattenMostSpecific, type RangeColumns } from '../../../build/layer/most-specific.ts'
import { maxAddress, bigintToWords } from '../../../src/ip/range.ts'
import type { Family } from '../../../src/ip/address.ts'
import { expectSound, lookup, addressOf } from '../mmdb/mmdb-lookup.ts'

interface Row {
  readonly first: bigint
  readonly last: bigint
  readonly value: number
}

function rangesOf(family: Family, rows: readonly Row[]): RangeColumns {
  const words = family === 4 ? 1 : 4
  const firsts = new Uint32Array(rows.length * words)
  const lasts = new Uint32Array(rows.length * words)
  const scratch = new Uint32Array(4)
  for (const [at, row] of rows.entries()) {
    bigintToWords(family, row.first, scratch)
    firsts.set(scratch.subarray(0, words), at * words)
    bigintToWords(family, row.last, scratch)
    lasts.set(scratch.subarray(0, words), at * words)
  }
  const values = Uint32Array.from(rows, (row) => row.value)
  return { family, count: rows.length, firsts, lasts, values }
}

/** The slow twin: the smallest range that holds the address, of equal ones the last row. */
function winner(rows: readonly Row[], address: bigint): number {
  let best: Row | undefined
  for (const row of rows) {
    if (address < row.first || address > row.last) continue
    if (best === undefined || row.last - row.first <= best.last - best.first) best = row
  }
  return best?.value ?? 0
}

/** Every address at which anything can change, and those beside it. */
function addressesOfInterest(family: Family, rows: readonly Row[]): bigint[] {
  const max = maxAddress(family)
  const edges = rows.flatMap((row) => [row.first - 1n, row.first, row.last, row.last + 1n])
  return [...new Set([0n, max, ...edges])].filter((address) => address >= 0n && address <= max)
}

/** What the layer says at those addresses, beside what the twin says. */
function answers(family: Family, rows: readonly Row[]) {
  const layer = flattenMostSpecific(rangesOf(family, rows))
  expectSound(layer)
  const addresses = addressesOfInterest(family, rows)
  return {
    fast: addresses.map((address) => lookup(layer, addressOf(family, address))),
    slow: addresses.map((address) => winner(rows, address)),
  }
}

/**
 * Ranges among few addresses, so that they overlap, nest and tie; near 0, near the end, far off.
 */
function rowsOf(family: Family): fc.Arbitrary<readonly Row[]> {
  const max = maxAddress(family)
  const base = fc.constantFrom(0n, max - 40n, max >> 1n, (1n << 32n) % max, max >> 3n)
  const row = fc
    .tuple(base, fc.nat(40), fc.nat(40), fc.integer({ min: 1, max: 6 }))
    .map(([base, a, b, value]): Row => {
      const end = base + BigInt(Math.max(a, b))
      return { first: base + BigInt(Math.min(a, b)), last: end > max ? max : end, value }
    })
  return fc.array(row, { maxLength: 14 })
}

describe('flattenMostSpecific', () => {
  for (const family of [4, 6] as const) {
    it(`agrees with the twin, IPv${family}`, () => {
      fc.assert(
        fc.property(rowsOf(family), (rows) => {
          const { fast, slow } = answers(family, rows)
          expect(fast).toEqual(slow)
        }),
        { numRuns: 400 },
      )
    })

    it(`does not depend on the order of ranges of different sizes, IPv${family}`, () => {
      fc.assert(
        fc.property(rowsOf(family), (rows) => {
          const bySize = new Map(rows.map((row) => [row.last - row.first, row]))
          const distinct = [...bySize.values()]
          const forward = flattenMostSpecific(rangesOf(family, distinct))
          const backward = flattenMostSpecific(rangesOf(family, distinct.toReversed()))
          expect(backward).toEqual(forward)
        }),
      )
    })

    it(`covers the whole space, IPv${family}`, () => {
      const whole = { first: 0n, last: maxAddress(family), value: 7 }
      for (const rows of [[whole], [whole, { ...whole, value: 8 }], []]) {
        const { fast, slow } = answers(family, rows)
        expect(fast).toEqual(slow)
      }
    })
  }

  it('lets the smaller of two partially overlapping ranges win, whichever comes first', () => {
    const large = { first: 10n, last: 99n, value: 1 }
    const small = { first: 90n, last: 120n, value: 2 }
    for (const rows of [
      [large, small],
      [small, large],
    ]) {
      const layer = flattenMostSpecific(rangesOf(4, rows))
      expect([...layer.starts]).toEqual([0, 10, 90, 121])
      expect([...layer.values]).toEqual([0, 1, 2, 0])
    }
  })

  it('brings a larger range back behind a smaller one that ended within it', () => {
    const layer = flattenMostSpecific(
      rangesOf(4, [
        { first: 0n, last: 100n, value: 1 },
        { first: 10n, last: 20n, value: 2 },
        { first: 15n, last: 17n, value: 3 },
        { first: 15n, last: 30n, value: 4 },
      ]),
    )
    expect([...layer.starts]).toEqual([0, 10, 15, 18, 21, 31, 101])
    expect([...layer.values]).toEqual([1, 2, 3, 2, 4, 1, 0])
  })

  it('lets the later of two equal ranges win', () => {
    const layer = flattenMostSpecific(
      rangesOf(4, [
        { first: 5n, last: 9n, value: 1 },
        { first: 5n, last: 9n, value: 2 },
      ]),
    )
    expect([...layer.values]).toEqual([0, 2, 0])
  })
})
