// The circuit breaker over a store for many machines, on a fake connection: that nothing is sent
// twice, what a failure means to whoever asked, and that a store is known again. How soon is in
// store-circuit-breaker.world.test.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { storeAdvice } from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import { isOutage, reportOnce } from '../../../../src/account/stores/open-stores.ts'
import {
  type LuaScript,
  leaseScript,
  addMemberScript,
  readCounterScript,
} from '../../../../src/account/stores/redis/lua-scripts.ts'
import { IpriskError } from '../../../../src/base/coded-error.ts'
import type { ErrorCode } from '../../../../src/base/error-codes.ts'
import { FakeConnection } from './fake-connection.ts'
import { askCounter, openBreaker } from './open-breaker.ts'

const open = (connection: FakeConnection) => openBreaker(connection, 300)

async function until(test: () => boolean): Promise<void> {
  while (!test()) await sleep(5)
}

describe('a circuit breaker', () => {
  it('hands over what comes late, and sends nothing twice', async () => {
    const connection = new FakeConnection()
    const { breaker } = await open(connection)
    connection.mode = 'frozen'
    const late: unknown[] = []
    await expect(askCounter(breaker, (reply) => late.push(reply))).rejects.toThrow(
      'no answer within 300 ms',
    )
    expect([connection.sent, late]).toEqual([1, []])
    connection.thaw()
    await until(() => late.length > 0)
    expect([connection.sent, late]).toEqual([1, ['reply']])
  })

  it('asks nothing of a store that is away, and tells of its going and return once each', async () => {
    const connection = new FakeConnection()
    const { breaker, reports } = await open(connection)
    expect(await askCounter(breaker)).toBe('reply')
    connection.mode = 'failing'
    await until(() => breaker.down())
    const { sent } = connection
    for (let i = 0; i < 50; i += 1) {
      await expect(askCounter(breaker)).rejects.toMatchObject({
        code: 'store_unreachable',
        message: 'The store redis://played:1 cannot be reached: Connection is closed.',
        retryable: true,
      })
    }
    expect(connection.sent).toBe(sent)
    connection.thaw()
    await until(() => !breaker.down())
    expect(await askCounter(breaker)).toBe('reply')
    expect(reports).toEqual([expect.stringMatching(/cannot be reached/), 'up'])
  })

  it('begins down where nobody is there, and fails after it is closed', async () => {
    const connection = new FakeConnection()
    connection.mode = 'failing'
    const { breaker, reports } = await open(connection)
    expect([breaker.down(), reports.length]).toEqual([true, 1])
    connection.mode = 'well'
    await until(() => !breaker.down())
    expect(await breaker.advice()).toHaveLength(1)
    await breaker.close()
    await expect(askCounter(breaker)).rejects.toThrow('closed')
  })

  it('tells once of a store that goes on failing', async () => {
    const connection = new FakeConnection()
    let pings = 0
    connection.ping = async () => {
      pings += 1
      throw new Error('Connection is closed.')
    }
    const { reports } = await open(connection)
    await until(() => pings > 3)
    expect(reports).toEqual([expect.stringMatching(/cannot be reached/)])
  })

  it('says what the store finds fault with, and does not take it for gone', async () => {
    const connection = new FakeConnection()
    const { breaker, reports } = await open(connection)
    const fault = Object.assign(new Error('WRONGTYPE Operation against'), { name: 'ReplyError' })
    connection.send = () => Promise.reject(fault)
    await expect(askCounter(breaker)).rejects.toMatchObject({
      code: 'store_failed',
      message: /WRONGTYPE/,
    })
    expect([breaker.down(), reports]).toEqual([false, []])
  })

  it('knows one that refuses changes by a look alone, and reads on', async () => {
    const connection = new FakeConnection()
    const { breaker, reports } = await open(connection)
    connection.refusesLooks = true
    connection.mode = 'refusing'
    await until(() => breaker.down())
    expect(reports).toEqual([expect.stringMatching(/refuses to try: OOM/)])
    const lease = (): Promise<unknown> =>
      breaker.runScript(leaseScript, ['iprisk:{k}:quota:2026-08'], [])
    await expect(lease()).rejects.toMatchObject({ code: 'store_refuses', message: /OOM/ })
    expect(await askCounter(breaker)).toBe('reply')
    connection.mode = 'well'
    await until(() => !breaker.down())
    expect(await lease()).toBe('reply')
    expect([reports.at(-1), connection.reconnects]).toEqual(['up', 0])
  })

  it('tells what was not done from what may have been', async () => {
    const code = async (mode: FakeConnection['mode'], script: LuaScript): Promise<string> => {
      const connection = new FakeConnection()
      const { breaker } = await open(connection)
      connection.mode = mode
      const error: unknown = await breaker
        .runScript(script, ['{k}'], [])
        .catch((thrown: unknown) => thrown)
      connection.thaw()
      await breaker.close()
      return error instanceof IpriskError ? `${error.code} ${error.retryable}` : ''
    }
    expect(await code('frozen', leaseScript)).toBe('store_unknown false')
    expect(await code('failing', leaseScript)).toBe('store_unknown false')
    expect(await code('unconnected', leaseScript)).toBe('store_unreachable true')
    for (const script of [readCounterScript, addMemberScript]) {
      expect(await code('frozen', script)).toBe('store_unreachable true')
    }
  })
})

describe('trouble', () => {
  const error = (code: ErrorCode): IpriskError =>
    new IpriskError({ code, message: code, fault: 'environment' })

  it('is told once until something succeeds, oddities once a minute, and not where the link tells', () => {
    const reports: string[] = []
    const hooks = reportOnce({
      onTrouble: (thrown) => reports.push(String(thrown)),
      onRecovery: () => reports.push('recovery'),
    })
    hooks.onRecovery()
    for (let i = 0; i < 3; i += 1) {
      hooks.onTrouble(error('quota_busy'))
      hooks.onTrouble(error('store_unreachable'))
      hooks.onTrouble(error('store_unknown'))
      hooks.onTrouble(error('store_refuses'))
      hooks.onTrouble(error('store_lost_units'))
    }
    hooks.onRecovery()
    hooks.onRecovery()
    hooks.onTrouble(error('quota_busy'))
    // Every unit that a store has lost fails, and all that comes between succeeds.
    for (let i = 0; i < 50; i += 1) {
      hooks.onTrouble(error('store_lost_units'))
      hooks.onRecovery()
    }
    expect(reports.map((line) => line.replace(/^.*: /, ''))).toEqual([
      'quota_busy',
      'store_lost_units',
      'recovery',
      'quota_busy',
      'recovery',
    ])
    const codes = [
      'store_lost_units',
      'store_failed',
      'rates_full',
      'store_refuses',
      'quota_busy',
    ] as const
    expect(codes.map((code) => isOutage(error(code)))).toEqual([false, false, false, true, true])
    expect(isOutage(new Error('MDB_PANIC'))).toBe(true)
  })
})

describe('cautions', () => {
  it('are for what may lose counts, each once', () => {
    const bad = '# Persistence\r\naof_enabled:0\r\nmaxmemory_policy:volatile-ttl\r\n'
    expect(storeAdvice([bad, bad], 0)).toHaveLength(2)
    expect(storeAdvice(['aof_enabled:1\r\nmaxmemory_policy:noeviction\r\n', ''], 0)).toEqual([])
    const replicated = 'aof_enabled:1\r\nconnected_slaves:1\r\n'
    expect(storeAdvice([replicated], 0)).toEqual([expect.stringContaining('--store-replicas')])
    expect(storeAdvice([replicated], 1)).toEqual([])
  })
})
