// The circuit breaker over a store for many machines, on a fake connection: that nobody waits for a
// store that is away, that its going and coming is told once each, and that nothing is sent twice.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import {
  NotSentError,
  openStoreCircuitBreaker,
  storeAdvice,
  type StoreCircuitBreaker,
  type StoreConnection,
} from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import { isOutage, reportOnce } from '../../../../src/account/stores/open-stores.ts'
import {
  type LuaScript,
  leaseScript,
  addMemberScript,
  readCounterScript,
} from '../../../../src/account/stores/redis/lua-scripts.ts'
import { IpriskError } from '../../../../src/base/coded-error.ts'
import type { ErrorCode } from '../../../../src/base/error-codes.ts'

const refusal = Object.assign(
  new Error("OOM command not allowed when used memory > 'maxmemory'."),
  { name: 'ReplyError' },
)

/** A store that answers, fails, refuses what changes it, or keeps silent until it is thawed. */
class FakeConnection implements StoreConnection {
  readonly name = 'redis://played:1'
  mode: 'well' | 'failing' | 'frozen' | 'refusing' | 'unconnected' = 'well'
  /** Looks are refused as well. */
  refusesLooks = false
  sent = 0
  readonly scripts: string[] = []
  reconnects = 0
  private held: (() => void)[] = []

  async send(script: LuaScript, keys: readonly string[]): Promise<unknown> {
    if (this.mode === 'unconnected') throw new NotSentError('no connection')
    this.sent += 1
    this.scripts.push(`${script.name} ${keys.join(' ')}`)
    if (this.mode === 'refusing' && script.reads !== true) throw refusal
    return this.answer('reply')
  }

  async ping(): Promise<void> {
    if (this.mode === 'refusing' && this.refusesLooks) throw refusal
    await this.answer('')
  }

  readInfo(): Promise<readonly string[]> {
    return this.answer(['aof_enabled:0\r\nmaxmemory_policy:noeviction'])
  }

  reconnect(): void {
    this.reconnects += 1
  }

  async close(): Promise<void> {
    this.thaw()
  }

  thaw(): void {
    this.mode = 'well'
    for (const answer of this.held.splice(0)) answer()
  }

  private async answer<T>(value: T): Promise<T> {
    if (this.mode === 'failing') throw new Error('Connection is closed.')
    if (this.mode === 'frozen') await new Promise<void>((resolve) => this.held.push(resolve))
    return value
  }
}

let breaker: StoreCircuitBreaker | undefined
afterEach(async () => {
  await breaker?.close()
  breaker = undefined
})

async function open(
  connection: FakeConnection,
): Promise<{ readonly breaker: StoreCircuitBreaker; readonly reports: string[] }> {
  const reports: string[] = []
  breaker = await openStoreCircuitBreaker(connection, {
    timeoutMs: 60,
    replicas: 0,
    onDown: (error) => reports.push(error.message),
    onUp: () => reports.push('up'),
  })
  return { breaker, reports }
}

const ask = (on: StoreCircuitBreaker, late?: (reply: unknown) => void): Promise<unknown> =>
  on.runScript(readCounterScript, ['{k}'], [], late)

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
      expect(await ask(breaker)).toBe('reply')
      connection.mode = mode
      expect(await until(() => breaker.down())).toBeLessThan(1000)
      const { sent } = connection
      for (let i = 0; i < 50; i += 1) {
        const startMs = performance.now()
        await expect(ask(breaker)).rejects.toMatchObject({
          code: 'store_unreachable',
          retryable: true,
        })
        expect(performance.now() - startMs).toBeLessThan(30)
      }
      expect(connection.sent).toBe(sent)
      await sleep(400)
      connection.thaw()
      expect(await until(() => !breaker.down())).toBeLessThan(1000)
      expect(await ask(breaker)).toBe('reply')
      expect(reports).toHaveLength(2)
      expect(reports[0]).toMatch(/^The store redis:\/\/played:1 cannot be reached: .+\.$/)
      expect(reports[1]).toBe('up')
    },
  )

  it('hands over what comes late, and sends nothing twice', async () => {
    const connection = new FakeConnection()
    const { breaker } = await open(connection)
    connection.mode = 'frozen'
    const late: unknown[] = []
    await expect(ask(breaker, (reply) => late.push(reply))).rejects.toThrow(
      'no answer within 60 ms',
    )
    expect([connection.sent, late]).toEqual([1, []])
    connection.thaw()
    await until(() => late.length > 0)
    expect([connection.sent, late]).toEqual([1, ['reply']])
  })

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

  it('begins down where nobody is there, and fails after it is closed', async () => {
    const connection = new FakeConnection()
    connection.mode = 'failing'
    const { breaker, reports } = await open(connection)
    expect([breaker.down(), reports.length]).toEqual([true, 1])
    connection.mode = 'well'
    await until(() => !breaker.down())
    expect(await breaker.advice()).toHaveLength(1)
    await breaker.close()
    await expect(ask(breaker)).rejects.toThrow('closed')
  })

  it('says what the store finds fault with, and does not take it for gone', async () => {
    const connection = new FakeConnection()
    const { breaker, reports } = await open(connection)
    const fault = Object.assign(new Error('WRONGTYPE Operation against'), { name: 'ReplyError' })
    connection.send = () => Promise.reject(fault)
    await expect(ask(breaker)).rejects.toMatchObject({ code: 'store_failed', message: /WRONGTYPE/ })
    expect([breaker.down(), reports]).toEqual([false, []])
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
    expect(await ask(breaker)).toBe('reply')
    // Longer than it takes to give up a connection that is silent.
    await sleep(1500)
    expect([breaker.down(), connection.reconnects, reports.length]).toEqual([true, 0, 1])
    expect(connection.scripts).toContain('try iprisk:{k}:try')
    connection.mode = 'well'
    expect(await until(() => !breaker.down())).toBeLessThan(1900)
    expect(await lease()).toBe('reply')
    expect(reports).toEqual([reports[0], 'up'])
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
    expect(await ask(breaker)).toBe('reply')
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
