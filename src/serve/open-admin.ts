// Opens the admin port: gathers what it shows of a running server, and gives it its routes.

import type { AdminRoute } from '../admin/admin-api.ts'
import {
  type AdminParts,
  type AdminServer,
  createHostMatcher,
  type Readiness,
  startAdminServer,
} from '../admin/admin-server.ts'
import type { TokenMatcher } from '../admin/admin-caller.ts'
import { type AdminRefusals, createAdminRefusals } from '../admin/admin-refusals.ts'
import { listRoutes } from '../admin/routes/lists-api.ts'
import type { ScrapeData } from '../admin/metrics/metric-families.ts'
import { createPrometheusText } from '../admin/metrics/prometheus-text.ts'
import { auditRoutes } from '../admin/routes/audit-api.ts'
import { keyRoutes } from '../admin/routes/keys-api.ts'
import { refreshRoutes } from '../admin/routes/refresh-api.ts'
import { serverRoutes } from '../admin/routes/server-api.ts'
import { serverStatus, tableStatus } from '../admin/status.ts'
import { messageOf } from '../base/coded-error.ts'
import { describeError, type Log } from '../base/log.ts'
import { createTokenGuard, type TokenGuard } from '../admin/token-guard.ts'
import type { Settings } from '../config/settings.ts'
import type { TableInfo } from '../table/served-table.ts'
import { openFilesOf } from '../observe/open-descriptors.ts'
import type { ListsManager } from '../supervisor/lists/lists-manager.ts'
import type { OutcomeLists } from '../supervisor/lists/outcome-lists.ts'
import type { SetManager } from '../supervisor/sets/set-manager.ts'
import { urlOf } from '../supervisor/sockets/port-probe.ts'
import type { Refresh, RefreshStatus } from '../supervisor/tables/refresh.ts'
import type { TableManager } from '../supervisor/tables/table-manager.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { coverageOf, coverageToday } from '../table/answer/table-coverage.ts'
import type { OpenConsole } from '../console/open-console.ts'
import type { Shutdown } from './signals.ts'
import type { TableSources } from './table-sources.ts'
import type { TrafficSample } from '../observe/traffic-sample.ts'
import type { WatchedPolicies } from './watch-policies.ts'

export interface ShownParts {
  readonly settings: Settings
  readonly supervisor: Supervisor
  readonly tables: TableManager
  readonly lists: ListsManager
  readonly outcomes: OutcomeLists | undefined
  readonly sets: Pick<SetManager, 'folders' | 'conditions'>
  readonly policies: WatchedPolicies
  readonly sample: TrafficSample | undefined
  readonly port: number
  readonly callerOf: TokenMatcher | undefined
  /** For the link that signs in to the console once. */
  readonly linkSecret?: string | undefined
  readonly shutdown: Shutdown
  readonly explainCommand: readonly string[]
  readonly buildEnvironment?: NodeJS.ProcessEnv | undefined
  readonly log: Log
}

export async function openAdmin(
  parts: ShownParts,
  supply: () => TableSources | undefined,
): Promise<AdminServer> {
  const { settings, port, supervisor, callerOf } = parts
  const metrics = createPrometheusText()
  const refusals = createAdminRefusals(parts.log)
  const guard = callerOf && createTokenGuard(callerOf)
  const readiness = (): Readiness => readinessOf(parts)
  const gather = (): Promise<ScrapeData> => gatherAll(parts, supply, refusals)
  const { host, tlsCertFile, adminSocket, ...serve } = settings.serve
  const listens = { host, port, tls: tlsCertFile !== undefined }
  const console = await consoleOf({ ...parts, listUrl: `${urlOf(listens)}/lists/` }, guard)
  const shown: AdminParts = {
    readiness,
    storeDown: () => supervisor.status().storeDown,
    coverage: () => {
      const { table } = supervisor.status()
      const now = Date.now()
      return table === undefined ? undefined : coverageOf(coverageToday(table, now), now)
    },
    metrics: async () => ({ type: metrics.contentType, body: await metrics.text(await gather()) }),
    status: async () => serverStatus(settings, listens, readiness(), await gather()),
    guard,
    refusals,
    console: console?.door,
    onFailure: (error, what) =>
      parts.log.error(
        describeError(error),
        `The admin port failed at ${what}: ${messageOf(error)}`,
      ),
    routes: [...routesOf(parts, supply), ...(console?.routes ?? [])],
    isOwnHost:
      adminSocket === undefined
        ? createHostMatcher([serve.adminHost, ...serve.adminAllowedHosts])
        : undefined,
  }
  try {
    const place = { host: serve.adminHost, port: serve.adminPort, socket: adminSocket }
    const admin = await startAdminServer(shown, place)
    return {
      port: admin.port,
      close: async () => {
        await console?.close()
        await admin.close()
      },
    }
  } catch (error) {
    await console?.close()
    throw error
  }
}

/** The administrative API, without the console's additions. */
function routesOf(
  parts: ShownParts,
  supply: () => TableSources | undefined,
): readonly AdminRoute[] {
  const { settings, supervisor, lists, policies, log } = parts
  const { state } = settings
  const onUnwritten = ({ message }: Error): void => log.error({}, message)
  const refresh = (): Refresh | undefined | null => {
    const running = supply()
    return running === undefined ? undefined : (running.refresh ?? null)
  }
  const { plans, readKeys } = supervisor
  return [
    ...listRoutes({ state, ...lists, onUnwritten }),
    ...keyRoutes({
      state,
      plans,
      policyNames: () => {
        const inUse = policies.policies()
        return inUse && Object.keys(inUse.policies)
      },
      stores: lists.stores,
      readKeys,
      onUnwritten,
    }),
    ...auditRoutes({ state }),
    ...refreshRoutes({ state, refresh, onUnwritten }),
    ...serverRoutes({
      ...parts,
      state,
      onUnwritten,
      table: () => {
        const { table } = supervisor.status()
        return table === undefined ? null : tableStatus(settings.table, table, Date.now())
      },
    }),
  ]
}

/** Hidden until a server without refreshes of its own was asked for one. */
function shownRefresh(refresh: Refresh | undefined): RefreshStatus | undefined {
  const status = refresh?.status()
  return status === undefined || (status.next_at === null && status.runs === 0) ? undefined : status
}

/** Loaded only if enabled. */
async function consoleOf(
  parts: ShownParts & { readonly listUrl: string },
  guard: TokenGuard | undefined,
): Promise<OpenConsole | undefined> {
  if (parts.settings.serve.console === 'off') return undefined
  const { openConsole } = await import('../console/open-console.ts')
  const { supervisor } = parts
  const table = (): TableInfo | undefined => supervisor.status().table
  return openConsole({ ...parts, guard, table, plans: supervisor.plans, sources: supervisor })
}

function readinessOf({ supervisor, lists, shutdown }: ShownParts): Readiness {
  const { listening, answering, keysKnown, degraded } = supervisor.status()
  if (shutdown.signal.aborted) return 'draining'
  // A worker without usable lists does not listen.
  if (listening === 0) return lists.areUsable() ? 'no_workers' : 'no_lists'
  if (!keysKnown) return 'no_keys'
  if (!lists.status().known) return 'no_lists'
  if (answering !== listening) return 'no_table'
  return degraded ? 'degraded' : 'ready'
}

async function gatherAll(
  parts: ShownParts,
  supply: () => TableSources | undefined,
  refusals: AdminRefusals,
): Promise<ScrapeData> {
  const { supervisor, tables, policies, lists, outcomes, sample } = parts
  const { total, workers } = await supervisor.collectCounters()
  const { workers: seen, ...status } = supervisor.status()
  const workerStatuses = await Promise.all(
    seen.map(async (worker) => ({ ...worker, openFiles: await openFilesOf(worker.pid) })),
  )
  const ready = ['ready', 'degraded'].includes(readinessOf(parts))
  return {
    total,
    workers,
    workerStatuses,
    ...status,
    tables: tables.status(),
    refresh: shownRefresh(supply()?.refresh),
    source: supply()?.pull?.status(),
    ready,
    now: Date.now(),
    policies: policies.status(),
    lists: lists.status(),
    outcomes: outcomes?.counts(),
    sample: sample?.status(),
    adminRefusals: refusals.counts(),
  }
}
