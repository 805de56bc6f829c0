// The bounds on what runs at once, measured while it runs.

import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runWithHostConcurrency } from '../../../build/fetch/obtain-snapshots.ts'

describe('runBounded', () => {
  it('runs every task once, within both bounds, for any mix of hosts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ host: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(3) }), {
          maxLength: 25,
        }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        async (plan, all, perHost) => {
          const running: string[] = []
          const ended: number[] = []
          const tasks = plan.map(({ host, ms }, index) => ({
            host,
            run: async () => {
              running.push(host)
              expect(running.length).toBeLessThanOrEqual(all)
              expect(running.filter((each) => each === host).length).toBeLessThanOrEqual(perHost)
              await sleep(ms)
              running.splice(running.indexOf(host), 1)
              ended.push(index)
            },
          }))
          await runWithHostConcurrency(tasks, { all, perHost })
          expect(ended.sort((a, b) => a - b)).toEqual(plan.map((_, index) => index))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('asks distinct hosts first, and lets no full host keep the others waiting', async () => {
    const order: string[] = []
    const task = (host: string): { host: string; run: () => Promise<void> } => ({
      host,
      run: async () => {
        order.push(host)
        await sleep(host === 'slow' ? 50 : 1)
      },
    })
    const tasks = ['slow', 'slow', 'slow', 'a', 'b', 'a', 'b'].map(task)
    await runWithHostConcurrency(tasks, { all: 3, perHost: 1 })
    expect(order).toEqual(['slow', 'a', 'b', 'a', 'b', 'slow', 'slow'])
    order.length = 0
    await runWithHostConcurrency(tasks, { all: 3, perHost: 3 })
    expect(order.slice(0, 3)).toEqual(['slow', 'a', 'b'])
  })

  it('rethrows what a task throws', async () => {
    const run = async (): Promise<void> => Promise.reject(new Error('broken'))
    await expect(
      runWithHostConcurrency([{ host: 'a', run }], { all: 1, perHost: 1 }),
    ).rejects.toThrow('broken')
  })
})
