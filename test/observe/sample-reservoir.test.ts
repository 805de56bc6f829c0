// The sample is what a sort of all that was offered would keep, whatever came in which order.

import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/base/day.ts'
import { createReservoir } from '../../src/observe/traffic-sample.ts'
import type { SampledCheck } from '../../src/observe/sample-file.ts'

let asked = 0
/** Of an address of its own by default. */
const check = (lot: number, day = 100, address = `192.0.${asked >> 8}.${asked++ & 255}`) =>
  ({ lot, day: day as Day, policy: '', address }) satisfies SampledCheck

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
    expect(reservoir.forget(({ day }) => day < 101)).toBe(2)
    expect(lotsOf(reservoir.checks())).toEqual([0.15, 0.25])
    expect(reservoir.below()).toBe(1)
  })

  it('has an address once, however often and in whichever form it asks, and of IPv6 a /64', () => {
    const reservoir = createReservoir(4)
    const loud = [
      '192.0.2.1',
      '2002:c000:201::1',
      '2002:c000:201:77::1',
      '64:ff9b::192.0.2.1',
      '2001:0:4136:e378:8000:63bf:3fff:fdfe',
    ]
    for (let turn = 0; turn < 100; turn += 1) {
      reservoir.add(loud.map((address, i) => check(0.5 - (5 * turn + i) / 1024, 100, address)))
    }
    expect(reservoir.below()).toBe(1)
    reservoir.add([
      check(0.9, 100, '2001:db8:0:1::1'),
      check(0.8, 100, '2001:db8:0:1:ffff::2'),
      check(0.95, 100, '2001:db8:0:2::1'),
      check(0.96, 100, '64:ff9b::192.0.2.2'),
    ])
    expect(lotsOf(reservoir.checks())).toEqual([0.5 - 499 / 1024, 0.8, 0.95, 0.96])
  })
})
