// Counts by key: what is summed up, and in which order.

import { expect, it } from 'vitest'
import { addTo, largestFirst, largestSums } from '../../src/base/counts.ts'

it('adds up, and gives the largest first; equal ones in the order of the map or of their keys', () => {
  const counts = new Map<string, number>()
  for (const key of ['c', 'b', 'b', 'a']) addTo(counts, key)
  expect(largestFirst(counts)).toEqual([
    ['b', 2],
    ['c', 1],
    ['a', 1],
  ])
  expect(largestSums([...counts, ['a', 1]])).toEqual([
    ['a', 2],
    ['b', 2],
    ['c', 1],
  ])
})
