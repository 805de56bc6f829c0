// The stores for many machines, on real servers: alone, with a password, with TLS, under a sentinel
// and as a cluster, each through the contracts that the embedded store keeps too. Then what only
// they can do: lose what they had acknowledged, and be refused.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { freePort } from '../../../../bench/harness/free-port.ts'
import { type BucketState, takeFromBucket } from '../../limits/machines/take-from-bucket.ts'
import {
  type StoreCircuitBreaker,
  openStoreCircuitBreaker,
} from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import {
  createRedisKeyStore,
  createRedisLastUsedStore,
  createRedisListStore,
  createRedisQuotaLedger,
} from '../../../../src/account/stores/redis/redis-keys.ts'
import { openRedisConnection } from '../../../../src/account/stores/redis/redis-connection.ts'
import {
  readCounterScript,
  takeTokensScript,
} from '../../../../src/account/stores/redis/lua-scripts.ts'
import { monthOf } from '../../../../src/account/limits/quota-period.ts'
import { messageOf } from '../../../../src/base/coded-error.ts'
import type { Day } from '../../../../src/base/day.ts'
import type { StoreSettings } from '../../../../src/config/settings.ts'
import { keyStoreConformance, ledgerConformance, record } from '../conformance.ts'
import { listStoreConformance } from '../list-conformance.ts'
import { describeStores, type StoreServer, storeSettings } from './redis-servers.ts'
import * as servers from './redis-servers.ts'

function link(settings: StoreSettings): Promise<StoreCircuitBreaker> {
  const { timeoutMs } = settings
  const options = { timeoutMs, replicas: 0, onDown: () => undefined, onUp: () => undefined }
  return openStoreCircuitBreaker(openRedisConnection(settings), options)
}

/** Both contracts on a store; each new place begins with an empty one. */
function conformance(
  name: string,
  store: () => { readonly settings: StoreSettings; readonly nodes: readonly StoreServer[] },
): void {
  let known = ''
  const open = async (place: string): Promise<StoreCircuitBreaker> => {
    const { settings, nodes } = store()
    if (place !== known) for (const node of nodes) await node.cli('flushall')
    known = place
    // How long a store may take is not asked here: a busy machine needs its time.
    return link({ ...settings, timeoutMs: 10_000 })
  }
  /** Like a change made with redis-cli. */
  const writeRecord = async (_place: string, id: string, text: string): Promise<void> => {
    const { nodes } = store()
    const named = (what: string): string => `iprisk:{keys}:${what}`
    const script = `
      redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
      local version = redis.call('INCR', KEYS[4])
      redis.call('ZADD', KEYS[2], version, ARGV[1])
      redis.call('HSET', KEYS[3], version, version)`
    const names = ['records', 'changes', 'stamps', 'version'].map(named)
    // One of a cluster's has these keys; the others refuse them.
    const done = await Promise.allSettled(
      nodes.map(async (node) => {
        const said = await node.cli('EVAL', script, '4', ...names, id, text)
        if (said !== '') throw new Error(said)
      }),
    )
    if (done.every(({ status }) => status === 'rejected')) throw new Error(`${id} is not written`)
  }
  keyStoreConformance(name, async (place) => createRedisKeyStore(await open(place)), writeRecord)
  listStoreConformance(name, async (place) => createRedisListStore(await open(place)))
  ledgerConformance(name, async (place) => {
    const opened = await open(place)
    return { ...createRedisQuotaLedger(opened), close: opened.close }
  })
}

describeStores('one server', () => {
  let server: StoreServer
  beforeAll(async () => {
    server = await servers.startStore()
  })
  afterAll(() => server.end())

  conformance('a server', () => ({ settings: storeSettings(server.url), nodes: [server] }))

  it('is said to be unreachable for what keeps it so', async () => {
    const guarded = await servers.startStore(['--requirepass', 'right'], ['-a', 'right'])
    const free = await freePort()
    const cases: readonly (readonly [string, RegExp])[] = [
      [`redis://:wrong@127.0.0.1:${guarded.port}`, /WRONGPASS/],
      [`redis://127.0.0.1:${guarded.port}`, /NOAUTH/],
      // It waits for the rest of what it takes for a command.
      [`rediss://127.0.0.1:${server.port}`, /no answer within/],
      [`redis://127.0.0.1:${free}`, /ECONNREFUSED/],
      [`redis://localhost:${free}`, /ECONNREFUSED/],
      ['redis://nowhere.invalid', /ENOTFOUND|EAI_AGAIN/],
    ]
    const told = await Promise.all(
      cases.map(async ([url]) => {
        const opened = await link(storeSettings(url))
        const error = await opened.runScript(readCounterScript, ['{k}'], []).catch(messageOf)
        await opened.close()
        return error
      }),
    )
    await guarded.end()
    expect(told).toEqual(cases.map(([, why]) => expect.stringMatching(why)))
    expect(told.join()).not.toMatch(/wrong@/)
  })

  it('fails instead of looping forever if its change counter is negative or not a number', async () => {
    await server.cli('flushall')
    const opened = await link({ ...storeSettings(server.url), timeoutMs: 10_000 })
    const keys = createRedisKeyStore(opened)
    await server.cli('set', 'iprisk:{keys}:version', '-1')
    await expect(keys.changes(0)).rejects.toMatchObject({ code: 'keys_unsettled' })
    await server.cli('set', 'iprisk:{keys}:version', 'x')
    await expect(keys.changes(0)).rejects.toMatchObject({ code: 'store_failed' })
    await server.cli('del', 'iprisk:{keys}:version')
    const key = record()
    await keys.create(key)
    // A key that is counted and has no record is denied, not kept.
    await server.cli('hdel', 'iprisk:{keys}:records', key.id)
    expect(await keys.changes(0)).toMatchObject({ records: [], skipped: [{ id: key.id }] })
    await opened.close()
  })

  it('skips invalid counters and days', async () => {
    await server.cli('flushall')
    const opened = await link({ ...storeSettings(server.url), timeoutMs: 10_000 })
    const ledger = createRedisQuotaLedger(opened)
    const august = monthOf(Date.UTC(2026, 7, 22))
    for (const id of ['a', 'b', 'c']) await ledger.charge(id, august, 5)
    await server.cli('set', 'iprisk:{a}:quota:2026-08', 'x')
    await server.cli('del', 'iprisk:{b}:quota:2026-08')
    await server.cli('hset', 'iprisk:{b}:quota:2026-08', 'x', '1')
    expect(await ledger.usage(august)).toEqual(new Map([['c', 5]]))
    const uses = createRedisLastUsedStore(opened)
    await uses.note('c', 20_000 as Day)
    await server.cli('hset', 'iprisk:{uses}', 'a', 'x', 'b', '1e300')
    expect(await uses.days()).toEqual(new Map([['c', 20_000]]))
    await opened.close()
  })

  it('has databases apart', async () => {
    await server.cli('flushall')
    const [zero, three] = await Promise.all([
      link(storeSettings(server.url)),
      link(storeSettings(`${server.url}/3`)),
    ])
    await createRedisKeyStore(three).create(record())
    expect((await createRedisKeyStore(zero).changes(0)).version).toBe(0)
    expect(await server.cli('-n', '3', 'dbsize')).not.toBe('0')
    await Promise.all([zero.close(), three.close()])
  })

  it('takes from a bucket as its twin does, whatever its clock says', async () => {
    const opened = await link(storeSettings(server.url))
    const given = '{ARGV[5], ARGV[6]}'
    const script = {
      name: 'take',
      text: takeTokensScript.text.replace("redis.call('TIME')", given),
    }
    expect(script.text).toContain(given)
    const step = fc.record({
      passedUs: fc.integer({ min: -2_000_000, max: 5_000_000 }),
      want: fc.integer({ min: -50, max: 150 }),
      share: fc.constantFrom(0, 0, 0.5, 1),
    })
    const limits = fc.constantFrom([50, 100], [7, 3], [1_000_000, 100_000], [1, 1])
    let key = 0
    const property = fc.asyncProperty(
      limits,
      fc.array(step),
      async ([perSecond = 0, capacity = 0], steps) => {
        let bucket: BucketState = { level: 0, atUs: 0 }
        let nowUs = 1_790_000_000_000_000
        const name = `iprisk:{twin}:${(key += 1)}`
        for (const { passedUs, want, share } of steps) {
          const need = Math.max(0, Math.ceil(want * share))
          nowUs += passedUs
          const twin = takeFromBucket(bucket, nowUs, { perSecond, capacity, want, need })
          bucket = twin.bucket
          const time = [Math.floor(nowUs / 1_000_000), nowUs % 1_000_000]
          const args = [perSecond, capacity, want, need, ...time]
          const reply = await opened.runScript(script, [name], args)
          const [granted, level] = reply as [number, string]
          expect([granted, Number(level)]).toEqual([
            Math.trunc(twin.taking.granted) + 0,
            twin.taking.level,
          ])
          expect(twin.taking.level).toBeLessThanOrEqual(capacity)
        }
      },
    )
    await fc.assert(property, { numRuns: 150 })
    await opened.close()
  })

  it('keeps a stamp for each key and for the latest changes, and no more', async () => {
    await server.cli('flushall')
    const opened = await link(storeSettings(server.url))
    const [keys, late] = [createRedisKeyStore(opened), createRedisKeyStore(opened)]
    const made = [record(1), record(2), record(3)] as const
    for (const one of made) await keys.create(one)
    await keys.update(made[0].id, (before) => before)
    const first = await late.changes(0)
    for (let i = 0; i < 1200; i += 1) {
      await keys.update(made[i % 2]!.id, (before) => ({ ...before, name: `${i}` }))
    }
    expect(Number(await server.cli('hlen', 'iprisk:{keys}:stamps'))).toBe(1001)
    // The stamp that it knows is gone, so it reads everything.
    const { records, version } = await late.changes(first.version)
    expect(records.map(({ name }) => name).toSorted()).toEqual(['1198', '1199', 'a key'])
    expect((await late.changes(version)).records).toEqual([])
    expect((await keys.list()).records).toHaveLength(3)
    await opened.close()
  })

  it('is noticed to have lost what it had acknowledged: keys', async () => {
    await server.cli('flushall')
    const opened = await link(storeSettings(server.url))
    const other = await link(storeSettings(server.url))
    const [reader, writer] = [createRedisKeyStore(opened), createRedisKeyStore(other)]
    const [kept, lost] = [record(1), record(2)]
    await writer.create(kept)
    await server.cli('config', 'set', 'appendonly', 'no')
    const copies = await Promise.all(
      ['records', 'changes', 'stamps', 'version'].map((name) =>
        server.cli('copy', `iprisk:{keys}:${name}`, `iprisk:{copy}:${name}`),
      ),
    )
    expect(copies).toEqual(['1', '1', '1', '1'])
    await writer.create(lost)
    const before = await reader.changes(0)
    expect([before.version, before.records.length]).toEqual([2, 2])
    // An old copy comes back, and another change takes the number of the one that is lost.
    for (const name of ['records', 'changes', 'stamps', 'version']) {
      await server.cli('copy', `iprisk:{copy}:${name}`, `iprisk:{keys}:${name}`, 'replace')
    }
    const fresh = record(3)
    await writer.create(fresh)
    const after = await reader.changes(before.version)
    expect(after.version).toBeGreaterThan(before.version)
    const states = new Map(after.records.map(({ id, revokedAt }) => [id, revokedAt]))
    expect(states).toEqual(
      new Map([
        [kept.id, undefined],
        [fresh.id, undefined],
        [lost.id, 0],
      ]),
    )
    expect((await reader.changes(after.version)).records).toEqual([])
    await server.cli('flushall')
    const empty = await reader.changes(after.version)
    expect(empty.records.every(({ revokedAt }) => revokedAt !== undefined)).toBe(true)
    expect(empty.records).toHaveLength(3)
    await Promise.all([opened.close(), other.close()])
  })

  it('says what it is told: that it keeps no log, and may evict', async () => {
    const opened = await link(storeSettings(server.url))
    await server.cli('config', 'set', 'maxmemory-policy', 'allkeys-lru')
    const cautions = await opened.advice()
    expect(cautions.join(' ')).toMatch(/appendonly no.*allkeys-lru/)
    await server.cli('config', 'set', 'maxmemory-policy', 'noeviction')
    await server.cli('config', 'set', 'appendonly', 'yes')
    expect(await opened.advice()).toEqual([])
    await opened.close()
  })
})

describeStores('a server with a user, a password and TLS', () => {
  const canary = 'canary-9f3b/p:w@d'
  let folder: ReturnType<typeof servers.testFolder>
  let server: StoreServer
  let caFile = ''
  beforeAll(async () => {
    folder = servers.testFolder()
    const certificate = servers.makeCertificate(folder.path)
    caFile = certificate.caFile
    server = await servers.startTlsStore(certificate)
    await server.cli('acl', 'setuser', 'iprisk', 'on', `>${canary}`, '~iprisk:*', '+@all')
    writeFileSync(join(folder.path, 'password'), `${canary}\n`)
    writeFileSync(join(folder.path, 'wrong'), 'wrong\n')
  })
  afterAll(async () => {
    await server.end()
    folder.end()
  })
  const settings = (more: Partial<StoreSettings> = {}): StoreSettings =>
    storeSettings(`rediss://iprisk@127.0.0.1:${server.port}`, {
      caFile,
      passwordFile: join(folder.path, 'password'),
      ...more,
    })

  conformance('a server by TLS', () => ({ settings: settings(), nodes: [server] }))

  it('takes the password from the address, too', async () => {
    const url = `rediss://iprisk:${encodeURIComponent(canary)}@127.0.0.1:${server.port}`
    const opened = await link(storeSettings(url, { caFile }))
    expect(opened.down()).toBe(false)
    await opened.close()
  })

  it.each([
    ['a wrong password', () => settings({ passwordFile: join(folder.path, 'wrong') }), /WRONGPASS/],
    [
      'a certificate that nobody vouches for',
      () => storeSettings(settings().url ?? ''),
      /self-signed/,
    ],
    ['no TLS', () => storeSettings(`redis://127.0.0.1:${server.port}`), /cannot be reached/],
  ])('refuses %s, and nothing that is said holds the secret', async (_what, made, why) => {
    const said: unknown[] = []
    const wire = openRedisConnection(made())
    const options = {
      timeoutMs: 300,
      replicas: 0,
      onDown: (e: unknown) => said.push(e),
      onUp: () => undefined,
    }
    const opened = await openStoreCircuitBreaker(wire, options)
    expect(opened.down()).toBe(true)
    expect(said).toHaveLength(1)
    expect(String(said[0])).toMatch(why)
    await expect(createRedisKeyStore(opened).changes(0)).rejects.toMatchObject({
      code: 'store_unreachable',
      message: expect.stringMatching(why),
    })
    const shown = `${wire.name} ${JSON.stringify(said)} ${String(said[0])} ${(said[0] as Error).stack}`
    expect(shown).not.toContain('canary')
    expect((said[0] as Error).cause).toBeUndefined()
    await opened.close()
  })
})

describeStores('servers under a sentinel', () => {
  let sentinels: servers.Sentinels
  beforeAll(async () => {
    sentinels = await servers.startSentinels()
  })
  afterAll(() => sentinels.end())

  conformance('a master that a sentinel names', () => ({
    settings: storeSettings(sentinels.url),
    nodes: [sentinels.master],
  }))

  it('go on after a failover, with what was replicated', async () => {
    const states: string[] = []
    const opened = await openStoreCircuitBreaker(
      openRedisConnection(storeSettings(sentinels.url)),
      {
        timeoutMs: 300,
        replicas: 0,
        onDown: () => states.push('down'),
        onUp: () => states.push('up'),
      },
    )
    const keys = createRedisKeyStore(opened)
    await sentinels.master.cli('flushall')
    const key = record()
    await keys.create(key)
    const copied = ['hexists', 'iprisk:{keys}:records', key.id]
    await sentinels.replica.until((answer) => answer === '1', ...copied)
    await sentinels.master.kill()
    const deadline = Date.now() + 45_000
    let found: unknown
    while (found === undefined && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      found = await keys.get(key.id).catch(() => undefined)
    }
    expect(found).toEqual(key)
    expect(await keys.update(key.id, (before) => ({ ...before, name: 'after' }))).toBeDefined()
    expect(states).toEqual(['down', 'up'])
    await opened.close()
  })
})

describeStores('a cluster', () => {
  let cluster: servers.StoreCluster
  beforeAll(async () => {
    cluster = await servers.startCluster()
  })
  afterAll(() => cluster.end())

  conformance('a cluster', () => ({ settings: storeSettings(cluster.url), nodes: cluster.nodes }))

  it('has the counters of keys on all of its nodes', async () => {
    for (const node of cluster.nodes) await node.cli('flushall')
    const opened = await link(storeSettings(cluster.url))
    const ledger = createRedisQuotaLedger(opened)
    const month = ((2026 - 1970) * 12 + 7) as never
    for (let i = 0; i < 60; i += 1) {
      await ledger.lease({ keyId: `key${i}`, month, limit: 100, want: 5, need: 5 })
    }
    expect((await ledger.usage(month)).size).toBe(60)
    const sizes = await Promise.all(cluster.nodes.map((node) => node.cli('dbsize')))
    expect(sizes.every((size) => Number(size) > 5)).toBe(true)
    await opened.close()
  })
})
