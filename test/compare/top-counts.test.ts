// Counts of many keys in bounded memory: exact while they fit, then right for what comes often.

import { expect, it } from 'vitest'
import { newTopCounts } from '../../src/compare/top-counts.ts'

it('is exact while all keys fit, and keeps the frequent ones where they do not', () => {
  const small = newTopCounts(2)
  for (const key of ['b', 'a', 'b', 'c']) small.add(key, [1, 2])
  expect(small.top(2).map(([key, counts]) => [key, ...counts])).toEqual([
    ['b', 2, 4],
    ['a', 1, 2],
  ])
  const bounded = newTopCounts(1, 100)
  for (let i = 0; i < 5000; i++) bounded.add(i % 2 === 0 ? 'often' : `key ${i}`, [1])
  expect([small.isEstimate(), bounded.isEstimate()]).toEqual([false, true])
  expect(bounded.top(1).map(([key, counts]) => [key, ...counts])).toEqual([['often', 2500]])
})
