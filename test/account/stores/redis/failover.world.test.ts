// Stores that fail over while leases are taken, on real servers: with `replicas` set no unit that
// was granted is forgotten, under a sentinel and in a cluster; without it some are, which is why
// the setting exists. And stores that refuse: what they say, and that they are known to be well
// again. What takes longest runs where IPRISK_TEST_LONG is set (npm run prove -- store-failover).

import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { QuotaLedger } from '../../../../src/account/limits/quota-ledger.ts'
import {
  type StoreCircuitBreaker,
  openStoreCircuitBreaker,
} from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import { type Month, monthOf } from '../../../../src/account/limits/quota-period.ts'
import {
  createRedisKeyStore,
  createRedisQuotaLedger,
} from '../../../../src/account/stores/redis/redis-keys.ts'
import { openRedisConnection } from '../../../../src/account/stores/redis/redis-connection.ts'
import { IpriskError } from '../../../../src/base/coded-error.ts'
import { storeHeartbeatMs } from '../../../../src/base/limits.ts'
import { record } from '../conformance.ts'
import * as servers from './redis-servers.ts'
import { type StoreServer, describeStores, storeSettings } from './redis-servers.ts'

const long = process.env['IPRISK_TEST_LONG'] !== undefined
const month = monthOf(Date.UTC(2026, 7, 22))
let links: StoreCircuitBreaker[] = []
let ends: (() => Promise<void>)[] = []
let said: string[] = []

beforeEach(() => {
  said = []
})
afterEach(async () => {
  for (const breaker of links) await breaker.close()
  for (const end of ends) await end()
  links = []
  ends = []
})

async function open(url: string, replicas = 0, timeoutMs = 300): Promise<StoreCircuitBreaker> {
  const breaker = await openStoreCircuitBreaker(
    openRedisConnection(storeSettings(url, { replicas })),
    {
      timeoutMs,
      replicas: 0,
      onDown: (error) => said.push(error.code),
      onUp: () => said.push('up'),
    },
  )
  links.push(breaker)
  return breaker
}

async function until(test: () => boolean | Promise<boolean>, ms = 15_000): Promise<number> {
  const fromMs = performance.now()
  while (!(await test())) {
    if (performance.now() - fromMs > ms) throw new Error(`not within ${ms} ms`)
    await sleep(10)
  }
  return performance.now() - fromMs
}

/** Takes leases of some keys until it is told to stop; what was granted, by key. */
function takeLeases(
  ledger: QuotaLedger,
  keyIds: readonly string[],
): { readonly granted: Map<string, number>; readonly stop: () => Promise<void> } {
  const granted = new Map<string, number>()
  const told = { toEnd: false }
  const one = async (keyId: string): Promise<void> => {
    while (!told.toEnd) {
      const asked = { keyId, month, limit: 1e9, want: 3, need: 1 }
      const grant = await ledger.lease(asked).catch(() => ({ granted: 0 }))
      granted.set(keyId, (granted.get(keyId) ?? 0) + grant.granted)
      if (grant.granted === 0) await sleep(5)
    }
  }
  const work = Promise.all(keyIds.map(one))
  return {
    granted,
    stop: async () => {
      told.toEnd = true
      await work
    },
  }
}

/** What is granted and not in the store: what could be granted once more. */
async function forgotten(
  ledger: QuotaLedger,
  granted: ReadonlyMap<string, number>,
  of: Month = month,
): Promise<number> {
  const taken = await ledger.usage(of)
  let units = 0
  for (const [keyId, count] of granted) units += Math.max(0, count - (taken.get(keyId) ?? 0))
  return units
}

const sum = (granted: ReadonlyMap<string, number>): number =>
  [...granted.values()].reduce((all, units) => all + units, 0)

describeStores('a store that fails over', () => {
  it.each([
    { replicas: 1, what: 'forgets no unit where its replica must have it' },
    ...(long ? [{ replicas: 0, what: 'forgets units where it need not' }] : []),
  ])('under a sentinel $what', async ({ replicas }) => {
    const sentinels = await servers.startSentinels()
    ends.push(sentinels.end)
    const ledger = createRedisQuotaLedger(await open(sentinels.url, replicas))
    const taking = takeLeases(ledger, ['a', 'b', 'c'])
    await until(() => sum(taking.granted) > 300)
    // The replica hears no more, and the master dies a moment later.
    sentinels.replica.freeze()
    await sentinels.master.cli('client', 'kill', 'type', 'replica')
    await sleep(300)
    await sentinels.master.kill()
    sentinels.replica.thaw()
    const before = sum(taking.granted)
    const role = async (): Promise<string> => sentinels.replica.cli('role')
    await until(async () => (await role()).startsWith('master'))
    // Alone the new master does not do where a replica is wanted: the old one becomes it.
    await sentinels.master.start()
    await sentinels.master.cli('replicaof', '127.0.0.1', String(sentinels.replica.port))
    await until(() => sum(taking.granted) > before + 300, 20_000)
    await taking.stop()
    const lost = await forgotten(ledger, taking.granted)
    process.stderr.write(
      `sentinel, replicas ${replicas}: ${sum(taking.granted)} granted, ${lost} forgotten\n`,
    )
    expect(lost > 0).toBe(replicas === 0)
  })

  it.runIf(long)('as a cluster forgets no unit where replicas must have it', async () => {
    const cluster = await servers.startCluster(1)
    ends.push(cluster.end)
    const keyIds = Array.from({ length: 12 }, (_, i) => `key${i}`)
    const ledger = createRedisQuotaLedger(await open(cluster.url, 1))
    const taking = takeLeases(ledger, keyIds)
    const each = (more: number): boolean =>
      keyIds.every((keyId) => (taking.granted.get(keyId) ?? 0) > more)
    await until(() => each(30))
    const [master, ...others] = cluster.nodes as [StoreServer, ...StoreServer[]]
    await master.kill()
    const last = Math.max(...taking.granted.values())
    const masters = (text: string): number => (text.match(/master - .* connected \d/g) ?? []).length
    const replaced = (text: string): boolean => text.includes('master,fail') && masters(text) === 3
    await others[0]!.until(replaced, 'cluster', 'nodes')
    // A cluster whose new master has no replica is not served: it comes back as one.
    await master.start()
    await until(() => each(last + 30), 20_000)
    await taking.stop()
    const lost = await forgotten(ledger, taking.granted)
    process.stderr.write(`cluster: ${sum(taking.granted)} granted, ${lost} forgotten\n`)
    expect(lost).toBe(0)
  })

  it('counts as gone while it has fewer replicas than must have a lease', async () => {
    const sentinels = await servers.startSentinels()
    ends.push(sentinels.end)
    const breaker = await open(sentinels.url, 1)
    const ledger = createRedisQuotaLedger(breaker)
    const asked = { keyId: 'k', month, limit: 1000, want: 5, need: 5 }
    const messages: string[] = []
    let granted = 0
    const lease = async (): Promise<boolean> => {
      try {
        granted += (await ledger.lease(asked)).granted
        return true
      } catch (error) {
        if (error instanceof IpriskError && error.code === 'store_unknown') {
          messages.push(error.message)
        }
        return false
      }
    }
    await until(lease)
    sentinels.replica.freeze()
    await until(async () => !(await lease()))
    expect(messages.at(-1)).toMatch(/only 0 of 1 replicas|no answer within/)
    expect([breaker.down(), said.at(-1)]).toEqual([true, 'store_unreachable'])
    const tries = messages.length
    for (let i = 0; i < 20; i += 1) await lease()
    sentinels.replica.thaw()
    expect(await until(() => !breaker.down())).toBeLessThan(2000)
    // One lease is lost, not one with each try.
    expect(messages).toHaveLength(tries)
    await until(lease)
    const taken = (await ledger.usage(month)).get('k') ?? 0
    expect(taken - granted).toBeGreaterThanOrEqual(0)
    expect(taken - granted).toBeLessThanOrEqual(5 * messages.length)
  })
})

describeStores('a store that refuses', () => {
  let server: StoreServer
  beforeEach(async () => {
    server = await servers.startStore()
    ends.push(() => server.end())
  })

  const refusals = [
    {
      code: 'OOM',
      begin: () => server.cli('config', 'set', 'maxmemory', '1'),
      end: () => server.cli('config', 'set', 'maxmemory', '0'),
    },
    {
      code: 'MISCONF',
      begin: async () => {
        await server.cli('config', 'set', 'save', '3600 1')
        rmSync(server.folder, { recursive: true })
        await server.cli('bgsave')
        await server.until((text) => text.includes('bgsave_status:err'), 'info', 'persistence')
      },
      end: () => server.cli('config', 'set', 'stop-writes-on-bgsave-error', 'no'),
    },
    {
      code: 'READONLY',
      begin: () => server.cli('replicaof', '127.0.0.1', '1'),
      end: () => server.cli('replicaof', 'no', 'one'),
    },
  ]

  it.each(refusals)('with $code is read, asked no more, and well again within 2 s', async (one) => {
    // A store that is only slow, on a machine that has much else to do, is none that refuses.
    const breaker = await open(server.url, 0, 5000)
    const [ledger, keys] = [createRedisQuotaLedger(breaker), createRedisKeyStore(breaker)]
    const key = record()
    await keys.create(key)
    const asked = { keyId: 'k', month, limit: 1000, want: 5, need: 5 }
    await ledger.lease(asked)
    await one.begin()
    // Looks have come before the lease: Redis answers even them with MISCONF.
    await sleep(storeHeartbeatMs * 3)
    const refused: unknown = await ledger.lease(asked).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(IpriskError)
    expect(refused).toMatchObject({ code: 'store_refuses', retryable: true })
    expect((refused as Error).message).toContain(one.code)
    expect(breaker.down()).toBe(true)
    await sleep(300)
    expect([breaker.down(), said]).toEqual([true, ['store_refuses']])
    await until(async () => (await keys.get(key.id).catch(() => undefined)) !== undefined, 1000)
    await one.end()
    expect(await until(() => !breaker.down())).toBeLessThan(2000)
    expect(said).toEqual(['store_refuses', 'up'])
    expect((await ledger.lease(asked)).granted).toBe(5)
  })
})
