// Counts gathered from the workers to Prometheus text; the only home of prom-client. Runs in the
// primary, once a scrape. Not here: counting (counters.ts) and gathering (primary.ts).
//
// A counter never falls while the primary lives: what a dead worker had counted stays in the sum.

import { Counter, Gauge, type Metric, Registry, collectDefaultMetrics } from 'prom-client'
import { ageSeconds } from '../api/meta.ts'
import { formatDay } from '../base/day.ts'
import { classifications } from '../model/kind.ts'
import { type CounterSnapshot, durationBounds, statuses, totalsOf } from './counters.ts'
import type { TableInfo } from './message.ts'
import { type Cause, causes } from './roll.ts'
import type { TablesStatus } from './tables.ts'

/** Everything that one scrape shows. */
export interface Gathered {
  /** All workers that ever were, together. */
  readonly total: CounterSnapshot
  /** The living ones by number. */
  readonly workers: readonly { readonly worker: number; readonly counters: CounterSnapshot }[]
  readonly listening: number
  readonly restarts: Readonly<Record<Cause, number>>
  readonly degraded: boolean
  readonly table: TableInfo | undefined
  readonly tables: Pick<TablesStatus, 'swaps' | 'refusals' | 'held'>
  readonly ready: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
}

export interface Metrics {
  readonly contentType: string
  readonly text: (gathered: Gathered) => Promise<string>
}

/** One registry for the life of the primary, whose own process metrics it holds. */
export function createMetrics(): Metrics {
  const process = new Registry()
  collectDefaultMetrics({ register: process })
  return {
    contentType: process.contentType,
    text: async (gathered) => `${await registryOf(gathered).metrics()}\n${await process.metrics()}`,
  }
}

function registryOf(gathered: Gathered): Registry {
  const registry = new Registry()
  addRequests(registry, gathered.total)
  addTable(registry, gathered)
  addWorkers(registry, gathered)
  addPool(registry, gathered)
  return registry
}

function addRequests(registry: Registry, total: CounterSnapshot): void {
  const registers = [registry]
  const requests = new Counter({
    name: 'iprisk_requests_total',
    help: 'Requests answered, by HTTP status code.',
    labelNames: ['code'],
    registers,
  })
  statuses.forEach((code, i) => requests.inc({ code }, total.requests[i] ?? 0))
  const answers = new Counter({
    name: 'iprisk_answers_total',
    help: 'Checks answered with 200, by classification.',
    labelNames: ['classification'],
    registers,
  })
  classifications.forEach((classification, i) =>
    answers.inc({ classification }, total.answers[i] ?? 0),
  )
  const { refused, aborted, rateLimited, quotaLimited, outages, closedForAll, closedForAddress } =
    totalsOf(total)
  new Counter({
    name: 'iprisk_framing_refusals_total',
    help: 'Connections closed without an answer because a request had no clear end.',
    registers,
  }).inc(refused)
  new Counter({
    name: 'iprisk_aborted_requests_total',
    help: 'Requests whose client went away before the answer.',
    registers,
  }).inc(aborted)
  const closed = new Counter({
    name: 'iprisk_connections_closed_total',
    help: 'Connections closed at accept, by the cap that they were above.',
    labelNames: ['cap'],
    registers,
  })
  closed.inc({ cap: 'all' }, closedForAll)
  closed.inc({ cap: 'address' }, closedForAddress)
  const limited = new Counter({
    name: 'iprisk_limited_requests_total',
    help: 'Requests answered with 429, by the limit that was exceeded.',
    labelNames: ['limit'],
    registers,
  })
  limited.inc({ limit: 'rate' }, rateLimited)
  limited.inc({ limit: 'quota' }, quotaLimited)
  new Counter({
    name: 'iprisk_store_outages_total',
    help: 'How often a worker found the store of keys and quotas gone.',
    registers,
  }).inc(outages)
  registry.registerMetric(durationHistogram(total))
}

interface HistogramValue {
  readonly metricName: string
  readonly labels: { readonly le?: number | string }
  readonly value: number
}

/** prom-client can observe values but not take counted ones; a registry asks only for `get`. */
function durationHistogram(total: CounterSnapshot): Metric {
  const name = 'iprisk_request_duration_seconds'
  let count = 0
  const values: HistogramValue[] = total.durations.map((added, i) => {
    count += added
    const le = durationBounds[i] ?? '+Inf'
    return { metricName: `${name}_bucket`, labels: { le }, value: count }
  })
  const { durationSecondsSum } = totalsOf(total)
  values.push(
    { metricName: `${name}_sum`, labels: {}, value: durationSecondsSum },
    { metricName: `${name}_count`, labels: {}, value: count },
  )
  const metric = {
    name,
    help: 'From the headers of a request read to its answer written, seconds.',
    type: 'histogram',
    values,
  }
  return { name, get: async () => metric } as unknown as Metric
}

function addTable(registry: Registry, { table, tables, now }: Gathered): void {
  const registers = [registry]
  const counters = [
    ['iprisk_table_swaps_total', 'Tables swapped in since the start.', tables.swaps],
    ['iprisk_table_refusals_total', 'Tables that were refused.', tables.refusals],
  ] as const
  for (const [name, help, value] of counters) new Counter({ name, help, registers }).inc(value)
  new Gauge({
    name: 'iprisk_table_held',
    help: '1 while a table that was rolled back is kept out.',
    registers,
  }).set(tables.held === null ? 0 : 1)
  const info = new Gauge({
    name: 'iprisk_table_info',
    help: 'The table that answers: always 1.',
    labelNames: ['table', 'as_of'],
    registers,
  })
  const age = new Gauge({
    name: 'iprisk_table_age_seconds',
    help: 'Since the beginning of the day, UTC, that counts as today for the table.',
    labelNames: [],
    registers,
  })
  const feedAge = new Gauge({
    name: 'iprisk_feed_age_seconds',
    help: 'Since the beginning of the day, UTC, of the snapshot in the table.',
    labelNames: ['feed'],
    registers,
  })
  const quarantine = new Gauge({
    name: 'iprisk_feed_quarantined',
    help: '1 for a feed whose newest snapshot the build refused: its last good one is in the table.',
    labelNames: ['feed'],
    registers,
  })
  // A gauge without labels shows 0 until it is set; an age of 0 would be a lie.
  if (table === undefined) {
    registry.removeSingleMetric('iprisk_table_age_seconds')
    return
  }
  info.set({ table: table.id, as_of: formatDay(table.asOf) }, 1)
  age.set(ageSeconds(table.asOf, now))
  for (const { id, day, quarantined } of table.sources) {
    feedAge.set({ feed: id }, ageSeconds(day, now))
    quarantine.set({ feed: id }, quarantined ? 1 : 0)
  }
}

function addWorkers(registry: Registry, gathered: Gathered): void {
  const registers = [registry]
  new Gauge({
    name: 'iprisk_workers',
    help: 'Workers that listen.',
    registers,
  }).set(gathered.listening)
  new Gauge({
    name: 'iprisk_ready',
    help: '1 while a table is loaded and the server is not draining, as /readyz says.',
    registers,
  }).set(gathered.ready ? 1 : 0)
  const restarts = new Counter({
    name: 'iprisk_worker_restarts_total',
    help: 'Workers that were replaced because they crashed, hung or grew.',
    labelNames: ['cause'],
    registers,
  })
  for (const cause of causes) restarts.inc({ cause }, gathered.restarts[cause])
  new Gauge({
    name: 'iprisk_degraded',
    help: '1 while workers die again and again.',
    registers,
  }).set(gathered.degraded ? 1 : 0)
  const resident = new Gauge({
    name: 'iprisk_worker_resident_memory_bytes',
    help: 'Resident memory of a worker; the table in it is shared by all of them.',
    labelNames: ['worker'],
    registers,
  })
  const connections = new Gauge({
    name: 'iprisk_connections',
    help: 'Connections that a worker holds.',
    labelNames: ['worker'],
    registers,
  })
  const cpu = new Counter({
    name: 'iprisk_worker_cpu_seconds_total',
    help: 'User and system time of a worker since it started.',
    labelNames: ['worker'],
    registers,
  })
  const reachable = new Gauge({
    name: 'iprisk_store_up',
    help: '1 while the store of keys and quotas answers a worker, 0 since it failed.',
    labelNames: ['worker'],
    registers,
  })
  for (const { worker, counters } of gathered.workers) {
    reachable.set({ worker }, counters.storeReachable ? 1 : 0)
    connections.set({ worker }, counters.connections)
    resident.set({ worker }, counters.residentBytes)
    cpu.inc({ worker }, counters.cpuSeconds)
  }
}

/** The pools of all workers: how much waits, how long, and how busy their threads are. */
function addPool(registry: Registry, { total, workers }: Gathered): void {
  const registers = [registry]
  const { pool } = total
  const now = (of: 'threads' | 'requests' | 'waiting'): number =>
    workers.reduce((sum, { counters }) => sum + counters.pool[of], 0)
  const gauges = [
    ['iprisk_pool_threads', 'Threads of the pools; none until the first task.', now('threads')],
    ['iprisk_pool_requests', 'Insights and batches in the pools.', now('requests')],
    ['iprisk_pool_queue', 'Pieces of them that wait for a thread.', now('waiting')],
  ] as const
  for (const [name, help, value] of gauges) new Gauge({ name, help, registers }).set(value)
  const counters = [
    ['iprisk_pool_refused_total', 'Requests refused by a full pool.', pool.refused],
    ['iprisk_pool_tasks_total', 'Round trips to threads.', pool.tasks],
    ['iprisk_pool_items_total', 'Pieces of requests in them.', pool.items],
    ['iprisk_pool_deaths_total', 'Threads that died and were replaced.', pool.deaths],
    [
      'iprisk_pool_wait_seconds_total',
      'From entering the line to the start of the task, all pieces together.',
      pool.waitMs / 1000,
    ],
    [
      'iprisk_pool_run_seconds_total',
      'Time of threads at work; its rate over iprisk_pool_threads is their utilisation.',
      pool.runMs / 1000,
    ],
  ] as const
  for (const [name, help, value] of counters) new Counter({ name, help, registers }).inc(value)
}
