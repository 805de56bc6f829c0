// The sample is what a sort of all that was offered would keep, whatever came in which order.

import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/base/day.ts'
import { createReservoir } from '../../src/observe/traffic-sample.ts'
import type { SampledCheck } from '../../src/observe/sample-file.ts'

const check = (lot: number, day = 100): SampledCheck => ({
  lot,
  day: day as Day,
  policy: '',
  address: '192.0.2.1',
})

const lotsOf = (checks: readonly SampledCheck[]): readonly number[] =>
  checks.map(({ lot }) => lot).sort((a, b) => a - b)

/** Numbers that a seed decides. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('a reservoir', () => {
  it.each([1, 2, 3])('keeps the lowest lots of all, seed %i', (seed) => {
    const random = numbers(seed)
    const size = 50
    const reservoir = createReservoir(size)
    const all: number[] = []
    for (let turn = 0; turn < 200; turn += 1) {
      const offered = Array.from({ length: Math.floor(random() * 20) }, random)
      all.push(...offered)
      // A worker offers only what is below.
      const below = reservoir.below()
      reservoir.add(offered.filter((lot) => lot < below).map((lot) => check(lot)))
    }
    expect(lotsOf(reservoir.checks())).toEqual(all.sort((a, b) => a - b).slice(0, size))
    expect(reservoir.below()).toBeLessThan(0.1)
  })

  it('takes in everything while it has room, and again when old ones are forgotten', () => {
    const reservoir = createReservoir(4)
    reservoir.add([0.1, 0.2, 0.3, 0.9].map((lot) => check(lot, 100)))
    expect(reservoir.below()).toBe(1)
    reservoir.add([0.15, 0.25].map((lot) => check(lot, 101)))
    expect(lotsOf(reservoir.checks())).toEqual([0.1, 0.15, 0.2, 0.25])
    expect(reservoir.below()).toBe(0.25)
    reservoir.forgetBefore(101 as Day)
    expect(lotsOf(reservoir.checks())).toEqual([0.15, 0.25])
    expect(reservoir.below()).toBe(1)
  })
})
