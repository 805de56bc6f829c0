// A fleet for real: servers behind HAProxy, one Redis for their keys and limits, one S3-compatible
// store for their tables, all on this machine. Table after table is published under load, and in
// each round something else goes wrong (rounds.ts). All that a client sees at the proxy counts, and
// all that a server is seen to serve: a table that was published, never one before it.

import { mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeTable } from '../../../build/write/write-table.ts'
import type { Day } from '../../../src/base/day.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openObjectPlace } from '../../../src/publish/places/object-place.ts'
import { publishTable } from '../../../src/publish/publish-table.ts'
import { listed, smallContent } from '../../../test/table/small-table.ts'
import { median } from '../../harness/statistics.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import {
  type ClientsReport,
  clientErrorCount,
  errorText,
  startClients,
} from '../clients/clients.ts'
import { newKey, waitUntil } from '../server/served.ts'
import {
  layCable,
  startBalancer,
  startObjectStore,
  startRedis,
  storeEnvironment,
} from './services.ts'
import { type Machine, newMachine } from './machine.ts'
import { type FleetGround, type Trouble, troublesOf } from './rounds.ts'

const sizes = {
  // All kinds of trouble, two at once: what takes the time is to fetch and to swap.
  ci: { servers: 3, tables: 5, troubles: 2, pollSeconds: 1, brokenMs: 1500 },
  short: { servers: 20, tables: 5, troubles: 1, pollSeconds: 15, brokenMs: 3000 },
  long: { servers: 20, tables: 20, troubles: 1, pollSeconds: 15, brokenMs: 3000 },
} as const

const load = {
  kept: { clients: 24, perSecond: 120 },
  oneShot: { clients: 4, perSecond: 20 },
  timeoutMs: 10_000,
} as const

/** How often every server is looked at. */
const watchMs = 500
/**
 * What one server's swap takes of one core at most. On machines of their own servers swap side by
 * side; here they share the cores of one.
 */
const swapCpuMs = 2000
/** The longest that a round may take, whatever the goal. */
const roundMsMax = 180_000
const bucket = 's3://tables/world'

export async function fleet(context: ProofContext): Promise<ProofResult> {
  const { folder, form, say } = context
  const size = sizes[form]
  const redis = await startRedis(join(folder, 'redis'))
  const store = await startObjectStore(join(folder, 'store'))
  const cable = await layCable(store.port)
  const keys = { store: `redis://127.0.0.1:${redis.port}`, state: join(folder, 'state') }
  const key = await newKey(folder, keys)
  const ends: (() => unknown)[] = [cable.close, redis.kill, store.kill]
  try {
    const { own, foreign } = signingKeys(folder)
    const place = openObjectPlace(bucket, storeEnvironment(store.port))
    const tables = newTables(folder, size.tables + 1)
    const options = { key: own, stages: [], keepMs: 864e5, force: false } as const
    const publish = (table: string) => publishTable(table, { ...options, place, now: Date.now() })
    const published = [(await publish(tables[0]!)).release.id]
    const machines = await startMachines(folder, {
      servers: size.servers,
      flags: {
        'table-url': bucket,
        'table-trust': own.trusted.text,
        'table-poll-seconds': size.pollSeconds,
        store: keys.store,
        'store-policy': 'serve',
      },
      environment: storeEnvironment(cable.port),
    })
    ends.push(...machines.map(({ end }) => end))
    const watch = watchMachines(machines)
    ends.push(watch.stop)
    const balancer = await startBalancer(folder, machines)
    ends.push(balancer.kill)
    const first = await newestEverywhere(machines, published[0]!, roundMsMax)
    if (!first) return { facts: {}, faults: ['the servers never had the first table'] }
    say(`${size.servers} servers have the first table`)
    const clients = startClients({ port: balancer.port, key, ...load })
    const seen: { report?: ClientsReport } = {}
    ends.push(() => (seen.report === undefined ? clients.end().catch(() => undefined) : undefined))
    const ground: FleetGround = {
      machines,
      redis,
      store,
      cable,
      place,
      key: own,
      foreignKey: foreign,
      brokenMs: size.brokenMs,
      waitMs: roundMsMax,
    }
    const faults: string[] = []
    const tookMs: number[] = []
    const heardMs: number[] = []
    const pollsMs = 2 * size.pollSeconds * 1000
    const swapsMs = (size.servers * swapCpuMs) / availableParallelism()
    for (const [turn, table] of tables.slice(1).entries()) {
      const troubles = troublesOf(turn, size.troubles)
      const name = troubles.map((trouble) => trouble.name).join(', ')
      const { release } = await publish(table)
      published.push(release.id)
      const fromMs = performance.now()
      const run = async (trouble: Trouble): Promise<void> => {
        const fault = await trouble.run(ground, turn)
        if (fault !== undefined) faults.push(`${trouble.name}: ${fault}`)
      }
      await Promise.all(troubles.map(run))
      const overMs = performance.now()
      const all = await newestEverywhere(machines, release.id, roundMsMax)
      const since = watch.newestMs(release.id) ?? performance.now()
      tookMs.push(since - fromMs)
      const heard = watch.heardMs(release.id) ?? performance.now()
      heardMs.push(heard - fromMs)
      const late = since - Math.max(fromMs, overMs)
      if (!all) faults.push(`${name}: not every server had table ${turn + 1} at all`)
      else if (form !== 'ci' && late > pollsMs + swapsMs) {
        faults.push(`${name}: all had table ${turn + 1} only ${seconds(late)} s after it`)
      }
      say(`${name}: all had table ${turn + 1} ${seconds(since - fromMs)} s after it was published`)
    }
    await watch.stop()
    const report = await clients.end()
    seen.report = report
    if (clientErrorCount(report) > 0) faults.push(`checks failed: ${errorText(report)}`)
    faults.push(...machines.flatMap((machine) => wrongTables(machine, published)))
    const newest = readFileSync(tables.at(-1)!)
    const torn = machines.filter(({ table }) => !readFileSync(table).equals(newest))
    faults.push(...torn.map(({ name }) => `${name} has another file than was published`))
    return { facts: factsOf(machines, { tookMs, heardMs, report, size }), faults }
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

function signingKeys(folder: string) {
  const [own, foreign] = [join(folder, 'own.pem'), join(folder, 'foreign.pem')] as const
  createSigningKey(own)
  createSigningKey(foreign)
  return { own: readSigningKey(own), foreign: readSigningKey(foreign) }
}

/** One table a day; each lists one address more. */
function newTables(folder: string, count: number): readonly string[] {
  const at = join(folder, 'tables')
  mkdirSync(at)
  return Array.from({ length: count }, (_, day) => {
    const content = smallContent([...listed, [`9.9.10.${day}`, 'proxy', '']])
    const path = join(at, `${day}.iprisk`)
    writeTable(path, { ...content, asOf: (content.asOf + day) as Day })
    return path
  })
}

/** Four at a time. */
async function startMachines(
  folder: string,
  of: { readonly servers: number } & Pick<
    Parameters<typeof newMachine>[0],
    'flags' | 'environment'
  >,
): Promise<readonly Machine[]> {
  const { servers, ...more } = of
  const machines: Machine[] = []
  for (let at = 0; at < servers; at += 1) {
    machines.push(await newMachine({ name: `server-${at}`, folder, ...more }))
  }
  for (let at = 0; at < servers; at += 4) {
    await Promise.all(machines.slice(at, at + 4).map(({ start }) => start()))
  }
  return machines
}

type Seen = ReturnType<Machine['status']>

interface Watch {
  /** When all servers were first seen to serve it. */
  readonly newestMs: (id: string) => number | undefined
  /** When all were first seen to know of it. */
  readonly heardMs: (id: string) => number | undefined
  readonly stop: () => Promise<void>
}

function watchMachines(machines: readonly Machine[]): Watch {
  const newest = new Map<string, number>()
  const heard = new Map<string, number>()
  const ended = new AbortController()
  const note = (into: Map<string, number>, of: (status: Seen) => string | null | undefined) => {
    const [id, ...others] = new Set(machines.map(({ status }) => of(status())))
    if (others.length === 0 && id && !into.has(id)) into.set(id, performance.now())
  }
  const run = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await Promise.all(machines.map(({ look }) => look()))
      note(newest, (status) => status?.table?.id)
      note(heard, (status) => status?.source?.offered)
      await sleep(watchMs)
    }
  }
  const running = run()
  return {
    newestMs: (id) => newest.get(id),
    heardMs: (id) => heard.get(id),
    stop: () => {
      ended.abort()
      return running
    },
  }
}

function newestEverywhere(machines: readonly Machine[], id: string, ms: number): Promise<boolean> {
  return waitUntil(() => machines.every(({ status }) => status()?.table?.id === id), ms)
}

/** A table that nobody published, or one before it once more. */
function wrongTables({ name, served }: Machine, published: readonly string[]): readonly string[] {
  const places = served.map((id) => published.indexOf(id))
  return places.flatMap((place, at) => {
    if (place < 0) return [`${name} has served ${served[at]}, which nobody published`]
    const isOlder = at > 0 && place < places[at - 1]!
    return isOlder ? [`${name} went back from ${served[at - 1]} to ${served[at]}`] : []
  })
}

function factsOf(
  machines: readonly Machine[],
  of: {
    readonly tookMs: readonly number[]
    readonly heardMs: readonly number[]
    readonly report: ClientsReport
    readonly size: (typeof sizes)[keyof typeof sizes]
  },
): Facts {
  const { tookMs, heardMs, report, size } = of
  const refused = [...new Set(machines.flatMap((machine) => [...machine.refused]))].toSorted()
  const moved = machines.map(({ status }) => status()?.source?.last_pull?.bytes ?? 0)
  return {
    servers: size.servers,
    'tables published under load': tookMs.length,
    'seconds between two polls': size.pollSeconds,
    'checks answered at the proxy': report.requests,
    'checks that failed': errorText(report),
    'seconds from publish to all knowing, median': seconds(median(heardMs)),
    'seconds from publish to all swapped, median': seconds(median(tookMs)),
    'seconds from publish to all swapped, most': seconds(Math.max(...tookMs)),
    'bytes that a server fetched of the last table, most': Math.max(...moved),
    'reasons for which manifests and parts were refused': refused.join(', '),
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
