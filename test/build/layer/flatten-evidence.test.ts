// flattenEvidence against its slow twin: for an address, the evidence of every range that holds it.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Observation,
  flattenEvidence,
  newListInterner,
} from '../../../build/layer/flatten-evidence.ts'
import { type Layer, valueAt, wordsPerStart } from '../../../build/layer/layer.ts'
import type { Family } from '../../../src/ip/address.ts'
import { maxAddress, bigintToWords } from '../../../src/ip/range.ts'
import { inForm } from '../../form.ts'

function twin(observations: readonly Observation[], address: bigint): number[] {
  const holding = observations.filter(({ first, last }) => first <= address && address <= last)
  return [...new Set(holding.map(({ evidence }) => evidence))].sort((a, b) => a - b)
}

function at(layer: Layer, lists: readonly (readonly number[])[], address: bigint): number[] {
  const words = new Uint32Array(4)
  bigintToWords(layer.family, address, words)
  return [...(lists[valueAt(layer, words) - 1] ?? [])]
}

function checkInvariants(layer: Layer): void {
  expect(layer.starts.length).toBe(layer.count * wordsPerStart(layer.family))
  expect(layer.values.length).toBe(layer.count)
  const starts = Array.from({ length: layer.count }, (_, piece) => startOf(layer, piece))
  expect(starts[0]).toBe(0n)
  for (let piece = 1; piece < layer.count; piece++) {
    expect(starts[piece]! > starts[piece - 1]!).toBe(true)
    expect(layer.values[piece]).not.toBe(layer.values[piece - 1])
  }
}

function startOf(layer: Layer, piece: number): bigint {
  const stride = wordsPerStart(layer.family)
  let value = 0n
  for (let word = 0; word < stride; word++) {
    value = (value << 32n) | BigInt(layer.starts[piece * stride + word]!)
  }
  return value
}

const addresses = (family: Family) => {
  const limit = maxAddress(family)
  const near = fc.bigInt({ min: 0n, max: 40n })
  return fc.oneof(
    near,
    near.map((value) => limit - value),
    fc.bigInt({ min: 0n, max: limit }),
  )
}

const observations = (family: Family): fc.Arbitrary<Observation[]> =>
  fc.array(
    fc
      .tuple(addresses(family), addresses(family), fc.integer({ min: 1, max: 6 }))
      .map(([a, b, evidence]) => ({ first: a < b ? a : b, last: a < b ? b : a, evidence })),
    { maxLength: 12 },
  )

describe.each([4, 6] as const)('flattenEvidence IPv%i', (family) => {
  it('says of every address what a scan of all ranges says', () => {
    fc.assert(
      fc.property(observations(family), addresses(family), (input, any) => {
        const interner = newListInterner()
        const layer = flattenEvidence(family, input, interner)
        checkInvariants(layer)
        const limit = maxAddress(family)
        const interesting = input.flatMap(({ first, last }) => [first - 1n, first, last, last + 1n])
        for (const address of [...interesting, any, 0n, limit]) {
          if (address < 0n || address > limit) continue
          expect(at(layer, interner.lists, address)).toEqual(twin(input, address))
        }
      }),
      { numRuns: inForm({ short: 250, full: 2000 }) },
    )
  })

  it('gives one empty piece for no observations', () => {
    const layer = flattenEvidence(family, [], newListInterner())
    expect([layer.count, ...layer.values]).toEqual([1, 0])
    checkInvariants(layer)
  })

  it('does not run past the last address', () => {
    const limit = maxAddress(family)
    const layer = flattenEvidence(
      family,
      [
        { first: 0n, last: limit, evidence: 1 },
        { first: limit, last: limit, evidence: 2 },
      ],
      newListInterner(),
    )
    expect(layer.count).toBe(2)
    expect(startOf(layer, 1)).toBe(limit)
  })

  it('is the same for the same ranges in another order', () => {
    fc.assert(
      fc.property(observations(family), (input) => {
        const one = flattenEvidence(family, input, newListInterner())
        const other = flattenEvidence(family, [...input].reverse(), newListInterner())
        expect(other).toEqual(one)
      }),
    )
  })
})
