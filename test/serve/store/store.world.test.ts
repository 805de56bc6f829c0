// Three real servers on one real redis-server, made by the command line as an operator would: keys
// reach every machine, a quota is one for all of them, and a store that is frozen, killed or not
// there yet is answered as the policy says, and taken up again when it is back.

import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type StoreServer,
  describeStores,
  startStore,
} from '../../account/stores/redis/redis-servers.ts'
import { runProgram } from '../../cli/program.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { type Server, newState, runServe, sleep, startServer } from '../server.ts'
import { eventually } from '../../eventually.ts'

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

/** Throws where there is no answer within half a minute. */
async function check(server: Server, key: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: '{"ip":"9.5.5.5"}',
    signal: AbortSignal.timeout(30_000),
  })
  await response.arrayBuffer()
  return response.status
}

/** The lists that a check is told to match. */
async function listsOf(port: number, key: string): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/intelligence/ip-risk/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: '{"ip":"9.5.5.5"}',
  })
  const { lists = [] } = (await response.json()) as { readonly lists?: readonly string[] }
  return lists
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

interface Seen {
  readonly seen: Record<number, number>
  readonly slowestMs: number
}

/** Checks on servers without an end, by twelve clients; what is seen until it is taken. */
function startPump(
  key: string,
  on = servers,
): {
  readonly take: () => Seen
  /** Until so many more of that status have come; in how many milliseconds. */
  readonly until: (status: number, more: number) => Promise<number>
  readonly stop: () => Promise<Seen>
} {
  let seen: Record<number, number> = {}
  let slowestMs = 0
  const told = { toEnd: false }
  const one = async (at: number): Promise<void> => {
    while (!told.toEnd) {
      const fromMs = performance.now()
      const status = await check(on[at % on.length]!, key)
      slowestMs = Math.max(slowestMs, performance.now() - fromMs)
      seen[status] = (seen[status] ?? 0) + 1
      // A refusal comes at once, and would be all that is asked for.
      if (status !== 200) await sleep(10)
    }
  }
  const clients = Promise.all(Array.from({ length: 12 }, (_, at) => one(at)))
  const take = (): Seen => {
    const taken = { seen, slowestMs }
    seen = {}
    slowestMs = 0
    return taken
  }
  return {
    take,
    until: async (status, more) => {
      const fromMs = performance.now()
      const before = seen[status] ?? 0
      await eventually(() => (seen[status] ?? 0) >= before + more)
      return performance.now() - fromMs
    },
    stop: async () => {
      told.toEnd = true
      await clients
      return take()
    },
  }
}

const shown = ({ seen, slowestMs }: Seen): string =>
  `${JSON.stringify(seen)}, slowest ${slowestMs.toFixed(0)} ms`

/** Asks both workers: so many connections do not all come to one of them. How many were granted. */
async function askBoth(server: Server, key: string): Promise<number> {
  const asked = await Promise.all(Array.from({ length: 12 }, () => check(server, key)))
  return asked.filter((status) => status === 200).length
}

/** By both workers; how many checks that took. */
async function known(server: Server, key: string): Promise<number> {
  let granted = 0
  await eventually(async () => {
    const more = await askBoth(server, key)
    granted += more
    return more === 12
  }, 5000)
  return granted
}

const sumOfAll = async (counts: readonly Promise<number>[]): Promise<number> =>
  (await Promise.all(counts)).reduce((sum, one) => sum + one, 0)

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
      await eventually(async () => (await check(server, key)) === 401, 5000)
    }
  })

  it('know a change of own lists on every machine within five seconds, and its undoing', async () => {
    const key = await createKey()
    await Promise.all(servers.map((server) => known(server, key)))
    const lists = async (...args: readonly string[]): Promise<void> => {
      const place = ['--store', store.url, '--state', newState()]
      const { code, err } = await runProgram(['lists', ...args, ...place], { cwd })
      if (code !== 0) throw new Error(err)
    }
    const named = (): Promise<readonly string[][]> =>
      Promise.all(servers.map(async ({ port }) => [...(await listsOf(port, key))]))
    await lists('create', 'attackers', '--effect', 'block')
    await lists('add', 'attackers', '9.5.5.0/24')
    await expect.poll(named, { timeout: 5000 }).toEqual(servers.map(() => ['attackers']))
    await lists('undo')
    await expect.poll(named, { timeout: 5000 }).toEqual(servers.map(() => []))
    await lists('delete', 'attackers')
  })

  it('grant a quota once, on all of them together, and all of it', async () => {
    const quota = 300
    const key = await createKey('--quota', String(quota))
    let granted = await sumOfAll(servers.map((server) => known(server, key)))
    const { 200: more = 0, 429: refused = 0, ...strange } = await load(key, 2 * quota)
    granted += more
    expect(granted).toBeLessThanOrEqual(quota)
    expect(refused).toBeGreaterThanOrEqual(quota)
    expect(strange).toEqual({})
    // What a worker holds is spent where it is asked, and comes back where it is idle.
    const rest = (): Promise<number> => sumOfAll(servers.map((server) => askBoth(server, key)))
    await eventually(async () => {
      granted += await rest()
      return granted >= quota
    }, 30_000)
    expect(granted + (await rest())).toBe(quota)
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
      await eventually(async () => (await check(server, key)) === 200, 4000)
    }
    expect(performance.now() - thawed).toBeLessThan(2500)
    expect(await servers[0]!.metric('iprisk_store_outages_total')).toBeGreaterThan(0)
    await eventually(async () => (await servers[0]!.metric('iprisk_store_up')) === 2)
    const lines = servers[0]!.stderr().match(/The store of keys and quotas is unreachable/g) ?? []
    // Once for each worker, however many requests failed.
    expect(lines.length).toBeLessThanOrEqual(2)
  })

  it('are slowed down by no slow store, and go on while it is frozen, within what they have', async () => {
    const key = await createKey('--quota', '1000000')
    await Promise.all(servers.map((server) => known(server, key)))
    const pump = startPump(key)
    await pump.until(200, 500)
    // Each of its answers takes longer than half of the time that it has.
    for (let i = 0; i < 5; i += 1) {
      await store.cli('client', 'pause', '200', 'all')
      await sleep(100)
    }
    const slow = pump.take()
    store.freeze()
    await sleep(1500)
    const frozen = pump.take()
    store.thaw()
    const back = await pump.until(200, 300)
    const after = await pump.stop()
    process.stderr.write(
      `slow: ${shown(slow)}; frozen: ${shown(frozen)}; back ${back.toFixed(0)} ms after it\n`,
    )
    for (const { seen } of [slow, frozen, after]) {
      expect(Object.keys(seen).filter((status) => status !== '200' && status !== '503')).toEqual([])
    }
    expect(slow.seen[200]).toBeGreaterThan(50)
    // One server serves on, two say that they cannot.
    expect(frozen.seen[200]).toBeGreaterThan(100)
    expect(frozen.seen[503]).toBeGreaterThan(10)
    // A check that has to wait for a lease waits for the store's time and no longer.
    expect(Math.max(slow.slowestMs, frozen.slowestMs)).toBeLessThan(1500)
    expect(back).toBeLessThan(2500)
  })

  it('know a store that refuses, and that it does no more, though nobody asks', async () => {
    const key = await createKey('--rate', '100', '--burst', '100')
    const [one] = servers
    await known(one!, key)
    const up = async (): Promise<number> => one!.metric('iprisk_store_up')
    await eventually(async () => (await up()) === 2)
    const outages = await one!.metric('iprisk_store_outages_total')
    const lines = one!.stderr().length
    await store.cli('config', 'set', 'maxmemory', '1')
    try {
      await eventually(async () => {
        await load(key, 60, [one!])
        return (await up()) < 2
      })
      // Others fail at it as well; the table is served by what there is.
      expect(one!.stderr().slice(lines)).toMatch(/quotas is unreachable.*refuses to.*OOM/)
    } finally {
      await store.cli('config', 'set', 'maxmemory', '0')
    }
    const mended = performance.now()
    await eventually(async () => (await up()) === 2, 5000)
    // Counts reach the primary once a second.
    expect(performance.now() - mended).toBeLessThan(3500)
    const said = one!.stderr().slice(lines)
    const count = (await one!.metric('iprisk_store_outages_total')) - outages
    expect(said.match(/The store of keys and quotas is unreachable/g)).toHaveLength(count)
    expect(said.match(/The store of keys and quotas is reachable again/g)).toHaveLength(count)
    expect(count).toBeLessThanOrEqual(2)
  })

  it('grant nothing twice while it is killed and started again under load', async () => {
    const quota = 20_000
    const key = await createKey('--quota', String(quota))
    const on = servers.slice(0, 2)
    await Promise.all(on.map((server) => known(server, key)))
    const granted = { units: on.length }
    const pump = startPump(key, on)
    for (let round = 0; round < 3; round += 1) {
      await pump.until(200, 200)
      await store.kill()
      await sleep(200)
      await store.start()
      expect(await pump.until(200, 100)).toBeLessThan(3000)
    }
    const { seen } = await pump.stop()
    granted.units += seen[200] ?? 0
    const counter = async (): Promise<number> => {
      const month = new Date().toISOString().slice(0, 7)
      return Number(await store.cli('get', `iprisk:{${key.split('_')[1]}}:quota:${month}`))
    }
    const taken = await counter()
    process.stderr.write(`three kills of the store: ${granted.units} granted, ${taken} taken\n`)
    expect(granted.units).toBeLessThanOrEqual(taken)
    expect(taken).toBeLessThanOrEqual(quota)
  })

  it('export their keys, and take them in where the store is another one', async () => {
    await createKey('--name', 'moved')
    const at = ['--store', store.url, '--state', newState()]
    const exported = await runProgram(['keys', 'export', ...at], { cwd })
    expect({ code: exported.code, err: exported.err }).toEqual({ code: 0, err: '' })
    const other = await startStore()
    try {
      const to = ['--store', other.url, '--state', newState(), '--json']
      const input = exported.out
      const first = await runProgram(['keys', 'import', '-', ...to], { cwd, input })
      const { created } = JSON.parse(first.out) as { created: number }
      expect(created).toBe((JSON.parse(input) as { keys: unknown[] }).keys.length)
      const second = await runProgram(['keys', 'import', '-', ...to], { cwd, input })
      expect(JSON.parse(second.out)).toEqual({ created: 0, replaced: 0, unchanged: created })
      const again = await runProgram(['keys', 'export', ...to.slice(0, 4)], { cwd })
      const keysOf = (text: string): unknown => (JSON.parse(text) as { keys: unknown }).keys
      expect(keysOf(again.out)).toEqual(keysOf(input))
    } finally {
      await other.end()
    }
  })

  it('live through a hang-up that comes while they wait for their store', async () => {
    const silent = createServer()
    const asked = new Promise((resolve) => silent.once('connection', resolve))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const url = `redis://127.0.0.1:${port}`
    const { child, stderr } = runServe(['--port', '0', '--admin-port', '0', '--store', url])
    try {
      await asked
      child.kill('SIGHUP')
      await eventually(() => /^iprisk serves/m.exec(stderr()) ?? undefined, 60_000)
      expect([child.exitCode, child.signalCode]).toEqual([null, null])
    } finally {
      child.kill('SIGKILL')
      silent.close()
    }
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
      await eventually(async () => (await late.admin('/readyz')).status === 200)
    } finally {
      await late.stop()
    }
    // The key was acknowledged before the store was killed.
    await Promise.all(servers.map((server) => known(server, key)))
  })
})
