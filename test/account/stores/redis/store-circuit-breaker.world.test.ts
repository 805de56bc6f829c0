// The circuit breaker over a store for many machines, held to times: how soon a store that goes or
// comes back is known. What holds at any speed is in store-circuit-breaker.test.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { leaseScript } from '../../../../src/account/stores/redis/lua-scripts.ts'
import { FakeConnection } from './fake-connection.ts'
import { askCounter, openBreaker } from './open-breaker.ts'

const open = (connection: FakeConnection) => openBreaker(connection, 60)

async function until(test: () => boolean): Promise<number> {
  const fromMs = performance.now()
  while (!test() && performance.now() - fromMs < 5000) await sleep(5)
  return performance.now() - fromMs
}

describe('a circuit breaker', () => {
  it.each(['failing', 'frozen'] as const)(
    'tells of a store that is %s once, and of its return',
    async (mode) => {
      const connection = new FakeConnection()
      const { breaker, reports } = await open(connection)
      expect(await askCounter(breaker)).toBe('reply')
      connection.mode = mode
      expect(await until(() => breaker.down())).toBeLessThan(1000)
      const { sent } = connection
      for (let i = 0; i < 50; i += 1) {
        const startMs = performance.now()
        await expect(askCounter(breaker)).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: true,
        })
        expect(performance.now() - startMs).toBeLessThan(30)
      }
      expect(connection.sent).toBe(sent)
      await sleep(400)
      connection.thaw()
      expect(await until(() => !breaker.down())).toBeLessThan(1000)
      expect(await askCounter(breaker)).toBe('reply')
      expect(reports).toHaveLength(2)
      expect(reports[0]).toMatch(/^The store redis:\/\/played:1 cannot be reached: .+\.$/)
      expect(reports[1]).toBe('up')
    },
  )

  it('makes a new connection of one that is silent for long', async () => {
    const connection = new FakeConnection()
    const { breaker } = await open(connection)
    connection.mode = 'frozen'
    expect(await until(() => connection.reconnects > 0)).toBeGreaterThan(900)
    expect(breaker.down()).toBe(true)
  })

  it('trusts a store that comes and goes less and less, and takes it back within a second', async () => {
    const connection = new FakeConnection()
    const { breaker, reports } = await open(connection)
    const back: number[] = []
    for (let round = 0; round < 6; round += 1) {
      connection.mode = 'failing'
      await until(() => breaker.down())
      connection.mode = 'well'
      back.push(await until(() => !breaker.down()))
    }
    expect(back[2]).toBeGreaterThan(2 * (back[0] ?? 0))
    expect(reports).toHaveLength(12)
    // Looks that are late on a busy machine, apart.
    expect(back[5]).toBeLessThan(1900)
  })

  it('reads on from a store that refuses all changes, and knows by itself when it takes them', async () => {
    const connection = new FakeConnection()
    const { breaker, reports } = await open(connection)
    connection.mode = 'refusing'
    const lease = (): Promise<unknown> =>
      breaker.runScript(leaseScript, ['iprisk:{k}:quota:2026-08'], [])
    await expect(lease()).rejects.toMatchObject({ code: 'store_refuses', retryable: true })
    expect([breaker.down(), reports.length]).toEqual([true, 1])
    expect(reports[0]).toMatch(/refuses to lease: OOM/)
    const sent = connection.scripts.filter((name) => name.startsWith('lease')).length
    for (let i = 0; i < 20; i += 1) {
      await expect(lease()).rejects.toMatchObject({ code: 'store_refuses', message: /OOM/ })
    }
    expect(connection.scripts.filter((name) => name.startsWith('lease'))).toHaveLength(sent)
    expect(await askCounter(breaker)).toBe('reply')
    // Longer than it takes to give up a connection that is silent.
    await sleep(1500)
    expect([breaker.down(), connection.reconnects, reports.length]).toEqual([true, 0, 1])
    expect(connection.scripts).toContain('try iprisk:{k}:try')
    connection.mode = 'well'
    expect(await until(() => !breaker.down())).toBeLessThan(1900)
    expect(await lease()).toBe('reply')
    expect(reports).toEqual([reports[0], 'up'])
  })
})
