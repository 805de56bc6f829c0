// A worker: listens on the port, answers requests, and carries out the primary's messages. Its
// parts (opening tables, the key store, the log) come from worker-main.ts or a test.
//
// Invariants: it ends by itself when the primary is gone; it ignores the signals of a terminal,
// because the primary decides when it drains.

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import type { Account } from '../account/open-account.ts'
import { createBouncerRoutes } from '../adapters/crowdsec/bouncer-endpoint.ts'
import { type Gate, type GateSettings, createGate } from '../adapters/gate/gate.ts'
import { createSignatureVerifier } from '../agents/signature-verifier.ts'
import { messageOf } from '../base/coded-error.ts'
import { paths } from '../api/public-port.ts'
import { keyRefreshMs } from '../base/limits.ts'
import { type Log, describeError } from '../base/log.ts'
import { type Pool, createPool } from '../pool/pool.ts'
import { shouldLogRequests } from '../http/reply/request-log.ts'
import { createTrafficSampler } from '../observe/traffic-sampler.ts'
import { createBodyBudget, createRefusalBudget } from '../http/exchange/body-budget.ts'
import { createConnectionFilter } from '../http/listen/connection-caps.ts'
import {
  type CounterSnapshot,
  type RequestCounters,
  newRequestCounters,
  counterSnapshot,
} from '../observe/request-counters.ts'
import { type OpenInSteps, type WorkerTable, createWorkerTable } from './worker-table.ts'
import { type ServedPolicies, createServedPolicies } from '../http/exchange/served-policies.ts'
import type { Service } from '../http/exchange/exchange.ts'
import { monitorLoopLag } from '../observe/loop-lag.ts'
import type { StartMessage, ToPrimary, ToWorker, WorkerSettings } from './worker-messages.ts'
import { type WorkerLists, createWorkerLists } from './worker-lists.ts'
import { type Heartbeat, beatIfOverdue } from '../observe/heartbeat.ts'
import { handleRequest } from '../http/request-handler.ts'
import { createRequestIds } from '../http/exchange/request-id.ts'
import { type AdapterRoutes, checkEndpoint } from '../http/routes.ts'
import { createListRoutes } from '../adapters/lists/list-endpoint.ts'
import { type TlsFiles, tlsAppOptions, validateTlsFiles } from '../http/listen/tls-files.ts'
import type { loadUws } from '../http/listen/load-uws.ts'
import { type PreparationParts, type PreparedWorker, prepareWorker } from './worker-preparation.ts'

/** Counts reach the primary this often, so that a worker's death loses little of them. */
const countMs = 1000

/**
 * After the port is closed: how long a client that is about to reuse its connection is still
 * answered, with close, instead of getting a reset.
 */
const lingerMsDefault = 250

export interface WorkerParts extends PreparationParts {
  readonly send: (message: ToPrimary) => void
  readonly heartbeat: Heartbeat
  readonly openInSteps: OpenInSteps
  readonly exit: (code: number) => void
}

type RunningWorker = Awaited<ReturnType<typeof start>>

export function createWorker(parts: WorkerParts): (message: ToWorker) => void {
  const { exit, openInSteps, send } = parts
  const [counters, loop] = [newRequestCounters(), monitorLoopLag()]
  const snapshot = (): CounterSnapshot => counterSnapshot(counters, pool?.counts(), loop.read())
  const policies = createServedPolicies()
  let running: Promise<RunningWorker> | undefined
  let pool: Pool | undefined
  const retire = (table: number): Promise<void> | undefined => pool?.retire(table)
  const current = createWorkerTable({ openInSteps, send, retire })

  /** Once it has started; with `undefined` if it cannot. */
  const whenRunning = async (act: (worker?: RunningWorker) => unknown): Promise<void> => {
    await act(await running?.catch(() => undefined))
  }
  const onFailure = (text: string, about: Readonly<Record<string, unknown>> = {}): void =>
    void whenRunning((worker) => worker?.service.log.error(about, text))
  const onDeath = (cause: unknown): void => onFailure('A pool thread died.', describeError(cause))
  const lists = createWorkerLists({ table: current, send, onFailure })

  const begin = async ({ file, settings, lists: first, isReplacement }: StartMessage) => {
    const preparing = prepareWorker(parts, settings, counters)
    // The start, which waits for it, reports its failure.
    preparing.catch(() => undefined)
    lists.begin(first)
    if (file !== undefined) {
      void current.open(file, isReplacement)
      await current.swap(file.table)
    }
    // Others may have come while the table was opened.
    if (settings.policies !== undefined) await policies.begin(settings.policies)
    pool = createPool({ ...settings.pool, yielding: true, onDeath })
    const state = { counters, current, lists, policies, pool, snapshot }
    return start(parts, settings, { ...state, ...(await preparing) })
  }

  return (message) => {
    switch (message.kind) {
      case 'start':
        running = begin(message)
        running.then(
          () => send({ kind: 'listening' }),
          (error: unknown) => {
            send({ kind: 'failed', message: messageOf(error) })
            exit(1)
          },
        )
        return
      case 'open':
        void current.open(message.file)
        return
      case 'swap':
        void current.swap(message.table)
        return
      case 'readKeys':
      case 'drawBelow':
      case 'takeOver':
      case 'takeTraffic':
      case 'agentKeys':
      case 'drain':
        void whenRunning((worker) => carryOut(message, worker, parts))
        return
      case 'lists':
        lists.use(message.file)
        return
      case 'policies':
        void policies.use(message.policies)
        return
      case 'count':
        send({ kind: 'counted', counters: snapshot() })
        return
      default:
        message satisfies never
    }
  }
}

/** Messages that a worker answers once it has started, or cannot. */
async function carryOut(
  message: Extract<
    ToWorker,
    { kind: 'readKeys' | 'drawBelow' | 'takeOver' | 'takeTraffic' | 'agentKeys' | 'drain' }
  >,
  worker: RunningWorker | undefined,
  parts: WorkerParts,
): Promise<void> {
  const { exit, send } = parts
  switch (message.kind) {
    case 'readKeys': {
      // A worker that is still starting reads them once more when it listens.
      const done = (await worker?.readKeys()) ?? false
      send({ kind: 'keysRead', request: message.request, done })
      return
    }
    case 'drawBelow':
      worker?.service.observers?.sampler?.drawBelow(message.lot)
      return
    case 'takeOver':
      worker?.service.limiter.takeOverLeases()
      return
    case 'takeTraffic':
      send({ kind: 'trafficTaken', counts: worker?.service.observers?.traffic?.taken() })
      return
    case 'agentKeys':
      worker?.service.verifier.use(message.agentKeys)
      return
    case 'drain':
      if (worker === undefined) exit(0)
      else drain(parts, worker, message)
      return
    default:
      message satisfies never
  }
}

async function start(
  parts: WorkerParts,
  settings: WorkerSettings,
  state: PreparedWorker & {
    readonly counters: RequestCounters
    readonly current: WorkerTable
    readonly lists: WorkerLists
    readonly policies: ServedPolicies
    readonly pool: Pool
    readonly snapshot: () => CounterSnapshot
  },
) {
  const { uws, log, account, docs, pool, counters, current, lists, policies, snapshot } = state
  const { decisionLog, traffic } = state
  const verifier = createSignatureVerifier(settings.agents)
  verifier.use(settings.agentKeys ?? [])
  const sampler = settings.sampling === true ? createTrafficSampler() : undefined
  const hasObservers = [decisionLog, sampler, traffic].some((one) => one !== undefined)
  const { keyring, limiter } = account
  limiter.takeOverLeases()
  const service: Service = {
    keyring,
    limiter,
    counters,
    log,
    requestIds: createRequestIds(),
    table: current.table,
    file: current.file,
    lists: lists.file,
    policies,
    observers: hasObservers ? { decisionLog, sampler, traffic } : undefined,
    pool,
    verifier,
    stateFolder: settings.stateFolder,
    bodyBudget: createBodyBudget({ counters, log, bytesMax: settings.bodiesBytes }),
    refusalBudget: createRefusalBudget(),
    docs,
    heartbeat: parts.heartbeat,
    logRequests: shouldLogRequests(settings.logLevel),
    logAddresses: settings.logAddresses,
    pending: 0,
    draining: false,
  }
  const { readKeys, timer } = await startKeyRefresh(account, counters, log, parts.send)
  const count = setInterval(() => {
    parts.send({ kind: 'counted', counters: snapshot() })
    sendSampled(parts, service)
  }, countMs)
  const ports = [await openApi(uws, settings, service, parts.send)]
  if (settings.gate !== undefined) ports.push(await openGate(uws, settings, settings.gate, service))
  const apps = ports.map(({ app }) => app)
  /** No more connections are accepted; requests on the existing ones are answered. */
  const closePorts = (): void => {
    for (const { socket, stop } of ports.splice(0)) {
      uws.us_listen_socket_close(socket)
      stop()
    }
  }
  /** Needed for as long as a request may come. */
  const stopTimers = (): void => {
    clearInterval(timer)
    clearInterval(count)
  }
  /** When a draining worker gives up waiting: for the grace, idle connections, open requests. */
  const deadlines = { portMs: Infinity, idleMs: Infinity, openMs: Infinity }
  return { apps, service, closePorts, readKeys, stopTimers, deadlines }
}

function sendSampled({ send }: WorkerParts, { observers }: Service): void {
  const checks = observers?.sampler?.chosen() ?? []
  if (checks.length > 0) send({ kind: 'sampled', checks })
}

/** Throws `tls_unusable` if the files were replaced by unusable ones. */
function openTlsApp(uws: Awaited<ReturnType<typeof loadUws>>, tls: TlsFiles): TemplatedApp {
  try {
    return uws.SSLApp(tlsAppOptions(tls))
  } catch (error) {
    // uWebSockets.js does not say what is wrong with them.
    validateTlsFiles(tls, Date.now())
    throw error
  }
}

type OpenPort = Awaited<ReturnType<typeof openPort>>

async function openApi(
  uws: Awaited<ReturnType<typeof loadUws>>,
  settings: WorkerSettings,
  service: Service,
  send: WorkerParts['send'],
): Promise<OpenPort> {
  const { tls, connections, port, bouncers, listFolders = {} } = settings
  const onPull = (set: string, texts: readonly string[]): void =>
    send({ kind: 'pulled', set, texts })
  const lists = createListRoutes(listFolders, onPull)
  const decisions = bouncers && createBouncerRoutes(bouncers, onPull)
  const adapters: AdapterRoutes = (path, request) =>
    lists(path, request) ?? decisions?.(path, request)
  const app = tls === undefined ? uws.App() : openTlsApp(uws, tls)
  app.post(paths.check, (res, req) => handleRequest(service, res, req, checkEndpoint))
  app.any('/*', (res, req) => handleRequest(service, res, req, undefined, adapters))
  return openPort(app, settings, service, { caps: { ...connections, port } })
}

/** The gate's port: plain HTTP, under the same caps, only for its peers. */
function openGate(
  uws: Awaited<ReturnType<typeof loadUws>>,
  { connections }: WorkerSettings,
  settings: GateSettings,
  service: Service,
): Promise<OpenPort> {
  const { handle, isPeer } = createGate(settings, service)
  // All its connections come from a few proxies.
  const caps = { ...connections, perAddress: 0, port: settings.port }
  return openPort(uws.App().any('/*', handle), settings, service, { caps, isPeer })
}

async function openPort(
  app: TemplatedApp,
  { host, port }: Pick<WorkerSettings, 'host' | 'port'>,
  { counters, heartbeat, log }: Service,
  allowed: {
    readonly caps: Parameters<typeof createConnectionFilter>[0]
    readonly isPeer?: Gate['isPeer']
  },
): Promise<{
  readonly app: TemplatedApp
  readonly socket: us_listen_socket
  readonly stop: () => void
}> {
  const { caps, isPeer } = allowed
  const { filter, stop } = createConnectionFilter(caps, counters, log, undefined, isPeer)
  app.filter((res, change) => {
    beatIfOverdue(heartbeat, performance.now())
    filter(res, change)
  })
  const socket = await new Promise<us_listen_socket>((resolve, reject) => {
    app.listen(host, port, (opened) => {
      if (opened === false) reject(new Error(`Cannot listen on port ${port} of ${host}.`))
      else resolve(opened)
    })
  })
  return { app, socket, stop }
}

/**
 * Reads the keys, then refreshes them and the leases five times a second; logs once that keys
 * cannot be read, and once that they can again. A worker without keys answers 503 until it has
 * them.
 */
async function startKeyRefresh(
  { keyring, limiter }: Account,
  counters: RequestCounters,
  log: Log,
  send: WorkerParts['send'],
): Promise<{ readonly readKeys: () => Promise<boolean>; readonly timer: NodeJS.Timeout }> {
  /** The last report to the primary: whether the keys are known. */
  let toldKnown = true
  const readKeys = async (): Promise<boolean> => {
    try {
      await keyring.refresh(Date.now())
      if (!counters.keysReadable)
        log.info({ version: keyring.version() }, 'The keys can be read again.')
      counters.keysReadable = true
      if (!toldKnown) send({ kind: 'keys', known: true })
      toldKnown = true
      return true
    } catch (error) {
      if (counters.keysReadable)
        log.error(describeError(error), 'The keys cannot be read; the current ones stay in use.')
      counters.keysReadable = false
      return false
    }
  }
  await readKeys()
  if (!keyring.known()) {
    toldKnown = false
    send({ kind: 'keys', known: false })
  }
  const timer = setInterval(() => {
    limiter.tick()
    void readKeys()
  }, keyRefreshMs)
  return { readKeys, timer }
}

/**
 * Answers every request with close; after the grace closes the port, finishes open requests,
 * reports and ends. Clients close their connections after such an answer. A client that still holds
 * an idle one may be about to send on it, so only the end of the linger closes it. A later drain
 * may shorten all this: a worker that was retired with much time must be gone when the server ends.
 */
function drain(
  parts: WorkerParts,
  running: RunningWorker,
  how: Extract<ToWorker, { kind: 'drain' }>,
): void {
  const { service, deadlines, closePorts } = running
  const { graceMs = 0, lingerMs = lingerMsDefault, drainMs = Infinity } = how
  const portMs = performance.now() + graceMs
  // With several drains, the earliest times count.
  deadlines.portMs = Math.min(deadlines.portMs, portMs)
  deadlines.idleMs = Math.min(deadlines.idleMs, portMs + lingerMs)
  deadlines.openMs = Math.min(deadlines.openMs, portMs + drainMs)
  if (service.draining) return
  service.draining = true
  const endWhenDrained = (): void => {
    const nowMs = performance.now()
    if (nowMs < deadlines.portMs) return
    closePorts()
    const { pending, counters } = service
    const isLingering = counters.connections > 0 && nowMs < deadlines.idleMs
    if ((pending > 0 || isLingering) && nowMs < deadlines.openMs) return
    clearInterval(wait)
    void closeAndExit(parts, running)
  }
  const wait = setInterval(endWhenDrained, 10)
  endWhenDrained()
}

/** Returns leased quota and ends; a failing store does not delay the end. */
async function closeAndExit(
  parts: WorkerParts,
  { apps, service, stopTimers }: RunningWorker,
): Promise<void> {
  const { counters, limiter, log, pool, pending: cutOff } = service
  for (const app of apps) app.close()
  stopTimers()
  // While threads of the pool load, the process would abort instead of exit
  // (pool/piscina-threads.ts).
  const threadsEnded = pool.close()
  try {
    await limiter.close()
  } catch (error) {
    log.warn(describeError(error), 'Leased quota could not be returned.')
  }
  await service.observers?.decisionLog?.close()
  parts.send({ kind: 'counted', counters: counterSnapshot(counters, pool.counts()) })
  sendSampled(parts, service)
  parts.send({ kind: 'drained', cutOff, traffic: service.observers?.traffic?.taken() })
  await threadsEnded
  parts.exit(0)
}
