// The primary: runs the start, the tables, the signals and the end. It answers no check itself.
//
//   start    load uWebSockets.js, open the admin port, probe the port, fork, verify the table,
//            listen
//   takeover instead of the probe: fork beside the server that has the port, listen with a table,
//            ask that server to end, then open the admin port; after its yes this one never gives
//            up
//   table    a new file in the place of the old one, SIGHUP or `iprisk reload`: table-manager.ts
//   plans    the configuration file changes or SIGHUP comes: all workers get them
//            (reload-config.ts)
//   workers  SIGUSR2 or `iprisk restart`: each is replaced, one after the other (supervisor.ts)
//   end      SIGTERM or SIGINT: /readyz says 503, after the grace the port is closed, workers
//            drain, the admin port closes, code 0; a signal during a start or a swap does not wait
//            for it
//
// Invariants: a table that cannot be verified is never served, and the one in use stays; without
// any table the server runs, is not ready and answers 503.

import process from 'node:process'
import { openStores, silentHooks } from '../account/stores/open-stores.ts'
import { parseDurationMs } from '../base/duration.ts'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import type { Log } from '../base/log.ts'
import { optionalMember } from '../base/optional-member.ts'
import type { Settings } from '../config/settings.ts'
import { type AdminServer, type Readiness, startAdminServer } from '../admin/admin-server.ts'
import {
  type ControlSocket,
  type ControlReply,
  type ControlRequest,
  sendControlRequest,
  controlSocketPath,
  openControlSocket,
} from '../supervisor/sockets/control-socket.ts'
import { bodyBudgetBytes } from '../http/exchange/body-budget.ts'
import {
  type Supervisor,
  createSupervisor,
  rollingLingerMs,
} from '../supervisor/workers/supervisor.ts'
import type { ScrapeData } from '../admin/metric-families.ts'
import { openFilesOf } from '../http/listen/open-files.ts'
import { createPrometheusText } from '../admin/prometheus-text.ts'
import { probePort } from '../supervisor/sockets/port-probe.ts'
import { type Refresh, type RefreshStatus, startRefresh } from '../supervisor/tables/refresh.ts'
import {
  type ConfigSource,
  type SighupListener,
  captureSighup,
  watchConfiguration,
} from './reload-config.ts'
import { createTableCopies } from '../supervisor/tables/table-copies.ts'
import { isSocketListening } from '../supervisor/sockets/unix-socket.ts'
import { serverStatus } from '../admin/status.ts'
import {
  type SwapOutcome,
  type TableManager,
  createTableManager,
} from '../supervisor/tables/table-manager.ts'
import { validateTlsFiles, tlsFilesOf } from '../http/listen/tls-files.ts'
import { runRepeatedly } from '../supervisor/tables/long-timer.ts'
import { createHostMatcher } from '../admin/admin-hosts.ts'
import { createAdminTokenMatcher } from '../admin/admin-token.ts'
import { loadUws } from '../http/listen/load-uws.ts'
import { fileIdentity, watchFile } from '../supervisor/tables/file-watch.ts'
import type { TableInfo } from '../http/exchange/served-table.ts'

/** A table comes once an hour at most; one look a second costs nothing. */
const watchMs = 1000

/** How often a refused table is tried again where no table answers. */
const repairMs = 10_000

const sameSignalMs = 1000

/** How often the admin port is tried: after a yield it may stay busy for a moment. */
const adminTryMs = 100
/** How long the server waits for the admin port before it reports that it runs. */
const adminMs = 5000

/** What a running server reports to its caller. */
export interface RunningServer {
  readonly host: string
  readonly port: number
  readonly adminHost: string
  readonly adminPort: number
  readonly adminSocket?: string
  readonly tls: boolean
  readonly workers: number
  readonly table: TableInfo | undefined
}

interface Shutdown {
  readonly requested: Promise<void>
  readonly signal: AbortSignal
  /** Another server has taken over: this one ends without the grace of a shutdown. */
  readonly yield: () => void
  readonly yielded: () => boolean
  readonly stop: () => void
}

export interface ServerOptions {
  readonly settings: Settings
  readonly configuration: ConfigSource
  /** What makes a new table at its place: a program of Node and its arguments. */
  readonly buildCommand: readonly string[]
  readonly log: Log
  readonly onRunning: (running: RunningServer) => void
}

interface Parts extends ServerOptions {
  readonly supervisor: Supervisor
  readonly tables: TableManager
  readonly port: number
  /** The control socket of the server that this one takes over from. */
  readonly predecessor: string | undefined
  readonly mayRead: ReturnType<typeof createAdminTokenMatcher> | undefined
  readonly shutdown: Shutdown
  readonly hangUps: SighupListener
}

/**
 * Runs a server until it is told to end; resolves to the exit code. Throws `uws_missing`,
 * `port_unavailable`, `workers_failed`, `takeover_failed` where it cannot start.
 */
export async function runPrimary(options: ServerOptions): Promise<number> {
  const { settings, log } = options
  const { serve, state: stateFolder, table: path } = settings
  const hangUps = captureSighup()
  // A SIGUSR2 without a listener ends the process; during a start there is nothing to restart.
  process.on('SIGUSR2', () => undefined)
  await loadUws()
  const tls = tlsFilesOf(serve)
  if (tls !== undefined) validateTlsFiles(tls, Date.now())
  const { adminTokenFile: token } = serve
  const mayRead = token === undefined ? undefined : createAdminTokenMatcher(token)
  await prepareStores(settings, log)
  const copies = createTableCopies(stateFolder)
  const predecessor = await predecessorOf(settings, log)
  const port = predecessor === undefined ? await probePort(serve) : serve.port
  const shutdown = listenForShutdown()
  const memoryBytesMax = serve.workerMemoryMb * 2 ** 20
  const supervisor = createSupervisor({
    size: serve.workers,
    settings: {
      host: serve.host,
      port,
      stateFolder,
      store: settings.store,
      plans: settings.plans,
      logLevel: serve.logLevel,
      logAddresses: serve.logAddresses,
      logAddressForm: serve.logAddressForm,
      ...optionalMember('logAddressKeyFile', serve.logAddressKeyFile),
      ...optionalMember('tls', tls),
      pool: { threads: serve.poolThreads, queue: serve.poolQueue },
      connections: { all: serve.connections, perAddress: serve.connectionsPerAddress },
      bodiesBytes: bodyBudgetBytes(memoryBytesMax),
    },
    hangMs: serve.hangMs,
    memoryBytesMax,
    drainMs: serve.drainSeconds * 1000,
    log,
  })
  const tables = createTableManager({
    path,
    stateFolder,
    supervisor,
    copies,
    log,
    signal: shutdown.signal,
  })
  try {
    return await runServer({
      ...options,
      supervisor,
      tables,
      port,
      predecessor,
      mayRead,
      shutdown,
      hangUps,
    })
  } finally {
    // After an orderly end no worker is left; after a failed start some are.
    await supervisor.drain({ drainMs: 0 })
    copies.close()
    shutdown.stop()
    hangUps.stop()
  }
}

/** The socket of the server to take over from; without such a server the port is probed. */
async function predecessorOf(settings: Settings, log: Log): Promise<string | undefined> {
  if (!settings.invocation.takeover) return undefined
  const path = controlSocketPath(settings.state, settings.serve.port)
  if (await isSocketListening(path)) return path
  log.warn({}, 'There is no server to take over from; this one starts.')
  return undefined
}

/**
 * Opens the stores once before the workers do, or all of them would create the rate file at the
 * same time; logs what the operator should know of the stores.
 */
async function prepareStores(settings: Settings, log: Log): Promise<void> {
  const stores = await openStores(settings, silentHooks)
  try {
    stores.openLimiter()
    const { name: store } = stores
    for (const caution of await stores.advice()) log.warn({ store }, caution)
  } catch (error) {
    // The workers log the outage and its end.
    if (!(error instanceof IpriskError) || error.code !== 'store_unreachable') throw error
  } finally {
    await stores.close()
  }
}

async function runServer(parts: Parts): Promise<number> {
  const { settings, configuration, log, supervisor, tables, port, predecessor, shutdown, hangUps } =
    parts
  const { serve, table: path } = settings
  const { signal } = shutdown
  const stops: (() => void | Promise<void>)[] = []
  const refresh: { clock?: Refresh } = {}
  const startAdminPort = async (): Promise<AdminServer> => {
    const admin = await openAdmin(parts, () => refresh.clock?.status())
    stops.push(admin.close)
    return admin
  }
  try {
    let admin = predecessor === undefined ? await startAdminPort() : undefined
    const { usePlans: use } = supervisor
    const reload = watchConfiguration({ settings, configuration, hangUps, use, log })
    stops.push(reload.stop)
    const known = fileIdentity(path)
    const file = await tables.loadFirst()
    if (predecessor !== undefined && file === undefined && !signal.aborted) throw noTable()
    if (!signal.aborted) await Promise.race([supervisor.start(file), shutdown.requested])
    if (!signal.aborted) {
      if (predecessor !== undefined) await askPredecessorToYield(predecessor, log)
      if (admin === undefined) {
        const opening = openAdminWithRetry(startAdminPort, parts).then((opened) => (admin = opened))
        await Promise.race([opening, sleep(adminMs)])
        stops.push(async () => (await opening)?.close())
      }
      const yieldNow = async (): Promise<void> => {
        await admin?.close()
        shutdown.yield()
      }
      stops.push(await listenForCommands(parts, yieldNow))
      const look = (): void => void tables.loadIfChanged()
      stops.push(watchFile({ path, known, everyMs: watchMs, changed: look }).stop)
      stops.push(runRepeatedly(tables.repair, repairMs).stop)
      const everyMs = parseDurationMs(serve.refreshEvery)
      if (everyMs > 0) {
        const { buildCommand: command } = parts
        const builtMs = file?.builtMs
        refresh.clock = startRefresh({ everyMs, builtMs, command, log, done: look })
        stops.push(refresh.clock.stop)
      }
      // Keys that were made during the start, before this server could be told of them.
      await supervisor.readKeys()
      const { listening, table } = supervisor.status()
      const { host, adminHost, adminSocket } = serve
      const tls = serve.tlsCertFile !== undefined
      const at = { host, port, adminHost, adminPort: admin?.port ?? serve.adminPort, tls }
      const socket = optionalMember('adminSocket', adminSocket)
      parts.onRunning({ ...at, ...socket, workers: listening, table })
    }
    await shutdown.requested
    log.info({ drainSeconds: serve.drainSeconds }, 'Draining.')
    if (!(await supervisor.drain(drainOptions(settings, shutdown)))) {
      log.warn({}, 'Workers that did not end were killed; their requests and leases are lost.')
    }
    return 0
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

/** After a takeover no load balancer looks at /readyz, and there are many clients to drain. */
function drainOptions({ serve }: Settings, end: Shutdown): Parameters<Supervisor['drain']>[0] {
  const drainMs = serve.drainSeconds * 1000
  return end.yielded()
    ? { drainMs: drainMs + rollingLingerMs, lingerMs: rollingLingerMs }
    : { drainMs, graceMs: serve.graceSeconds * 1000 }
}

/** Asks the server that has the port to end. A server that does not answer may end all the same. */
async function askPredecessorToYield(predecessor: string, log: Log): Promise<void> {
  const reply = await sendControlRequest(predecessor, 'yield')
  if (reply?.ok === true) log.info({}, reply.text)
  else if (reply === undefined) log.warn({}, 'The server to take over from has ended.')
  else if (reply.silent !== true) throw takeoverFailed(reply.text)
  else log.error({}, `${reply.text} This one starts; end that one where it still has the port.`)
}

function noTable(): IpriskError {
  return takeoverFailed('this one has no table to answer from (the log says why).')
}

function takeoverFailed(why: string): IpriskError {
  const message = `The server that has the port goes on: ${why}`
  return new IpriskError({ code: 'takeover_failed', message, fault: 'environment' })
}

/** Tries until the admin port is free; it never gives up, because the predecessor has yielded. */
async function openAdminWithRetry(
  open: () => Promise<AdminServer>,
  { shutdown, log }: Parts,
): Promise<AdminServer | undefined> {
  for (let tries = 1; !shutdown.signal.aborted; tries += 1) {
    try {
      return await open()
    } catch (error) {
      if (tries * adminTryMs === adminMs) {
        log.error({}, `${messageOf(error)} This server runs, and tries again.`)
      }
      await Promise.race([sleep(adminTryMs), shutdown.requested])
    }
  }
  return undefined
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Handles signals and the requests of the control socket; returns what stops that. */
async function listenForCommands(
  { settings, log, supervisor, tables, port }: Parts,
  yieldNow: () => Promise<void>,
): Promise<() => Promise<void>> {
  const restart = async (): Promise<ControlReply> => {
    // New workers read the files again; a problem in them is reported here, by name.
    const tls = tlsFilesOf(settings.serve)
    if (tls !== undefined) validateTlsFiles(tls, Date.now())
    await supervisor.restart()
    const { listening } = supervisor.status()
    log.info({ workers: listening }, 'Every worker was replaced.')
    return { ok: true, text: `Every worker was replaced; ${listening} answer.` }
  }
  const act = async (request: ControlRequest): Promise<ControlReply> => {
    switch (request) {
      case 'reload':
      case 'reload --force':
        return replyOf(await tables.reload({ force: request !== 'reload' }))
      case 'rollback':
        return replyOf(await tables.rollback())
      case 'restart':
        return restart()
      case 'keys':
        return (await supervisor.readKeys())
          ? { ok: true, text: 'Every worker knows the keys.' }
          : { ok: false, text: 'Not every worker could read the keys.' }
      case 'yield':
        await yieldNow()
        return { ok: true, text: 'The server before this one drains and ends.' }
      default:
        return request satisfies never
    }
  }
  const onHangUp = (): void => void tables.loadIfChanged({ again: true })
  const onUser2 = (): void => {
    restart().catch((error: unknown) => log.error({}, messageOf(error)))
  }
  process.on('SIGHUP', onHangUp)
  process.on('SIGUSR2', onUser2)
  let control: ControlSocket | undefined
  try {
    control = await openControlSocket(controlSocketPath(settings.state, port), act)
  } catch (error) {
    log.warn({}, messageOf(error))
  }
  return async () => {
    process.off('SIGHUP', onHangUp)
    process.off('SIGUSR2', onUser2)
    await control?.close()
  }
}

function replyOf(outcome: SwapOutcome): ControlReply {
  switch (outcome.kind) {
    case 'swapped':
      return { ok: true, text: `Table ${outcome.table} answers.` }
    case 'unchanged':
      return { ok: true, text: `Table ${outcome.table} answers already.` }
    case 'held':
      return { ok: false, text: `Table ${outcome.table} was rolled back and stays out.` }
    case 'refused':
      return { ok: false, text: outcome.reason }
    default:
      return outcome satisfies never
  }
}

function openAdmin(
  { supervisor, settings, port, shutdown, tables, mayRead }: Parts,
  refresh: () => RefreshStatus | undefined,
): Promise<AdminServer> {
  const metrics = createPrometheusText()
  const readiness = (): Readiness => {
    const { listening, answering, keysKnown, degraded } = supervisor.status()
    if (shutdown.signal.aborted) return 'draining'
    if (listening === 0) return 'no_workers'
    if (!keysKnown) return 'no_keys'
    if (answering !== listening) return 'no_table'
    return degraded ? 'degraded' : 'ready'
  }
  const gather = async (): Promise<ScrapeData> => {
    const { total, workers } = await supervisor.collectCounters()
    const { workers: seen, ...status } = supervisor.status()
    const workerStatuses = await Promise.all(
      seen.map(async (worker) => ({ ...worker, openFiles: await openFilesOf(worker.pid) })),
    )
    const ready = ['ready', 'degraded'].includes(readiness())
    const facts = { tables: tables.status(), refresh: refresh(), ready, now: Date.now() }
    return { total, workers, workerStatuses, ...status, ...facts }
  }
  const { host, tlsCertFile, adminSocket, ...serve } = settings.serve
  const listens = { host, port, tls: tlsCertFile !== undefined }
  return startAdminServer(
    {
      readiness,
      metricsType: metrics.contentType,
      metrics: async () => metrics.text(await gather()),
      status: async () => serverStatus(settings, listens, readiness(), await gather()),
      ...optionalMember('mayRead', mayRead),
      ...(adminSocket === undefined
        ? { isOwnHost: createHostMatcher([serve.adminHost, ...serve.adminAllowedHosts]) }
        : {}),
    },
    { host: serve.adminHost, port: serve.adminPort, ...optionalMember('socket', adminSocket) },
  )
}

/**
 * The first SIGTERM or SIGINT asks for an orderly end; a later one ends the process at once. One
 * signal may come twice at the same time: from the terminal to all processes, and from npm to its
 * child.
 */
function listenForShutdown(): Shutdown {
  const controller = new AbortController()
  const { signal } = controller
  let firstMs: number | undefined
  let yielded = false
  const requested = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const onSignal = (): void => {
    if (firstMs !== undefined) {
      if (performance.now() - firstMs > sameSignalMs) process.exit(1)
      return
    }
    firstMs = performance.now()
    controller.abort()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return {
    requested,
    signal,
    yield: () => {
      yielded = true
      controller.abort()
    },
    yielded: () => yielded,
    stop: () => {
      process.off('SIGTERM', onSignal)
      process.off('SIGINT', onSignal)
    },
  }
}
