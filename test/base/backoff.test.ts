import { expect, it } from 'vitest'
import { backoffMs, withJitter } from '../../src/base/backoff.ts'

it('waits twice as long after each failure, up to its bound, however many there were', () => {
  const delays = [1, 2, 3, 4, 5, 5000].map((n) => backoffMs({ msMin: 100, msMax: 1000 }, n))
  expect(delays).toEqual([100, 200, 400, 800, 1000, 1000])
})

it('spreads a delay by a share of it to both sides', () => {
  expect([0, 0.5, 1].map((random) => withJitter(1000, 0.1, random))).toEqual([900, 1000, 1100])
  expect(Math.abs(withJitter(1000, 0.1) - 1000)).toBeLessThanOrEqual(100)
})
