import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createQueue, mapInParallel } from '../../src/base/concurrency.ts'

describe('mapInParallel', () => {
  it('does some at a time, and gives their results in order', async () => {
    let running = 0
    let most = 0
    const results = await mapInParallel([3, 1, 2], 2, async (turns) => {
      running += 1
      most = Math.max(most, running)
      for (let i = 0; i < turns; i++) await nextTurn()
      running -= 1
      return turns * 10
    })
    expect({ results, most }).toEqual({ results: [30, 10, 20], most: 2 })
  })

  it('begins nothing after a failure', async () => {
    const begun: number[] = []
    const failing = mapInParallel([1, 2, 3], 1, (item) => {
      begun.push(item)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(begun).toEqual([1])
  })
})

it('queues acts one after the other, also after one that fails', async () => {
  const queue = createQueue()
  const order: string[] = []
  const first = queue(async () => {
    await nextTurn()
    order.push('first')
    throw new Error('no')
  })
  const second = queue(() => order.push('second'))
  await expect(first).rejects.toThrow('no')
  expect(await second).toBe(2)
  expect(order).toEqual(['first', 'second'])
})
