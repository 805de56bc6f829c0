// How many different numbers there were, against a set of all of them.

import { describe, expect, it } from 'vitest'
import { newCardinality } from '../../../src/cli/lines/cardinality.ts'
import { newRandom } from '../../oracle/sample.ts'

const random = newRandom(53)
const numbers = (count: number): Float64Array =>
  Float64Array.from({ length: count }, () => Math.floor(random() * 2 ** 53))

describe('the count of different numbers', () => {
  it('is exact while there is room for all', () => {
    const distinct = newCardinality(1024)
    const all = numbers(500)
    for (let round = 0; round < 3; round++) distinct.add(all)
    expect(distinct.count()).toEqual({ count: new Set(all).size, isEstimate: false })
  })

  it('is near the truth where there is not, by a hundred draws', () => {
    const errors = Array.from({ length: 100 }, () => {
      const distinct = newCardinality(8192)
      const all = numbers(60_000)
      distinct.add(all)
      distinct.add(all)
      const { count, isEstimate } = distinct.count()
      expect(isEstimate).toBe(true)
      return count / 60_000 - 1
    })
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length
    const deviation = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length)
    // 1.2 / sqrt(4096) is 0.019.
    expect(Math.abs(mean)).toBeLessThan(0.008)
    expect(deviation).toBeLessThan(0.03)
  })

  it('does not depend on the order or on how the numbers are divided', () => {
    const all = numbers(20_000)
    const one = newCardinality(4096)
    const other = newCardinality(4096)
    one.add(all)
    for (let at = all.length; at > 0; at -= 1000) other.add(all.slice(at - 1000, at).toReversed())
    expect(other.count()).toEqual(one.count())
  })
})
