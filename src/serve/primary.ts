// The primary: runs start, tables, signals and end. It answers no checks.
//
//   start    load uWebSockets.js, probe the port, fork, open the admin port, and listen with the
//            table whose verification has already begun (early-start.ts)
//   takeover without the probe: listen with a table beside the server that has the port, ask that
//            server to end, then open the admin port; once it agrees, this one never gives up
//   table    a new file in place of the old one, SIGHUP or `iprisk reload`: table-manager.ts
//   plans    the configuration file changes, or SIGHUP: all workers get them (reload-config.ts)
//   policies their file changes, or SIGHUP: all workers get them (watch-policies.ts)
//   workers  SIGUSR2 or `iprisk restart`: replaced one by one (supervisor.ts)
//   end      SIGTERM or SIGINT: /readyz answers 503, after the grace the port closes, workers
//            drain, the admin port closes, code 0; signals do not wait for a start or a swap
//
// Invariants: an unverifiable table is never served, and the one in use stays; without any table
// the server runs, is not ready and answers 503.

import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { validateKeysFile } from '../account/stores/file-keys.ts'
import { openStores, silentHooks } from '../account/stores/open-stores.ts'
import { createTokenMatcher } from '../admin/admin-caller.ts'
import type { AdminServer } from '../admin/admin-server.ts'
import type { GateSettings } from '../adapters/gate/gate.ts'
import { IpriskError, environmentError, messageOf, usageError } from '../base/coded-error.ts'
import { msPerDay } from '../base/day.ts'
import { changeThresholds } from '../model/change-thresholds.ts'
import type { Log } from '../base/log.ts'
import { parseDurationMs } from '../base/time-text.ts'
import type { Plans } from '../config/plan.ts'
import { parseHostPort } from '../config/setting-checks.ts'
import type { Settings } from '../config/settings.ts'
import { pruneOutcomes } from '../feedback/feedback-files.ts'
import { bodyBudgetBytes } from '../http/exchange/body-budget.ts'
import { loadUws } from '../http/listen/load-uws.ts'
import { tlsFilesOf, validateTlsFiles } from '../http/listen/tls-files.ts'
import { decisionLogOf, rotateDecisionLog } from '../observe/rotate-decision-log.ts'
import { openTrafficSample } from '../observe/traffic-sample.ts'
import { startAgentKeys } from '../supervisor/agents/agent-keys.ts'
import { createListsManager, type ListsManager } from '../supervisor/lists/lists-manager.ts'
import { startOutcomeLists } from '../supervisor/lists/outcome-lists.ts'
import {
  type ControlReply,
  type ControlRequest,
  type ControlSocket,
  addressToForget,
  controlSocketPath,
  isForget,
  openControlSocket,
  type SampledPlaces,
  sendControlRequest,
} from '../supervisor/sockets/control-socket.ts'
import { probePort } from '../supervisor/sockets/port-probe.ts'
import { isSocketListening } from '../supervisor/sockets/unix-socket.ts'
import { type SetManager, createSetManager } from '../supervisor/sets/set-manager.ts'
import { createSupervisor, rollingLingerMs, type Supervisor } from '../supervisor/supervisor.ts'
import { watchFile } from '../base/system/file-watch.ts'
import { runRepeatedly } from '../base/system/long-timer.ts'
import {
  createTableManager,
  type SwapOutcome,
  type TableManager,
} from '../supervisor/tables/table-manager.ts'
import type { TablePull } from '../supervisor/tables/table-pull.ts'
import type { TableInfo, VerifiedTableFile } from '../table/served-table.ts'
import type { WorkerSettings } from '../worker/worker-messages.ts'
import type { EarlyStart } from './early-start.ts'
import { openAdmin, type ShownParts } from './open-admin.ts'
import { type ConfigSource, watchConfiguration } from './reload-config.ts'
import type { Shutdown } from './signals.ts'
import type { ListFolders } from '../adapters/lists/list-endpoint.ts'
import { bouncerSetName, builtInSets } from '../model/published-sets.ts'
import { compileSetCondition } from '../sets/condition-set.ts'
import { setFolder } from '../sets/set-folder.ts'
import { type SourceParts, startTableSources, type TableSources } from './table-sources.ts'
import { readWatchedPolicies } from './watch-policies.ts'

/** Tables come hourly at most; a poll a second costs nothing. */
const watchMs = 1000

/** Retry interval for a refused table while no table answers. */
const repairMs = 10_000

/** Retry interval for the admin port, which may stay busy after a takeover. */
const adminTryMs = 100
/** How long to wait for the admin port before reporting that the server runs. */
const adminMs = 5000

export interface RunningServer {
  readonly host: string
  readonly port: number
  readonly adminHost: string
  readonly adminPort: number
  readonly adminSocket: string | undefined
  readonly tls: boolean
  readonly workers: number
  readonly table: TableInfo | undefined
}

export interface ServerOptions extends Omit<SourceParts, 'supervisor' | 'tables'> {
  readonly configuration: ConfigSource
  readonly explainCommand: readonly string[]
  readonly early: EarlyStart
  readonly linkSecret?: string | undefined
  readonly onRunning: (running: RunningServer) => void
}

interface Parts extends ServerOptions, ShownParts {
  readonly supervisor: Supervisor
  readonly tables: TableManager
  readonly sets: SetManager
  /** The control socket of the server to take over from. */
  readonly predecessor: string | undefined
}

/**
 * Runs a server to its end; resolves to the exit code. Throws `uws_missing`, `port_unavailable`,
 * `workers_failed`, `takeover_failed` if it cannot start.
 */
export async function runPrimary(options: ServerOptions): Promise<number> {
  const { settings, log } = options
  const { serve } = settings
  const { ofWorkers, ...checked } = await checkStart(options)
  const supervisor = createSupervisor({
    size: serve.workers,
    hangMs: serve.hangMs,
    memoryBytesMax: serve.workerMemoryMb * 2 ** 20,
    drainMs: serve.drainSeconds * 1000,
    settings: ofWorkers,
    log,
  })
  try {
    return await runWithWorkers({ ...options, ...checked, supervisor })
  } finally {
    // After a failed start some workers are left.
    await supervisor.drain({ drainMs: 0 })
  }
}

/** Throws what keeps a server from starting; returns the workers' settings. */
async function checkStart({ settings, log }: ServerOptions) {
  const { serve, state: stateFolder, store, plans } = settings
  await loadUws()
  const tls = tlsFilesOf(serve)
  if (tls !== undefined) validateTlsFiles(tls, Date.now())
  const callerOf = createTokenMatcher(serve)
  const policies = readWatchedPolicies(settings.policies, log)
  await prepareStores(settings, log)
  const predecessor = await predecessorOf(settings, log)
  const port = predecessor === undefined ? await probePort(serve) : serve.port
  const gate = gateSettings(serve)
  if (gate !== undefined && predecessor === undefined) await probePort(gate, 'gate')
  const ofWorkers: WorkerSettings = {
    host: serve.host,
    port,
    stateFolder,
    store,
    plans,
    policies: policies.policies(),
    logLevel: serve.logLevel,
    logAddresses: serve.logAddresses,
    logAddressForm: serve.logAddressForm,
    logAddressKeyFile: serve.logAddressKeyFile,
    tls,
    gate,
    bouncers: {
      folder: setFolder(stateFolder, bouncerSetName, { host: serve.host, port }),
      durationMs: decisionMs(settings),
    },
    listFolders: setFolders(settings, port),
    agents: settings.agents,
    docs: serve.docs === 'on',
    decisionLog: decisionLogOf(serve),
    sampling: serve.sample > 0,
    countsTraffic: serve.console === 'on',
    pool: { threads: serve.poolThreads, queue: serve.poolQueue },
    connections: { all: serve.connections, perAddress: serve.connectionsPerAddress },
    bodiesBytes: bodyBudgetBytes(serve.workerMemoryMb * 2 ** 20),
  }
  const sample = openTrafficSample({ state: stateFolder, port, size: serve.sample, log })
  return { ofWorkers, callerOf, policies, predecessor, port, sample }
}

async function runWithWorkers(
  parts: Omit<Parts, 'tables' | 'lists' | 'outcomes' | 'sets' | 'shutdown'>,
): Promise<number> {
  const { settings, early, log, supervisor, policies, sample } = parts
  const { copies, shutdown } = early
  const { serve, state: stateFolder, table: path } = settings
  const lists = createListsManager({ settings, prefix: copies.prefix, supervisor, log })
  const tables = createTableManager({
    path,
    source: serve.tableUrl,
    stateFolder,
    supervisor,
    copies,
    traffic: async () => {
      const path = await sample?.save()
      const { swapFlipsMax: maxPercent = changeThresholds.traffic } = serve
      const known = { policies: policies.policies(), lists: lists.file() }
      return path === undefined ? undefined : { sample: path, maxPercent, ...known }
    },
    log,
    signal: shutdown.signal,
  })
  const outcomes = settings.feedback.lists
    ? startOutcomeLists({ settings, tables, lists, log })
    : undefined
  const conditions = setConditions(settings)
  const sets = createSetManager({
    stateFolder,
    folders: setFolders(settings, parts.port),
    conditions,
    durationMs: decisionMs(settings),
    table: tables.current,
    lists: () => {
      const { known, tag } = lists.status()
      return known ? { tag, file: lists.file() } : undefined
    },
    policies: policies.policies,
    log,
  })
  try {
    return await runServer({ ...parts, tables, lists, outcomes, sets, shutdown })
  } finally {
    sets.close()
    outcomes?.close()
    await lists.close()
    await sample?.close({ write: !shutdown.yielded() })
  }
}

async function predecessorOf(settings: Settings, log: Log): Promise<string | undefined> {
  if (!settings.invocation.takeover) return undefined
  const path = controlSocketPath(settings.state, settings.serve.port)
  if (await isSocketListening(path)) return path
  log.warn({}, 'There is no server to take over from; this one starts.')
  return undefined
}

/**
 * Opens the stores once before the workers, which would otherwise all create the rate file; logs
 * advice about the stores.
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

/** Watches files beside the table; returns what stops it. */
function watchFiles(parts: Parts): readonly (() => void | Promise<void>)[] {
  const { settings, configuration, early, supervisor, policies, log } = parts
  const { hangUps } = early
  const { usePlans: use } = supervisor
  return [
    watchConfiguration({ settings, configuration, hangUps, use, log }).stop,
    policies.watch(supervisor.usePolicies).stop,
    rotateDecisionLog(settings.serve, log),
    startPruning(settings.state, settings.serve.feedbackDays, log),
    startAgentKeys({ settings, use: supervisor.useAgentKeys, log }).stop,
  ]
}

async function runServer(parts: Parts): Promise<number> {
  const { settings, log, supervisor, tables, lists, sample, port } = parts
  const { predecessor, shutdown } = parts
  const { firstTable } = parts.early
  const { serve, table: path } = settings
  const { signal } = shutdown
  const stops: (() => void | Promise<void>)[] = []
  const supplies: { running?: TableSources } = {}
  const startAdminPort = async (): Promise<AdminServer> => {
    const admin = await openAdmin(parts, () => supplies.running)
    stops.push(admin.close)
    return admin
  }
  // Before any worker answers, so that a blocked address cannot get in during the start.
  const loading = [tables.loadFirst(firstTable), lists.refresh()] as const
  const loaded = Promise.all(loading)
  loaded.catch(() => undefined)
  try {
    // Verifying the table takes longest, and the following needs nothing of it.
    let admin = predecessor === undefined ? await startAdminPort() : undefined
    stops.push(...watchFiles(parts))
    const [file] = await loaded
    if (predecessor !== undefined && !signal.aborted) requireAnswers(file, lists)
    lists.watch()
    const reports = {
      takeSampled: sample?.take ?? (() => 0),
      tableRefused: tables.distrust,
      listsRefused: lists.refused,
      pulled: parts.sets.pulled,
    }
    if (!signal.aborted) await Promise.race([supervisor.start(file, reports), shutdown.requested])
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
      stops.push(await listenForCommands(parts, { yieldNow, pull: () => supplies.running?.pull }))
      const look = (): void => void tables.loadIfChanged()
      stops.push(
        watchFile({ path, known: firstTable.identity, everyMs: watchMs, changed: look }).stop,
      )
      stops.push(runRepeatedly(tables.repair, repairMs).stop)
      supplies.running = startTableSources(parts, { builtMs: file?.builtMs, look })
      stops.push(supplies.running.stop)
      // Includes keys made during the start.
      await supervisor.readKeys()
      const { listening, table } = supervisor.status()
      const { host, adminHost, adminSocket } = serve
      const tls = serve.tlsCertFile !== undefined
      const adminPort = admin?.port ?? serve.adminPort
      const at = { host, port, adminHost, adminPort, adminSocket, tls }
      parts.onRunning({ ...at, workers: listening, table })
    }
    await shutdown.requested
    log.info({ drainSeconds: serve.drainSeconds }, 'Draining.')
    if (!(await supervisor.drain(drainOptions(settings, shutdown)))) {
      log.warn({}, 'Workers that did not end were killed; their requests and leases are lost.')
    }
    return 0
  } catch (error) {
    shutdown.abort()
    await Promise.allSettled(loading)
    throw error
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

/** After a takeover no load balancer polls /readyz, and many clients must drain. */
function drainOptions({ serve }: Settings, end: Shutdown): Parameters<Supervisor['drain']>[0] {
  const drainMs = serve.drainSeconds * 1000
  return end.yielded()
    ? { drainMs: drainMs + rollingLingerMs, lingerMs: rollingLingerMs }
    : { drainMs, graceMs: serve.graceSeconds * 1000 }
}

/** A server that does not reply may end nevertheless. */
async function askPredecessorToYield(predecessor: string, log: Log): Promise<void> {
  const reply = await sendControlRequest(predecessor, 'yield')
  if (reply?.ok === true) log.info({}, reply.text)
  else if (reply === undefined) log.warn({}, 'The server to take over from has ended.')
  else if (reply.silent !== true) throw takeoverFailed(reply.text)
  else
    log.error({}, `${reply.text} This server starts; stop the other one if it still has the port.`)
}

/** The predecessor answers, so this server must be able to. */
function requireAnswers(file: VerifiedTableFile | undefined, lists: ListsManager): void {
  if (file === undefined) {
    throw takeoverFailed('this server has no table (the log has the reason).')
  }
  if (!lists.status().known) {
    throw takeoverFailed('this server cannot read the own lists (the log has the reason).')
  }
}

const takeoverFailed = (why: string): IpriskError =>
  environmentError('takeover_failed', `The server on the port keeps running: ${why}`)

/** Retries forever, because the predecessor has yielded. */
async function openAdminWithRetry(
  open: () => Promise<AdminServer>,
  { shutdown, log }: Parts,
): Promise<AdminServer | undefined> {
  for (let tries = 1; !shutdown.signal.aborted; tries += 1) {
    try {
      return await open()
    } catch (error) {
      if (tries * adminTryMs === adminMs) {
        log.error({}, `${messageOf(error)} This server keeps running and tries again.`)
      }
      await Promise.race([sleep(adminTryMs), shutdown.requested])
    }
  }
  return undefined
}

/** New workers will reread these files; throws the first problem, by name. */
function validateWorkerFiles({ serve, store }: Settings, plans: Plans): void {
  const tls = tlsFilesOf(serve)
  if (tls !== undefined) validateTlsFiles(tls, Date.now())
  if (store.keysFile !== undefined) validateKeysFile(store.keysFile, plans)
}

/** Handles signals and the control socket; returns what stops that. */
async function listenForCommands(
  parts: Parts,
  on: { readonly yieldNow: () => Promise<void>; readonly pull: () => TablePull | undefined },
): Promise<() => Promise<void>> {
  const { settings, log, supervisor, tables, lists, sample, port } = parts
  const restart = async (): Promise<ControlReply> => {
    validateWorkerFiles(settings, supervisor.plans())
    await supervisor.restart()
    const { listening } = supervisor.status()
    log.info({ workers: listening }, 'Every worker was replaced.')
    return { ok: true, text: `Every worker was replaced; ${listening} answer.` }
  }
  const act = async (request: ControlRequest): Promise<ControlReply> => {
    if (isForget(request)) {
      const count = (await sample?.forget(addressToForget(request))) ?? 0
      return { ok: true, text: String(count) }
    }
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
          ? { ok: true, text: 'Every worker has loaded the keys.' }
          : { ok: false, text: 'Not every worker could read the keys.' }
      case 'lists':
        return lists.refreshForCommand()
      case 'sample':
        return sampleReply(parts)
      case 'yield':
        await on.yieldNow()
        return { ok: true, text: 'The previous server is draining and will end.' }
      default:
        return request satisfies never
    }
  }
  const onHangUp = (): void => {
    void tables.loadIfChanged({ again: true })
    on.pull()?.poll()
  }
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

async function sampleReply({ sample, tables, lists }: Parts): Promise<ControlReply> {
  const path = await sample?.save()
  if (path === undefined)
    return { ok: false, text: 'The server does not sample traffic (--sample).' }
  const table = tables.file()?.path
  const places: SampledPlaces = { sample: path, table, lists: lists.file() }
  return { ok: true, text: JSON.stringify(places) }
}

function replyOf(outcome: SwapOutcome): ControlReply {
  switch (outcome.kind) {
    case 'swapped':
      return { ok: true, text: `Table ${outcome.table} is in use.` }
    case 'unchanged':
      return { ok: true, text: `Table ${outcome.table} is already in use.` }
    case 'held':
      return {
        ok: false,
        text: `Table ${outcome.table} was rolled back and will not be loaded again.`,
      }
    case 'refused':
      return { ok: false, text: outcome.reason }
    case 'ending':
      return { ok: false, text: 'The server is shutting down.' }
    default:
      return outcome satisfies never
  }
}

const pruneMs = 3_600_000

function startPruning(state: string, days: number, log: Log): () => void {
  const prune = async (): Promise<void> => {
    try {
      const files = await pruneOutcomes(state, days, Date.now())
      if (files > 0) log.info({ files }, 'Old feedback was removed.')
    } catch (error) {
      log.error({}, `Old feedback cannot be removed: ${messageOf(error)}`)
    }
  }
  void prune()
  const timer = setInterval(() => void prune(), pruneMs)
  return () => clearInterval(timer)
}

function gateSettings(serve: Settings['serve']): GateSettings | undefined {
  const place = serve.gate === undefined ? undefined : parseHostPort(serve.gate)
  if (place === undefined) return undefined
  const { gatePeers: peers = ['loopback'], gateHeader: header, gateTrust: trust } = serve
  return { ...place, peers, header, trust, stops: serve.gateChallenge === '401' }
}

/** A decision outlives two refreshes, and a server that is away for a night. */
const decisionMs = ({ serve }: Settings): number =>
  Math.max(2 * msPerDay, 2 * parseDurationMs(serve.refreshEvery))

/** Keyed by set name. Throws `settings_invalid` for an invalid condition. */
function setConditions({ lists }: Settings): Readonly<Record<string, string>> {
  for (const [name, condition] of Object.entries(lists.published)) {
    const compiled = compileSetCondition(condition)
    if (compiled.kind === 'fault') {
      throw usageError(`The condition of lists.published.${name} is not valid: ${compiled.message}`)
    }
  }
  return { ...builtInSets, ...lists.published }
}

function setFolders({ serve, state, lists }: Settings, port: number): ListFolders {
  const names = [...Object.keys({ ...builtInSets, ...lists.published }), bouncerSetName]
  const at = { host: serve.host, port }
  return Object.fromEntries(names.map((name) => [name, setFolder(state, name, at)]))
}
