// Some at a time, in order, and nothing new after a failure.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { inParallel } from '../../src/base/in-parallel.ts'

it('gives results in order, and keeps to its width', async () => {
  let running = 0
  let most = 0
  const results = await inParallel([30, 10, 20, 0, 5], 2, async (ms) => {
    most = Math.max(most, ++running)
    await sleep(ms)
    running -= 1
    return ms
  })
  expect([results, most]).toEqual([[30, 10, 20, 0, 5], 2])
})

it('begins none after a failure', async () => {
  const begun: number[] = []
  const failing = inParallel([0, 1, 2, 3, 4], 2, async (one) => {
    begun.push(one)
    await sleep(1)
    if (one === 0) throw new Error('no')
    await sleep(5)
  })
  await expect(failing).rejects.toThrow('no')
  await sleep(20)
  expect(begun).toEqual([0, 1])
})
