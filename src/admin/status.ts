// The answer of /status on the admin port, for `iprisk info`, `iprisk doctor` and scripts: the same
// facts as the metrics, by name, and their reasons. No key, address or secret. Members may be
// added; none changes its meaning.

import process from 'node:process'
import type { DegradedCode } from '../adapters/gate/visit-answer.ts'
import { ageSeconds, formatDay } from '../base/day.ts'
import { packageVersion } from '../base/package-root.ts'
import type { Settings } from '../config/settings.ts'
import { parseStoreUrl, redactStoreUrl } from '../config/values/store-url.ts'
import type { Readiness } from './admin-server.ts'
import {
  type CounterSnapshot,
  type HttpStatus,
  emptyCounterSnapshot,
  httpStatuses,
  counterTotals,
} from '../observe/request-counters.ts'
import type { ScrapeData } from './metrics/metric-families.ts'
import { connectionsThatFit, openFilesMax } from '../observe/open-descriptors.ts'
import { coverageReportOf, coverageToday } from '../table/answer/table-coverage.ts'
import type { TableInfo } from '../table/served-table.ts'

export type ServerStatus = ReturnType<typeof serverStatus>
export type TableStatus = ReturnType<typeof tableStatus>

export function tableStatus(path: string, table: TableInfo, now: number) {
  const { id, asOf, bytes, sources } = table
  return {
    path,
    id,
    as_of: formatDay(asOf),
    age_seconds: ageSeconds(asOf, now),
    bytes,
    feeds: sources.length,
    quarantined: sources.filter(({ quarantined }) => quarantined).map((source) => source.id),
    coverage: coverageReportOf(coverageToday(table, now), now),
    /** Editions of networks and locations; `quarantined`: a newer one was fetched and rejected. */
    data_sets: sources.flatMap(({ id, day, quarantined, dataSet: name }) =>
      name === undefined
        ? []
        : [{ name, id, day: formatDay(day), age_seconds: ageSeconds(day, now), quarantined }],
    ),
  }
}

export function serverStatus(
  settings: Settings,
  listens: { readonly host: string; readonly port: number; readonly tls: boolean },
  readiness: Readiness,
  gathered: ScrapeData,
) {
  const {
    policies = null,
    sample = null,
    total,
    workers,
    workerStatuses,
    listening,
    restarts,
    table,
    tables,
    refresh,
    now,
  } = gathered
  const { rateLimited, quotaLimited } = counterTotals(total)
  const uptime = process.uptime()
  const resident = workers.map(({ counters }) => counters.residentBytes)
  return {
    version: packageVersion,
    node: process.version,
    pid: process.pid,
    started_at: new Date(now - uptime * 1000).toISOString(),
    uptime_seconds: Math.floor(uptime),
    status: readiness,
    degraded: gathered.degraded,
    listens,
    workers: {
      wanted: settings.serve.workers,
      listening,
      restarts: Object.values(restarts).reduce((sum, count) => sum + count, 0),
      causes: restarts,
      each: workerStatuses.map((status) => workerStatus(status, workers)),
    },
    connections: connectionsStatus(settings.serve.connections, gathered),
    table: table === undefined ? null : tableStatus(settings.table, table, now),
    policies,
    tables,
    /** `null` if no traffic is sampled. */
    sample,
    refresh: refresh ?? null,
    /** Where published tables are pulled from; `null` if they are not. */
    source: gathered.source ?? null,
    store: storeStatus(settings, gathered),
    lists: gathered.lists,
    limited: { rate: rateLimited, quota: quotaLimited },
    requests: requestsOf(total),
    gate: gateStatus(total),
    memory: {
      primary_resident_bytes: process.memoryUsage.rss(),
      workers_resident_bytes: resident.reduce((sum, bytes) => sum + bytes, 0),
    },
  }
}

function workerStatus(
  { privateBytes, openFiles, ...rest }: ScrapeData['workerStatuses'][number],
  counts: ScrapeData['workers'],
) {
  const { counters = emptyCounterSnapshot } =
    counts.find(({ worker }) => worker === rest.worker) ?? {}
  return {
    ...rest,
    private_bytes: privateBytes,
    resident_bytes: counters.residentBytes,
    cpu_seconds: counters.cpuSeconds,
    loop_delay_max_seconds: counters.loop.delayMaxSeconds,
    open_files: openFiles ?? null,
  }
}

/** For each worker, given the limit of this process, which its workers inherit. */
export function connectionsStatus(
  asked: number,
  { total, workers }: Pick<ScrapeData, 'total' | 'workers'> = {
    total: emptyCounterSnapshot,
    workers: [],
  },
) {
  const filesMax = openFilesMax()
  return {
    asked,
    cap: connectionsThatFit(asked, filesMax),
    open_files_max: Number.isFinite(filesMax) ? filesMax : null,
    opened: counterTotals(total).opened,
    open: workers.reduce((sum, { counters }) => sum + counters.connections, 0),
  }
}

function storeStatus({ store, state }: Settings, of: ScrapeData) {
  const parts = store.url === undefined ? undefined : parseStoreUrl(store.url)
  return {
    name: parts === undefined ? state : redactStoreUrl(parts),
    up: of.workers.every(({ counters }) => counters.storeReachable && counters.keysReadable),
    outages: counterTotals(of.total).outages,
    /** How often workers found that it had lost keys or quota units. */
    losses: counterTotals(of.total).losses,
    policy: store.policy,
    /** Invalid records: their keys get 401. */
    keys_skipped: Math.max(0, ...of.workers.map(({ counters }) => counters.keysSkipped)),
  }
}

function requestsOf(total: CounterSnapshot): Readonly<Record<string, number>> {
  const counts = httpStatuses.map((code, i) => [code, total.requests[i] ?? 0] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** Visitors that the gate judged or let in, and those without a public address. */
function gateStatus(total: CounterSnapshot) {
  const { gateRequests, gateDegraded } = total
  const withStatus = (code: HttpStatus): number => gateRequests[httpStatuses.indexOf(code)] ?? 0
  const letInFor = (code: DegradedCode): number => gateDegraded[code]?.[0] ?? 0
  return {
    visitors: withStatus(204) + withStatus(401) + withStatus(403),
    unplaced:
      counterTotals(total).privateVisitors +
      letInFor('address_missing') +
      letInFor('address_unreadable'),
  }
}
