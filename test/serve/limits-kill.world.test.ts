// Limits of a real server whose processes are killed with SIGKILL under load: a worker, the
// primary, or all of them at once. 64 connections spend; what clients were granted is counted here
// and held against the limits and the ledger. IPRISK_TEST_KILLS asks for more kills than a quick
// run has.

import { Agent, request } from 'node:http'
import { expect, it } from 'vitest'
import { type Random, newRandom } from '../../bench/harness/random.ts'
import type { VersionedCounter } from '../../src/account/limits/quota-ledger.ts'
import { openLmdbCounterStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import { formatMonth, monthOf } from '../../src/account/limits/quota-period.ts'
import type { KeyLimitOverrides } from '../../src/account/keys/key-record.ts'
import { leaseUnitsMin } from '../../src/base/limits.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type Server, makeKey, newState, sleep, startServer, workersOf } from './server.ts'
import { eventually } from '../eventually.ts'

const kills = Number(process.env['IPRISK_TEST_KILLS'] ?? 6)
const seed = Number(process.env['IPRISK_TEST_SEED'] ?? 1)
const workers = 4
const connections = 64
const table = writeSmallTable()

/** What clients have seen of one key. */
interface Seen {
  readonly key: string
  granted: number
  refused: number
  /** Requests that ended without an answer. */
  lost: number
}

interface Load {
  /** Answers other than 200 and 429, by status. */
  readonly strange: Map<number, number>
  port: number
  stopped: boolean
}

const body = '{"ip":"9.5.5.5"}'

/** The status of one check; 0 where the connection broke, -1 where there was none. */
function check(agent: Agent, port: number, key: string): Promise<number> {
  return new Promise((resolve) => {
    const asked = request(
      {
        agent,
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/intelligence/ip-risk/check',
        headers: { authorization: `Bearer ${key}`, 'content-length': body.length },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', () => resolve(0))
      },
    )
    asked.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? -1 : 0),
    )
    asked.end(body)
  })
}

async function spend(load: Load, seen: readonly Seen[], random: Random): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  while (!load.stopped) {
    const one = seen[random.below(seen.length)]!
    const status = await check(agent, load.port, one.key)
    if (status === 200) one.granted += 1
    else if (status === 429) one.refused += 1
    else if (status > 0) load.strange.set(status, (load.strange.get(status) ?? 0) + 1)
    else {
      if (status === 0) one.lost += 1
      await sleep(20)
    }
  }
  agent.destroy()
}

const start = (state: string): Promise<Server> => startServer({ table, state, workers })

/** What is killed by a number below 1: a worker, all of them with their primary, the primary. */
const kinds = { worker: 0.6, all: 0.8 } as const
/** Each kind once at first, a worker twice; the rest is drawn. */
const firstKinds = [0, 0.7, 0.9, 0]

/** Kills something and waits until the server is whole again, or has had the time for it. */
async function killOnce(
  server: Server,
  {
    state,
    random,
    kind,
  }: { readonly state: string; readonly random: Random; readonly kind: number },
): Promise<{ readonly server: Server; readonly deaths: number }> {
  const victims = await eventually(() => {
    const pids = workersOf(server)
    return pids.length === 0 ? undefined : pids
  })
  if (kind < kinds.worker) {
    process.kill(victims[random.below(victims.length)]!, 'SIGKILL')
    const until = performance.now() + 2000
    while (performance.now() < until && workersOf(server).length < workers) await sleep(20)
    await sleep(random.fraction() * 400)
    return { server, deaths: 1 }
  }
  if (kind < kinds.all) for (const pid of victims) process.kill(pid, 'SIGKILL')
  await server.stop('SIGKILL')
  return { server: await start(state), deaths: victims.length }
}

it(
  `grants no unit twice and no token too many through ${kills} kills`,
  { timeout: 60_000 + kills * 15_000 },
  async () => {
    const random = newRandom(seed)
    const state = newState()
    const quotaPerMonth = 400
    const rate = { perSecond: 100, burst: 50 }
    const newKey = async (limits: KeyLimitOverrides): Promise<Seen> => {
      return { key: await makeKey(state, { limits }), granted: 0, refused: 0, lost: 0 }
    }
    const quotas: Seen[] = []
    for (let i = 0; i < 20; i += 1) quotas.push(await newKey({ quotaPerMonth }))
    // So slow that every lease of theirs is the smallest one, whatever the load.
    const slow: Seen[] = []
    for (let i = 0; i < 4; i += 1) {
      slow.push(await newKey({ quotaPerMonth: 1e9, perSecond: 10, burst: 1 }))
    }
    const paced = await newKey(rate)
    const large = await newKey({ quotaPerMonth: 1e9 })
    const startedMs = performance.now()
    let server = await start(state)
    const load: Load = { strange: new Map(), port: server.port, stopped: false }
    const all = [...quotas, ...slow, paced, large, large]
    const clients = Array.from({ length: connections }, () => spend(load, all, random))
    const counters = await openLmdbCounterStore(state)
    const month = formatMonth(monthOf(Date.now()))
    const counterOf = (seen: Seen): VersionedCounter =>
      counters.read(`${month} ${seen.key.split('_')[1] ?? ''}`)
    const takenBy = (seen: Seen): number => counterOf(seen).value
    let deaths = 0
    // The largest lease: the largest step of the counter between looks that are so close that there
    // is hardly ever a second one in between.
    let before: VersionedCounter = { value: 0, version: 0 }
    const leases = { largest: 0, seen: 0, several: 0 }
    const watching = setInterval(() => {
      const now = counterOf(large)
      if (now.version === before.version) return
      leases.seen += 1
      if (now.version > before.version + 1) leases.several += 1
      leases.largest = Math.max(leases.largest, now.value - before.value)
      before = now
    }, 5)
    try {
      for (let killed = 0; killed < kills; killed += 1) {
        // With nothing leased since the last death there would be nothing to lose.
        const leased = [large, ...slow].map((seen) => ({ seen, least: seen.granted + 3 }))
        await eventually(() => leased.every(({ seen, least }) => seen.granted >= least))
        const kind = firstKinds[killed] ?? random.fraction()
        const after = await killOnce(server, { state, random, kind })
        server = after.server
        deaths += after.deaths
        load.port = server.port
        // Units are in the ledger before anybody may spend them.
        const { granted } = large
        expect(takenBy(large)).toBeGreaterThanOrEqual(granted)
        expect(paced.granted).toBeLessThanOrEqual(
          rate.burst + (rate.perSecond * (performance.now() - startedMs)) / 1000,
        )
      }
      await sleep(1500)
    } finally {
      clearInterval(watching)
      load.stopped = true
      await Promise.all(clients)
      await server.stop()
    }
    const lostOf = (seen: Seen): number => takenBy(seen) - seen.granted
    const sumOf = (many: readonly Seen[], of: (seen: Seen) => number): number =>
      many.reduce((sum, seen) => sum + of(seen), 0)
    const lostMax = deaths * leases.largest + large.lost
    process.stdout.write(
      `${kills} kills of ${deaths} workers, seed ${seed}: ${large.granted} checks of one key granted, ` +
        `${sumOf(quotas, lostOf)} of ${quotas.length * quotaPerMonth} units lost, ` +
        `${paced.granted} granted by a rate, ` +
        `${sumOf([...quotas, ...slow, paced, large], ({ lost }) => lost)} connections ` +
        `broken, 503: ${load.strange.get(503) ?? 0}; of the large one ${lostOf(large)} lost of ` +
        `${lostMax} that may (leases up to ${leases.largest}, ${leases.several} of ${leases.seen} ` +
        `looks saw several); of ${slow.length} slow ones ${sumOf(slow, lostOf)} of ` +
        `${slow.length * deaths * leaseUnitsMin}\n`,
    )
    for (const seen of quotas) {
      expect(seen.granted).toBeLessThanOrEqual(quotaPerMonth)
      const taken = takenBy(seen)
      expect(taken).toBeLessThanOrEqual(quotaPerMonth)
      expect(taken).toBeGreaterThanOrEqual(seen.granted)
    }
    // A lease a death of a worker, and what was answered to a connection that broke. Of the small
    // quotas many deaths may lose all; of the slow ones a lease is `leaseUnitsMin`, to the unit.
    for (const seen of slow) {
      expect(lostOf(seen)).toBeGreaterThanOrEqual(0)
      expect(lostOf(seen)).toBeLessThanOrEqual(deaths * leaseUnitsMin + seen.lost)
    }
    expect(lostOf(large)).toBeGreaterThanOrEqual(0)
    expect(lostOf(large)).toBeLessThanOrEqual(lostMax)
    // What the dead held was given back by others; lost is only what was on its way just then.
    const brokenOff = sumOf(slow, ({ lost }) => lost)
    const onItsWay = Math.ceil(deaths / 10) * leaseUnitsMin
    expect(sumOf(slow, lostOf)).toBeLessThanOrEqual(brokenOff + onItsWay)
    expect(paced.granted).toBeGreaterThan(rate.burst)
    // 503 while a lease could not be had in time is honest; nothing else may be said.
    expect([...load.strange.keys()].filter((status) => status !== 503)).toEqual([])
    await counters.close()
  },
)
