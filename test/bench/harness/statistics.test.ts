// The statistics against slow twins, and the seeded generator against published numbers.

import { array, assert, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newRandom, randomOf, splitMix64 } from '../../../bench/harness/random.ts'
import {
  cutInParts,
  median,
  medianRatio,
  slopeOf,
  spread,
} from '../../../bench/harness/statistics.ts'

describe('the median', () => {
  it('is the middle value, or the mean of the two middle ones', () => {
    expect(median([5])).toBe(5)
    expect(median([10, 1, 9])).toBe(9)
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(() => median([])).toThrow(RangeError)
  })

  it('has as many values above as below, and leaves its input alone', () => {
    assert(
      property(array(integer(), { minLength: 1 }), (values) => {
        const before = [...values]
        const middle = median(values)
        const below = values.filter((value) => value < middle).length
        const above = values.filter((value) => value > middle).length
        expect(Math.max(below, above)).toBeLessThanOrEqual(values.length / 2)
        expect(values).toEqual(before)
      }),
    )
  })
})

describe('parts', () => {
  it('are all the values in their order, none of them empty, as even as may be', () => {
    assert(
      property(array(integer()), integer({ min: 1, max: 20 }), (values, count) => {
        const parts = cutInParts(values, count)
        expect(parts.flat()).toEqual(values)
        expect(parts.length).toBe(Math.min(count, values.length))
        const lengths = parts.map(({ length }) => length)
        if (lengths.length === 0) return
        expect(Math.min(...lengths)).toBeGreaterThan(0)
        expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(2)
      }),
    )
  })
})

describe('the slope', () => {
  it('is that of the line, whatever one point of many says', () => {
    const line = Array.from({ length: 10 }, (_, x) => [x * 2, 5 - 3 * x * 2] as const)
    expect(slopeOf(line)).toBe(-3)
    expect(slopeOf(line.with(4, [8, 1e9]))).toBe(-3)
  })
})

describe('the ratio', () => {
  it('is taken round by round: a round that disturbs both alike does not move it', () => {
    const base = [100, 200, 10]
    expect(medianRatio({ values: [50, 100, 5], base })).toBe(0.5)
    // The ratio of the medians would be 0.9.
    expect(medianRatio({ values: [90, 100, 5], base })).toBe(0.5)
  })

  it('needs as many rounds of both', () => {
    expect(() => medianRatio({ values: [1], base: [1, 2] })).toThrow(RangeError)
  })

  it('has a spread beside it', () => {
    expect(spread([90, 100, 120])).toBeCloseTo(0.3)
    expect(spread([7])).toBe(0)
  })
})

describe('random numbers', () => {
  it('are those of xoshiro128** 1.1', () => {
    // The reference implementation's, from the state 1, 2, 3, 4.
    const { word } = randomOf([1, 2, 3, 4])
    const expected = [
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597,
      4258142804,
    ]
    expect(expected.map(() => word())).toEqual(expected)
  })

  it('are seeded by SplitMix64', () => {
    // The reference implementation's, from the seed 1234567.
    const next = splitMix64(1234567n)
    expect([next(), next(), next()]).toEqual([
      6457827717110365317n,
      3203168211198807973n,
      9817491932198370423n,
    ])
  })

  it('repeat for a seed and differ between seeds', () => {
    const ten = (seed: number): readonly number[] => {
      const { word } = newRandom(seed)
      return Array.from({ length: 10 }, word)
    }
    expect(ten(7)).toEqual(ten(7))
    expect(ten(7)).not.toEqual(ten(8))
  })

  it('lie below their end and reach all of it', () => {
    const random = newRandom(1)
    const counts = new Map<number, number>()
    for (let draw = 0; draw < 30_000; draw++) {
      const value = random.below(3)
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    expect(new Set(counts.keys())).toEqual(new Set([0, 1, 2]))
    for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(500)
    for (let draw = 0; draw < 1000; draw++) {
      const value = random.below(2 ** 53)
      expect(Number.isSafeInteger(value) && value >= 0).toBe(true)
    }
  })
})
