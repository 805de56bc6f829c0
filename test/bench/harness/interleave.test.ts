// Rounds of measurements: every subject once a round, the order turned each time.

import { expect, it } from 'vitest'
import { interleave } from '../../../bench/harness/interleave.ts'

it('turns the order each round', async () => {
  const measured = await interleave(['a', 'b', 'c'], 3, async (subject, round) => subject + round)
  expect(measured).toEqual(['a0', 'b0', 'c0', 'c1', 'b1', 'a1', 'a2', 'b2', 'c2'])
})

it('begins a measurement when the one before has ended', async () => {
  let running = 0
  const counts = await interleave([1, 2], 2, async () => {
    running++
    await new Promise(setImmediate)
    return running--
  })
  expect(counts).toEqual([1, 1, 1, 1])
})
