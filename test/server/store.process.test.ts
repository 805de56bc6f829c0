// Three real servers on one real redis-server, made by the command line as an operator would: keys
// reach every machine, a quota is one for all of them, and a store that is frozen, killed or not
// there yet is answered as the policy says, and taken up again when it is back.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { type StoreServer, describeStores, startStore } from '../account/servers.ts'
import { runProgram } from '../cli/program.ts'
import { writeSmallTable } from '../table/small.ts'
import { type Server, newState, startServer, waitFor } from './server.ts'

const table = writeSmallTable()
const cwd = newState()
let store: StoreServer
let servers: Server[] = []

const start = (...args: readonly string[]): Promise<Server> =>
  startServer({ table, workers: 2, args: ['--store', store.url, ...args] })

async function createKey(...flags: readonly string[]): Promise<string> {
  const args = ['keys', 'create', '--json', '--plan', 'internal', '--store', store.url, ...flags]
  const { code, out, err } = await runProgram([...args, '--state', newState()], { cwd })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return (JSON.parse(out) as { key: string }).key
}

async function check(server: Server, key: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: '{"ip":"9.5.5.5"}',
  })
  await response.arrayBuffer()
  return response.status
}

/** So many checks on all servers at once; how many were answered with each status. */
async function load(key: string, count: number, on = servers): Promise<Record<number, number>> {
  const seen: Record<number, number> = {}
  let sent = 0
  const one = async (at: number): Promise<void> => {
    while (sent < count) {
      sent += 1
      const status = await check(on[at % on.length]!, key)
      seen[status] = (seen[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: 12 }, (_, at) => one(at)))
  return seen
}

const known = (server: Server, key: string): Promise<true> =>
  waitFor(async () => ((await check(server, key)) === 200 ? true : undefined), 5000)

describeStores('servers on a store for many machines', () => {
  beforeAll(async () => {
    store = await startStore(['--appendonly', 'yes', '--appendfsync', 'always'])
    servers = await Promise.all([start(), start(), start('--store-policy', 'serve')])
  })
  afterAll(async () => {
    store.thaw()
    await Promise.all(servers.map((server) => server.stop()))
    await store.end()
  })

  it('know a new key on every machine within five seconds, and a revoked one no more', async () => {
    const key = await createKey()
    await Promise.all(servers.map((server) => known(server, key)))
    const id = key.split('_')[1]!
    const revoke = ['keys', 'revoke', id, '--store', store.url, '--state', newState()]
    expect((await runProgram(revoke, { cwd })).code).toBe(0)
    for (const server of servers) {
      await waitFor(async () => ((await check(server, key)) === 401 ? true : undefined), 5000)
    }
  })

  it('grant a quota once, on all of them together', async () => {
    const key = await createKey('--quota', '300')
    await Promise.all(servers.map((server) => known(server, key)))
    const { 200: granted = 0, 429: refused = 0, ...strange } = await load(key, 600)
    // Three were spent by waiting for the key, at least.
    expect(granted).toBeLessThanOrEqual(297)
    expect(granted).toBeGreaterThan(250)
    expect(refused).toBeGreaterThan(200)
    expect(strange).toEqual({})
  })

  it('answer 503 or from what they have while it is frozen, and go on within two seconds', async () => {
    const key = await createKey('--quota', '1000000')
    await Promise.all(servers.map((server) => known(server, key)))
    store.freeze()
    try {
      // What is leased is spent first.
      const [refusing, , serving] = servers
      const seen = await load(key, 600, [refusing!])
      expect(seen[503]).toBeGreaterThan(0)
      expect((await load(key, 300, [serving!]))[200]).toBe(300)
      const slow = performance.now()
      await check(refusing!, key)
      expect(performance.now() - slow).toBeLessThan(1500)
    } finally {
      store.thaw()
    }
    const thawed = performance.now()
    for (const server of servers) {
      await waitFor(async () => ((await check(server, key)) === 200 ? true : undefined), 4000)
    }
    expect(performance.now() - thawed).toBeLessThan(2500)
    expect(await servers[0]!.metric('iprisk_store_outages_total')).toBeGreaterThan(0)
    await waitFor(async () =>
      (await servers[0]!.metric('iprisk_store_up')) === 2 ? true : undefined,
    )
    const lines = servers[0]!.stderr().match(/The store of keys and quotas is gone/g) ?? []
    // Once for each worker, however many requests failed.
    expect(lines.length).toBeLessThanOrEqual(2)
  })

  it('are not ready, and answer 503, never 401, until a store that was away has come', async () => {
    const key = await createKey()
    await store.kill()
    const late = await start()
    try {
      expect(await check(late, key)).toBe(503)
      expect((await late.admin('/readyz')).status).toBe(503)
      await store.start()
      await known(late, key)
      await waitFor(async () => ((await late.admin('/readyz')).status === 200 ? true : undefined))
    } finally {
      await late.stop()
    }
    // The key was acknowledged before the store was killed.
    await Promise.all(servers.map((server) => known(server, key)))
  })
})
