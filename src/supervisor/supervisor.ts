// Manages the worker processes: forks them, replaces those that die, hang or grow, distributes
// tables, gathers counts, restarts them one by one and drains them.
//
// Invariants: `size` workers are active or being forked (at most every ten seconds if they die at
// once); the table in use changes only after every living worker has opened the new one; a late
// worker gets it when it reports; a worker is retired only once its successor listens.

import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { backoffMs } from '../base/backoff.ts'
import { messageOf, environmentError } from '../base/coded-error.ts'
import { keyAcknowledgeMs, workerClosingMs } from '../base/limits.ts'
import { createQueue } from '../base/concurrency.ts'
import type { Log } from '../base/log.ts'
import type { Plans } from '../config/plan.ts'
import type { LoopPause } from '../observe/loop-lag.ts'
import type { SampledCheck } from '../observe/sample-file.ts'
import type { TrafficCounts } from '../observe/traffic-counter.ts'
import type { ListFile, TableInfo, VerifiedTableFile } from '../table/served-table.ts'
import type {
  PlansMessage,
  AgentKeysMessage,
  PoliciesMessage,
  ToPrimary,
  WorkerSettings,
  ToWorker,
} from '../worker/worker-messages.ts'
import { swapTable } from './tables/swap-in-workers.ts'
import { startWatchdog, type Watchdog } from './watchdog.ts'
import type { RestartCause, WorkerHandle, WorkerRegistry } from './worker-registry.ts'
import { createWorkerRegistry, sendToWorker } from './worker-registry.ts'

const listsAcknowledgeMs = 5000

/** For a worker that dies soon after its start. */
const refork = { msMin: 200, msMax: 10_000 } as const
const healthyMs = 1000
const startMs = 20_000
/** Later, a worker's last counts are used. */
const countMs = 500
/** Deaths before any worker has listened; more end the start. */
const failedStartsMax = 3
/**
 * How long a retired worker answers, with close, before it closes idle connections: longer than
 * proxies keep them (deploy/: 5 s), and than clients waiting for a core are silent.
 */
export const rollingLingerMs = 6000

/** Within the window, however long each lived. */
const crashLoopDeaths = 3
const crashLoopWindowMs = 60_000

const cutOffText = 'Requests were still open at the end of the drain time; they were cut off.'

interface WorkerReports {
  readonly takeSampled: (checks: readonly SampledCheck[]) => number
  /** A worker could not open that table and was killed. */
  readonly tableRefused: (table: number) => void
  readonly pulled: (set: string, texts: readonly string[]) => void
  /** A worker cannot use that version; a starting one has ended. */
  readonly listsRefused: (version: number) => void
}

export type Supervisor = ReturnType<typeof createSupervisor>
export type WorkerStatus = ReturnType<typeof supervisorStatus>['workers'][number]

interface SupervisorOptions {
  readonly size: number
  readonly hangMs: number
  readonly memoryBytesMax: number
  readonly drainMs: number
  readonly settings: WorkerSettings
  readonly log: Log
}

type State = ReturnType<typeof firstState>

function firstState(options: SupervisorOptions) {
  return {
    options,
    /** Includes current plans and policies. */
    settings: options.settings,
    reports: undefined as WorkerReports | undefined,
    log: options.log,
    registry: createWorkerRegistry(),
    file: undefined as VerifiedTableFile | undefined,
    lists: 'unknown' as ListFile | 'unknown' | undefined,
    info: undefined as TableInfo | undefined,
    started: false,
    draining: false,
    everListened: false,
    restarts: { crash: 0, hang: 0, memory: 0 } satisfies Record<RestartCause, number>,
    deathsMs: [] as readonly number[],
    quickDeaths: 0,
    /** One at a time, or a grown worker would get two successors. */
    enqueueReplacement: createQueue(),
    failure: '',
  }
}

/** Workers load their code and wait for `start`. */
export function createSupervisor(options: SupervisorOptions) {
  const state = firstState(options)
  const { registry } = state
  setupWorkers()
  forkMissing(state)
  const watchdog = watchWorkers(state)
  let keyRequests = 0
  const change = (message: PlansMessage | PoliciesMessage | AgentKeysMessage): void => {
    const { plans, policies, agentKeys } = { ...state.settings, ...message }
    // For workers forked later.
    state.settings = { ...state.settings, plans, policies, agentKeys }
    for (const handle of registry.workers) if (handle.ready) sendToWorker(handle, message)
  }
  return {
    /** Resolves when all workers listen. */
    start: (file: VerifiedTableFile | undefined, reports: WorkerReports): Promise<void> =>
      start(state, file, reports),
    /** If it throws `swap_failed`, the old table stays. */
    swapTable: (file: VerifiedTableFile): Promise<LoopPause> =>
      swapTable(registry, file, () => {
        // Workers that start listening with another table get a message to open this one.
        state.file = file
        // Workers that could not open the previous table need not wait.
        if (state.started) forkMissing(state)
      }),
    usePlans: (plans: Plans) => change({ kind: 'plans', plans }),
    plans: () => state.settings.plans,
    usePolicies: (policies: PoliciesMessage['policies']) => change({ kind: 'policies', policies }),
    useAgentKeys: (agentKeys: AgentKeysMessage['agentKeys']) =>
      change({ kind: 'agentKeys', agentKeys }),
    /** Whether all confirmed in time. */
    readKeys: (): Promise<boolean> => {
      const request = (keyRequests += 1)
      const doneOf = (message: ToPrimary): boolean | undefined =>
        message.kind === 'keysRead' && message.request === request ? message.done : undefined
      return askStarted(registry, { kind: 'readKeys', request }, { doneOf, ms: keyAcknowledgeMs })
    },
    /** Whether all confirmed in time. Before the first call no worker answers. */
    useLists: (lists: ListFile | undefined): Promise<boolean> => {
      // Waiting workers get them with their table.
      state.lists = lists
      if (state.started) forkMissing(state)
      const version = lists?.version ?? 0
      const doneOf = (message: ToPrimary): boolean | undefined =>
        message.kind === 'listsUsed' && message.version === version ? message.done : undefined
      const how = { doneOf, ms: listsAcknowledgeMs }
      return askStarted(registry, { kind: 'lists', file: lists }, how)
    },
    /** One by one. Throws `restart_failed`, leaving the rest. */
    restart: () => restart(state),
    /** Fresh counts, or the last ones of a worker that is too busy to answer. */
    collectCounters: async () => {
      const isAnswer = (message: ToPrimary): boolean => message.kind === 'counted'
      await registry.requestAll(registry.listening(), { kind: 'count' }, { isAnswer, ms: countMs })
      const ofEach = ({ worker, counters }: WorkerHandle) => ({ worker: worker.id, counters })
      return { total: registry.totalCounters(), workers: [...registry.workers].map(ofEach) }
    },
    takeTraffic: () => takeTraffic(registry),
    status: () => supervisorStatus(state),
    /**
     * Resolves once all workers have ended; false if some had to be killed. A worker cuts off after
     * `drainMs` and has `workerClosingMs` more.
     */
    drain: (how: Parameters<typeof drain>[1]): Promise<boolean> => {
      watchdog.stop()
      return drain(state, how)
    },
  }
}

function watchWorkers(state: State): Watchdog {
  const { options, registry, log } = state
  const { hangMs, memoryBytesMax } = options
  return startWatchdog({
    workers: () => registry.workers,
    hangMs,
    memoryBytesMax,
    busy: (handle, silence) => {
      const text = "A worker's event loop is late, but it is processing connections: it is busy."
      log.warn({ worker: handle.worker.id, ...silence }, text)
    },
    hung: (handle, silence) => {
      const text = 'A worker hangs; it is killed and replaced.'
      log.error({ worker: handle.worker.id, ...silence }, text)
      kill(handle, 'hang')
    },
    grown: (handle) => {
      const { privateBytes, worker } = handle
      log.warn(
        { worker: worker.id, privateBytes, memoryBytesMax },
        'A worker exceeds its memory limit; it is being replaced.',
      )
      noteDeath(state, 'memory')
      // The queue continues once the successor listens.
      state
        .enqueueReplacement(() => startSuccessor(state, handle))
        .then(() => awaitExit(state, handle))
        .catch((error: unknown) => {
          log.error({ worker: worker.id }, messageOf(error))
          kill(handle, 'memory')
        })
    },
  })
}

function kill(handle: WorkerHandle, cause: RestartCause): void {
  handle.killCause = cause
  handle.worker.process.kill('SIGKILL')
}

function noteDeath(state: State, cause: RestartCause): void {
  state.restarts[cause] += 1
  state.deathsMs = [...state.deathsMs, performance.now()].slice(-crashLoopDeaths)
}

function forkMissing(state: State): void {
  if (state.draining) return
  const serving = [...state.registry.workers].filter(({ retired }) => !retired).length
  for (let i = serving; i < state.options.size; i += 1) fork(state)
}

function fork(state: State): WorkerHandle {
  const worker = cluster.fork()
  const handle = state.registry.add(worker)
  if (state.started) handle.startRequestedMs = performance.now()
  worker.on('message', (message: ToPrimary) => {
    onMessage(state, handle, message)
    state.registry.notifyMessage(handle, message)
  })
  // A message to a dead worker fails; its exit event is enough.
  worker.on('error', () => undefined)
  worker.on('exit', (code, signal) => onExit(state, handle, signal ?? code))
  return handle
}

function startWorker(state: State, handle: WorkerHandle): void {
  const { settings, file, lists } = state
  if (!handle.ready || handle.started) return
  handle.started = true
  const isReplacement = state.everListened
  sendToWorker(handle, { kind: 'start', settings, file, lists, isReplacement })
}

function onMessage(state: State, handle: WorkerHandle, message: ToPrimary): void {
  const { file, log } = state
  const { id } = handle.worker
  switch (message.kind) {
    case 'hello':
      handle.ready = true
      if (state.started) startWorker(state, handle)
      return
    case 'beat':
    case 'keysRead':
    case 'trafficTaken':
      // Handled by the registry.
      return
    case 'keys':
      handle.keysKnown = message.known
      return
    case 'listening':
      handle.listening = true
      handle.listeningSinceMs = performance.now()
      state.everListened = true
      // The table may have changed during its start.
      if (file !== undefined && handle.table !== file.table)
        sendToWorker(handle, { kind: 'open', file })
      return
    case 'failed':
      if (!state.everListened) state.failure = message.message
      log.error({ worker: id }, `A worker cannot start: ${message.message}`)
      return
    case 'opened':
      if (message.table === file?.table)
        sendToWorker(handle, { kind: 'swap', table: message.table })
      return
    case 'refused':
      if (message.table !== file?.table) return
      // Others could open it: this process or the copy is at fault.
      log.error({ worker: id }, `A worker is replaced: ${message.message}`)
      kill(handle, 'crash')
      state.reports?.tableRefused(message.table)
      return
    case 'swapped':
      handle.table = message.table
      if (message.table === file?.table) state.info = message.info
      return
    case 'listsUsed':
      // The registry notifies the waiting request.
      if (!message.done) state.reports?.listsRefused(message.version)
      return
    case 'pulled':
      state.reports?.pulled(message.set, message.texts)
      return
    case 'counted':
      handle.counters = message.counters
      return
    case 'sampled':
      sendToWorker(handle, {
        kind: 'drawBelow',
        lot: state.reports?.takeSampled(message.checks) ?? 0,
      })
      return
    case 'drained':
      if (message.cutOff > 0) log.warn({ worker: id, requests: message.cutOff }, cutOffText)
      return
    default:
      message satisfies never
  }
}

function onExit(state: State, handle: WorkerHandle, reason: string | number): void {
  const { listeningSinceMs, killCause, retired } = handle
  state.registry.remove(handle)
  if (state.draining || retired) return
  const quick = listeningSinceMs === 0 || performance.now() - listeningSinceMs < healthyMs
  state.quickDeaths = quick ? state.quickDeaths + 1 : 0
  if (!state.everListened && state.quickDeaths >= failedStartsMax && state.failure === '') {
    state.failure = `they exit at once, the last one with ${reason}`
  }
  const delayMs = quick ? backoffMs(refork, state.quickDeaths) : 0
  const cause = killCause ?? 'crash'
  state.log.warn(
    { worker: handle.worker.id, reason, cause, delayMs },
    'A worker died; replacing it.',
  )
  // Without an heir, its successor takes over the leases at its start.
  const [heir] = state.registry.listening()
  if (heir !== undefined) sendToWorker(heir, { kind: 'takeOver' })
  // A grown worker was already counted.
  if (cause !== 'memory') noteDeath(state, cause)
  if (delayMs === 0) forkMissing(state)
  else setTimeout(() => forkMissing(state), delayMs)
}

async function start(
  state: State,
  file: VerifiedTableFile | undefined,
  reports: WorkerReports,
): Promise<void> {
  const { registry, options } = state
  state.reports = reports
  state.file = file
  state.started = true
  for (const handle of registry.workers) {
    handle.startRequestedMs = performance.now()
    startWorker(state, handle)
  }
  const isAll = (): boolean => registry.listening().length === options.size
  await registry.waitUntil(() => isAll() || state.failure !== '', startMs)
  if (state.everListened) return
  throw environmentError(
    'workers_failed',
    `The workers cannot start: ${state.failure || 'none of them is listening'}`,
  )
}

function restart(state: State): Promise<void> {
  const replaceAll = async (): Promise<void> => {
    const { workers } = state.registry
    const present = [...workers].filter(({ retired }) => !retired)
    for (const handle of present) {
      await startSuccessor(state, handle)
      await awaitExit(state, handle)
    }
    if (!state.draining) return
    const message = 'The server is shutting down; not every worker was replaced.'
    throw environmentError('restart_failed', message)
  }
  return state.enqueueReplacement(replaceAll)
}

/**
 * Forks a successor and, once that listens, tells the worker to finish. Workers that died meanwhile
 * are replaced once it is retired.
 */
async function startSuccessor(state: State, handle: WorkerHandle): Promise<void> {
  const { registry, options } = state
  if (state.draining || handle.retired || !registry.workers.has(handle)) return
  const successor = fork(state)
  const isGone = (): boolean => !registry.workers.has(successor)
  await registry.waitUntil(() => successor.listening || isGone(), startMs)
  if (!successor.listening || isGone()) {
    successor.retired = true
    successor.worker.process.kill('SIGKILL')
    forkMissing(state)
    throw environmentError(
      'restart_failed',
      'A new worker did not start listening; the current ones keep running.',
    )
  }
  handle.retired = true
  forkMissing(state)
  const drainMs = rollingLingerMs + options.drainMs
  sendToWorker(handle, { kind: 'drain', lingerMs: rollingLingerMs, drainMs })
}

/** Kills it if that takes too long. */
async function awaitExit({ registry, options }: State, handle: WorkerHandle): Promise<void> {
  if (!handle.retired) return
  const isGone = (): boolean => !registry.workers.has(handle)
  const drainMs = rollingLingerMs + options.drainMs
  if (await registry.waitUntil(isGone, drainMs + workerClosingMs)) return
  handle.worker.process.kill('SIGKILL')
  await registry.waitUntil(isGone, startMs)
}

async function drain(
  state: State,
  how: { readonly drainMs: number; readonly graceMs?: number; readonly lingerMs?: number },
): Promise<boolean> {
  const { registry } = state
  const { drainMs, graceMs = 0 } = how
  state.draining = true
  for (const handle of registry.workers) {
    if (handle.started) sendToWorker(handle, { kind: 'drain', ...how })
    else handle.worker.process.kill('SIGKILL')
  }
  const isOver = (): boolean => registry.workers.size === 0
  if (await registry.waitUntil(isOver, graceMs + drainMs + workerClosingMs)) return true
  for (const { worker } of registry.workers) worker.process.kill('SIGKILL')
  await registry.waitUntil(isOver, startMs)
  return false
}

/**
 * Asks every worker; starting ones learn the same otherwise. `doneOf` reads an answer, `undefined`
 * for another message. False if one failed or was late.
 */
async function askStarted(
  registry: WorkerRegistry,
  question: ToWorker,
  how: { readonly ms: number; readonly doneOf: (message: ToPrimary) => boolean | undefined },
): Promise<boolean> {
  let failed = false
  const isAnswer = (message: ToPrimary): boolean => {
    const done = how.doneOf(message)
    failed ||= done === false
    return done !== undefined
  }
  const started = [...registry.workers].filter((handle) => handle.started)
  return (await registry.requestAll(started, question, { isAnswer, ms: how.ms })) && !failed
}

function supervisorStatus({ registry, info, restarts, deathsMs }: State) {
  // A retired worker has a successor, so do not count both.
  const listening = registry.listening().filter(({ retired }) => !retired)
  const answering = listening.filter((handle) => handle.table !== 0)
  const since = performance.now() - crashLoopWindowMs
  return {
    listening: listening.length,
    /** With the new table or the previous one. */
    answering: answering.length,
    /** One has read the keys, so the server takes requests. */
    keysKnown: listening.some(({ keysKnown }) => keysKnown),
    /** One cannot reach the store, or its disk is full: keys with a quota may get 503. */
    storeDown: listening.some(({ counters }) => !counters.storeReachable || !counters.keysReadable),
    restarts: { ...restarts },
    degraded: deathsMs.filter((ms) => ms > since).length >= crashLoopDeaths,
    table: info,
    workers: [...registry.workers].map((handle) => ({
      worker: handle.worker.id,
      pid: handle.worker.process.pid ?? 0,
      listening: handle.listening,
      retired: handle.retired,
      privateBytes: handle.privateBytes,
    })),
  }
}

/**
 * All workers' counts since the last call, drained ones included, without workers that are late.
 */
async function takeTraffic(registry: WorkerRegistry): Promise<readonly TrafficCounts[]> {
  const taken: TrafficCounts[] = []
  await registry.requestAll(
    registry.listening(),
    { kind: 'takeTraffic' },
    {
      isAnswer: (message) => {
        if (message.kind !== 'trafficTaken') return false
        if (message.counts !== undefined) taken.push(message.counts)
        return true
      },
      ms: countMs,
    },
  )
  return [...taken, ...registry.takeLeftTraffic()]
}

const workerProgram = fileURLToPath(new URL('../worker/worker-main.js', import.meta.url))

/**
 * 4 MB for young objects: V8's default of one shrinks when idle and grows only if much survives,
 * which checks never cause: 9 blocking collections per 10,000 checks; with four 2. Without helper
 * threads, which had to be waited for up to 14 ms on busy cores.
 */
const workerFlags = [
  '--min-semi-space-size=4',
  '--no-parallel-scavenge',
  '--no-concurrent-array-buffer-sweeping',
] as const

function setupWorkers(): void {
  // The operator's flags (`node --min-semi-space-size=… main.js`) come last and win. NODE_OPTIONS
  // cannot override a command line, and Node 20 refuses these flags there.
  const execArgv = [...workerFlags, ...process.execArgv]
  cluster.setupPrimary({ exec: workerProgram, args: [], execArgv, silent: false })
}
