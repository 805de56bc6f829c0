// The answer of /status on the admin port, for `iprisk info`, `iprisk doctor` and scripts: the same
// facts as the metrics, by name, and their reasons. No key, no address, no secret. A member may be
// added; none changes its meaning.

import process from 'node:process'
import { type Day, ageSeconds, formatDay } from '../base/day.ts'
import { packageVersion } from '../base/package-root.ts'
import type { CoverageReport } from '../api/coverage-answer.ts'
import type { Settings } from '../config/settings.ts'
import { parseStoreUrl, redactStoreUrl } from '../config/values/store-url.ts'
import type { PoliciesStatus, SampleStatus } from '../api/admin-answers.ts'
import type { Readiness } from './admin-server.ts'
import {
  type CounterSnapshot,
  emptyCounterSnapshot,
  httpStatuses,
  counterTotals,
} from '../observe/request-counters.ts'
import type { ScrapeData } from './metrics/metric-families.ts'
import { connectionsThatFit, openFilesMax } from '../observe/open-descriptors.ts'
import type { RefreshStatus } from '../supervisor/tables/refresh.ts'
import type { ListsStatus } from '../supervisor/lists/lists-manager.ts'
import type { RestartCause } from '../supervisor/worker-registry.ts'
import type { TablePullStatus } from '../supervisor/tables/table-pull.ts'
import type { TableManagerStatus } from '../supervisor/tables/table-manager.ts'
import { coverageReportOf, coverageToday } from '../table/answer/table-coverage.ts'
import type { DataSetName } from '../table/file/table-source.ts'
import type { TableInfo } from '../table/served-table.ts'

export interface ServerStatus {
  readonly version: string
  readonly node: string
  readonly pid: number
  readonly started_at: string
  readonly uptime_seconds: number
  readonly status: Readiness
  /** Workers die again and again. */
  readonly degraded: boolean
  readonly listens: { readonly host: string; readonly port: number; readonly tls: boolean }
  readonly workers: {
    readonly wanted: number
    readonly listening: number
    readonly restarts: number
    readonly causes: Readonly<Record<RestartCause, number>>
    readonly each: readonly {
      readonly worker: number
      readonly pid: number
      readonly listening: boolean
      /** It drains: another worker has taken its place. */
      readonly retired: boolean
      /** Memory that no other process shares. */
      readonly private_bytes: number
      readonly resident_bytes: number
      readonly cpu_seconds: number
      readonly loop_delay_max_seconds: number
      readonly open_files: number | null
    }[]
  }
  /** Of each worker. */
  readonly connections: {
    readonly asked: number
    /** What the limit of open files leaves of it. */
    readonly cap: number
    /** `null` where there is none, or the system does not say. */
    readonly open_files_max: number | null
    /** Of all workers together: let in so far, and open just now. */
    readonly opened: number
    readonly open: number
  }
  readonly table: TableStatus | null
  /** `null` where there are none. */
  readonly policies: PoliciesStatus | null
  readonly tables: TableManagerStatus
  /** `null` where no traffic is sampled. */
  readonly sample: SampleStatus | null
  readonly refresh: RefreshStatus | null
  /** Where published tables are taken from; `null` where none are. */
  readonly source: TablePullStatus | null
  readonly store: {
    readonly name: string
    readonly up: boolean
    readonly outages: number
    /** How often workers found that it had lost keys or quota units. */
    readonly losses: number
    readonly policy: string
    /** Invalid key records: each is skipped, and its key gets 401. */
    readonly keys_skipped: number
  }
  readonly lists: ListsStatus
  readonly limited: { readonly rate: number; readonly quota: number }
  /** By status code, those that have been. */
  readonly requests: Readonly<Record<string, number>>
  readonly memory: {
    readonly primary_resident_bytes: number
    readonly workers_resident_bytes: number
  }
}

export interface TableStatus {
  readonly path: string
  readonly id: string
  readonly as_of: string
  readonly age_seconds: number
  readonly bytes: number
  readonly feeds: number
  readonly quarantined: readonly string[]
  readonly coverage: CoverageReport
  /** The editions of networks and places under the table. */
  readonly data_sets: readonly {
    readonly name: DataSetName
    readonly id: string
    readonly day: string
    readonly age_seconds: number
    /** A newer edition was fetched and is kept out. */
    readonly quarantined: boolean
  }[]
}

/** The status of a table, of the server's or of a file's. */
export function tableStatus(path: string, table: TableInfo, now: number): TableStatus {
  const { id, asOf, bytes, sources } = table
  return {
    path,
    id,
    as_of: formatDay(asOf satisfies Day),
    age_seconds: ageSeconds(asOf, now),
    bytes,
    feeds: sources.length,
    quarantined: sources.filter(({ quarantined }) => quarantined).map((source) => source.id),
    coverage: coverageReportOf(coverageToday(table, now), now),
    data_sets: sources.flatMap(({ id, day, quarantined, dataSet: name }) =>
      name === undefined
        ? []
        : [{ name, id, day: formatDay(day), age_seconds: ageSeconds(day, now), quarantined }],
    ),
  }
}

export function serverStatus(
  settings: Settings,
  listens: ServerStatus['listens'],
  readiness: Readiness,
  gathered: ScrapeData,
): ServerStatus {
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
    sample,
    refresh: refresh ?? null,
    source: gathered.source ?? null,
    store: storeStatus(settings, gathered),
    lists: gathered.lists,
    limited: { rate: rateLimited, quota: quotaLimited },
    requests: requestsOf(total),
    memory: {
      primary_resident_bytes: process.memoryUsage.rss(),
      workers_resident_bytes: resident.reduce((sum, bytes) => sum + bytes, 0),
    },
  }
}

function workerStatus(
  { privateBytes, openFiles, ...rest }: ScrapeData['workerStatuses'][number],
  counts: ScrapeData['workers'],
): ServerStatus['workers']['each'][number] {
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

/** By the limit of this process, which its workers inherit. */
export function connectionsStatus(
  asked: number,
  { total, workers }: Pick<ScrapeData, 'total' | 'workers'> = {
    total: emptyCounterSnapshot,
    workers: [],
  },
): ServerStatus['connections'] {
  const filesMax = openFilesMax()
  return {
    asked,
    cap: connectionsThatFit(asked, filesMax),
    open_files_max: Number.isFinite(filesMax) ? filesMax : null,
    opened: counterTotals(total).opened,
    open: workers.reduce((sum, { counters }) => sum + counters.connections, 0),
  }
}

function storeStatus({ store, state }: Settings, of: ScrapeData): ServerStatus['store'] {
  const parts = store.url === undefined ? undefined : parseStoreUrl(store.url)
  return {
    name: parts === undefined ? state : redactStoreUrl(parts),
    up: of.workers.every(({ counters }) => counters.storeReachable && counters.keysReadable),
    outages: counterTotals(of.total).outages,
    losses: counterTotals(of.total).losses,
    policy: store.policy,
    keys_skipped: Math.max(0, ...of.workers.map(({ counters }) => counters.keysSkipped)),
  }
}

function requestsOf(total: CounterSnapshot): Readonly<Record<string, number>> {
  const counts = httpStatuses.map((code, i) => [code, total.requests[i] ?? 0] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}
