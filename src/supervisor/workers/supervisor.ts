// The workers as the primary commands them: forked, replaced when they die, hang or grow, told which
// table to use, counted, restarted one by one, drained. What they do is worker.ts; what is said is
// worker-messages.ts; who lives is worker-registry.ts; who hangs is watchdog.ts.
//
// Invariants: there are `size` workers that are not retired, or as many are on their way, at most
// every ten seconds where they die at once; the table in use changes only after every living worker
// has opened the new one; a worker that comes late is brought to the table in use by what it reports
// itself; a worker is retired only after its successor listens.

import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { workerClosingMs } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'
import type { Plans } from '../../config/plan.ts'
import type { CounterSnapshot } from '../../http/exchange/request-counters.ts'
import type { TableFile, TableInfo, ToPrimary, WorkerSettings } from './worker-messages.ts'
import { type Cause, type Member, type Roll, createRoll, say } from './worker-registry.ts'
import { type Stall, longerOf, noStall } from './loop-pause.ts'
import { type Vigil, keepVigil } from './watchdog.ts'

const workerProgram = fileURLToPath(new URL('./worker-main.js', import.meta.url))

const backOffMs = { first: 100, most: 10_000 } as const
/** A worker that has listened this long was healthy: its successor starts at once. */
const healthyMs = 1000
/** So many deaths within so long are a crash loop, however long each has lived. */
const loopDeaths = 3
const loopMs = 60_000
/** Until all listen at the start, or none ever will. */
const startMs = 20_000
/** Opening a table maps it and tries it. */
const openMs = 60_000
/** A scrape waits no longer for a worker; what it said last counts. */
const countMs = 500
/** So many deaths before any worker has listened end the start. */
const failedStartsMax = 3
/**
 * A worker that is replaced in good order answers connections that are used again for so long, with
 * close, before it closes those that are idle; it ends at once when none is left. Longer than proxies
 * keep an idle connection (deploy/: 5 s), and than clients that wait for a core are silent.
 */
export const rollingLingerMs = 6000

const cutOffText = 'Requests were still open when the time to drain was over; they were cut off.'

export interface WorkerStatus {
  readonly worker: number
  readonly pid: number
  readonly listening: boolean
  readonly retired: boolean
  readonly privateBytes: number
}

export interface CrewStatus {
  readonly listening: number
  /** Of those, how many answer from a table, be it the new one or the one before it. */
  readonly answering: number
  /** Any of them has read the keys: one that has not is no reason to ask none of them. */
  readonly keysKnown: boolean
  /** Workers that died and were replaced, by cause. */
  readonly restarts: Readonly<Record<Cause, number>>
  /** Workers die again and again. */
  readonly degraded: boolean
  readonly table: TableInfo | undefined
  readonly workers: readonly WorkerStatus[]
}

export interface Crew {
  /** Lets the workers listen, with a table or without one; resolves when all do. */
  readonly start: (file: TableFile | undefined) => Promise<void>
  /**
   * Two acts: all open and try it, one after the other, then all swap. Gives the longest waits of a
   * loop for a step. Throws `swap_failed`; then the old one stays in use.
   */
  readonly use: (file: TableFile) => Promise<Stall>
  /** Tells the plans to every worker, also to those that come later. */
  readonly usePlans: (plans: Plans) => void
  /** Replaces every worker, one after the other. Throws `restart_failed`; then the rest stays. */
  readonly restart: () => Promise<void>
  /** Fresh counts, or the last known ones of a worker that is too busy to say. */
  readonly count: () => Promise<{
    readonly total: CounterSnapshot
    readonly workers: readonly { readonly worker: number; readonly counters: CounterSnapshot }[]
  }>
  readonly status: () => CrewStatus
  /**
   * Resolves when all workers have ended; `false` where some had to be killed. What is open after
   * `drainMs` is cut off by its worker, which has `workerClosingMs` on top of it.
   */
  readonly drain: (how: {
    readonly drainMs: number
    readonly graceMs?: number
    readonly lingerMs?: number
  }) => Promise<boolean>
}

interface CrewOptions {
  readonly size: number
  readonly settings: WorkerSettings
  /** Silence of a worker that makes it hung. */
  readonly hangMs: number
  /** Of memory that it shares with nobody. */
  readonly memoryBytesMax: number
  /** How long open requests of a worker may take that is replaced in good order. */
  readonly drainMs: number
  readonly log: Log
}

interface State {
  readonly options: CrewOptions
  settings: WorkerSettings
  readonly log: Log
  readonly roll: Roll
  file: TableFile | undefined
  info: TableInfo | undefined
  started: boolean
  draining: boolean
  everListened: boolean
  readonly restarts: Record<Cause, number>
  /** Of the last deaths. */
  deathsMs: readonly number[]
  quickDeaths: number
  /** Replacements in good order, one after the other. */
  rolling: Promise<void>
  /** Why the start has failed. */
  failure: string
}

/**
 * Young objects of a worker have 4 MB before they are collected. V8 begins with one, gives back
 * what grew beyond it whenever a worker was idle, and grows again only where much survives, of which
 * checks leave nothing: 9 collections in 10,000 checks, at 35,000 checks a second thirty a second,
 * and in each of them everybody waits. With four they are 2. Helper threads, which have little to
 * copy and few buffers to free, would only have to be waited for: up to 14 ms where every core was
 * busy.
 */
const workerFlags = [
  '--min-semi-space-size=4',
  '--no-parallel-scavenge',
  '--no-concurrent-array-buffer-sweeping',
] as const

/** Forks the workers at once; they listen only after `start`. */
export function createCrew(options: CrewOptions): Crew {
  const { settings, log } = options
  const roll = createRoll()
  const state: State = {
    options,
    settings,
    log,
    roll,
    file: undefined,
    info: undefined,
    started: false,
    draining: false,
    everListened: false,
    restarts: { crash: 0, hang: 0, memory: 0 },
    deathsMs: [],
    quickDeaths: 0,
    rolling: Promise.resolve(),
    failure: '',
  }
  // What the operator gives to Node on the command line (`node --min-semi-space-size=… main.js`)
  // comes behind, and so counts. NODE_OPTIONS reaches workers too, but any command line overrides
  // it, and Node 20 refuses each of these flags there.
  const execArgv = [...workerFlags, ...process.execArgv]
  cluster.setupPrimary({ exec: workerProgram, args: [], execArgv, silent: false })
  fill(state)
  const vigil = watchOver(state)
  return {
    start: (file) => start(state, file),
    use: (file) => use(state, file),
    usePlans: (plans) => {
      state.settings = { ...state.settings, plans }
      // Who has not started yet gets them with its settings.
      for (const member of roll.members) if (member.started) say(member, { kind: 'plans', plans })
    },
    restart: () => restart(state),
    count: async () => {
      const isAnswer = (message: ToPrimary): boolean => message.kind === 'counted'
      await roll.ask(roll.listening(), { kind: 'count' }, { isAnswer, ms: countMs })
      const workers = [...roll.members]
      return {
        total: roll.total(),
        workers: workers.map(({ worker, counters }) => ({ worker: worker.id, counters })),
      }
    },
    status: () => statusOf(state),
    drain: (how) => {
      vigil.stop()
      return drain(state, how)
    },
  }
}

function statusOf({ roll, info, restarts, deathsMs }: State): CrewStatus {
  // A retired one is another one's predecessor, and would be counted beside it.
  const listening = roll.listening().filter(({ retired }) => !retired)
  const answering = listening.filter((member) => member.table !== 0)
  const since = performance.now() - loopMs
  return {
    listening: listening.length,
    answering: answering.length,
    keysKnown: listening.some(({ keysKnown }) => keysKnown),
    restarts: { ...restarts },
    degraded: deathsMs.filter((ms) => ms > since).length >= loopDeaths,
    table: info,
    workers: [...roll.members].map((member) => ({
      worker: member.worker.id,
      pid: member.worker.process.pid ?? 0,
      listening: member.listening,
      retired: member.retired,
      privateBytes: member.privateBytes,
    })),
  }
}

function watchOver(state: State): Vigil {
  const { options, roll, log } = state
  const { hangMs, memoryBytesMax } = options
  return keepVigil({
    members: () => roll.members,
    hangMs,
    memoryBytesMax,
    hung: (member, silentMs) => {
      log.error(
        { worker: member.worker.id, silentMs },
        'A worker hangs; it is killed and replaced.',
      )
      condemn(member, 'hang')
    },
    grown: (member) => {
      const { privateBytes, worker } = member
      log.warn(
        { worker: worker.id, privateBytes, memoryBytesMax },
        'A worker holds more memory than it may; another one takes its place.',
      )
      noteDeath(state, 'memory')
      // The next one that has grown waits for its successor, not until it has gone.
      inTurn(state, () => succeed(state, member))
        .then(() => seeOff(state, member))
        .catch((error: unknown) => {
          log.error({ worker: worker.id }, messageOf(error))
          condemn(member, 'memory')
        })
    },
  })
}

function condemn(member: Member, cause: Cause): void {
  member.condemned = cause
  member.worker.process.kill('SIGKILL')
}

function noteDeath(state: State, cause: Cause): void {
  state.restarts[cause] += 1
  state.deathsMs = [...state.deathsMs, performance.now()].slice(-loopDeaths)
}

/** Forks what is missing. */
function fill(state: State): void {
  if (state.draining) return
  const serving = [...state.roll.members].filter(({ retired }) => !retired).length
  for (let i = serving; i < state.options.size; i += 1) fork(state)
}

function fork(state: State): Member {
  const worker = cluster.fork()
  const member = state.roll.add(worker)
  if (state.started) member.awaitedMs = performance.now()
  worker.on('message', (message: ToPrimary) => {
    hear(state, member, message)
    state.roll.heard(member, message)
  })
  // A message to a worker that has just died; its exit is what counts.
  worker.on('error', () => undefined)
  worker.on('exit', (code, signal) => bury(state, member, signal ?? code))
  return member
}

function startMember({ settings, file }: State, member: Member): void {
  if (!member.ready || member.started) return
  member.started = true
  say(member, { kind: 'start', settings, file })
}

function hear(state: State, member: Member, message: ToPrimary): void {
  const { file, log } = state
  const { id } = member.worker
  switch (message.kind) {
    case 'hello':
      member.ready = true
      if (state.started) startMember(state, member)
      return
    case 'beat':
      // That it was heard is all it says.
      return
    case 'keys':
      member.keysKnown = message.known
      return
    case 'listening':
      member.listening = true
      member.listeningMs = performance.now()
      state.everListened = true
      // The table may have changed while it started.
      if (file !== undefined && member.table !== file.table) say(member, { kind: 'open', file })
      return
    case 'failed':
      if (!state.everListened) state.failure = message.message
      log.error({ worker: id }, `A worker cannot start: ${message.message}`)
      return
    case 'opened':
      if (message.table === file?.table) say(member, { kind: 'swap', table: message.table })
      return
    case 'refused':
      if (message.table !== file?.table) return
      // The table in use was verified, and others could open it: this process is what is wrong.
      log.error({ worker: id }, `A worker is replaced: ${message.message}`)
      condemn(member, 'crash')
      return
    case 'swapped':
      member.table = message.table
      if (message.table === file?.table) state.info = message.info
      return
    case 'counted':
      member.counters = message.counters
      return
    case 'drained': {
      const { cutOff } = message
      if (cutOff > 0) log.warn({ worker: id, requests: cutOff }, cutOffText)
      return
    }
    default:
      message satisfies never
  }
}

function bury(state: State, member: Member, reason: string | number): void {
  const { listeningMs, condemned, retired } = member
  state.roll.remove(member)
  if (state.draining || retired) return
  const quick = listeningMs === 0 || performance.now() - listeningMs < healthyMs
  state.quickDeaths = quick ? state.quickDeaths + 1 : 0
  if (!state.everListened && state.quickDeaths >= failedStartsMax && state.failure === '') {
    state.failure = `they end at once, the last one by ${reason}`
  }
  const { first, most } = backOffMs
  const delayMs = quick ? Math.min(most, first * 2 ** Math.min(state.quickDeaths, 10)) : 0
  const cause = condemned ?? 'crash'
  state.log.warn(
    { worker: member.worker.id, reason, cause, delayMs },
    'A worker died; replacing it.',
  )
  // What has grown was counted when it was found.
  if (cause !== 'memory') noteDeath(state, cause)
  if (delayMs === 0) fill(state)
  else setTimeout(() => fill(state), delayMs)
}

async function start(state: State, file: TableFile | undefined): Promise<void> {
  const { roll, options } = state
  state.file = file
  state.started = true
  for (const member of roll.members) {
    member.awaitedMs = performance.now()
    startMember(state, member)
  }
  const isDone = (): boolean => roll.listening().length === options.size || state.failure !== ''
  await roll.until(isDone, startMs)
  if (state.everListened) return
  throw new IpriskError({
    code: 'workers_failed',
    message: `The workers cannot start: ${state.failure || 'none of them listens'}`,
    fault: 'environment',
  })
}

async function use(state: State, file: TableFile): Promise<Stall> {
  const { roll } = state
  const { table } = file
  let refusal = 'a worker does not answer'
  let refused = 0
  const isAnswer = (message: ToPrimary): boolean => {
    if (message.kind === 'refused' && message.table === table) {
      refused += 1
      refusal = message.message
      return true
    }
    return message.kind === 'opened' && message.table === table
  }
  const asked = [...roll.members].filter((member) => member.started)
  // One after the other: together they would hold up each other, and those whom they serve.
  const until = performance.now() + openMs
  for (const member of asked) {
    const ms = until - performance.now()
    const inTime = await roll.ask([member], { kind: 'open', file }, { isAnswer, ms })
    if (inTime && refused === 0) continue
    throw new IpriskError({ code: 'swap_failed', message: refusal, fault: 'environment' })
  }
  // From here on whoever begins to listen with another table is told to open this one.
  state.file = file
  for (const member of roll.listening()) {
    if (!asked.includes(member)) say(member, { kind: 'open', file })
  }
  let stall = noStall
  const isSwapped = (message: ToPrimary): boolean => {
    if (message.kind !== 'swapped' || message.table !== table) return false
    stall = longerOf(stall, message.stall)
    return true
  }
  await roll.ask(roll.listening(), { kind: 'swap', table }, { isAnswer: isSwapped, ms: openMs })
  return stall
}

function restart(state: State): Promise<void> {
  const replaceAll = async (): Promise<void> => {
    const { members } = state.roll
    const present = [...members].filter(({ retired }) => !retired)
    for (const member of present) {
      await succeed(state, member)
      await seeOff(state, member)
    }
    if (state.draining) throw restartFailed('The server is ending; not every worker was replaced.')
  }
  return inTurn(state, replaceAll)
}

/** One successor at a time, or a worker that has grown would get a second successor. */
function inTurn(state: State, replace: () => Promise<void>): Promise<void> {
  const done = state.rolling.then(replace)
  state.rolling = done.catch(() => undefined)
  return done
}

/**
 * Puts another one in the place of `member`, which is told to finish what is under way and end. Those
 * that died meanwhile are filled up once it is retired: until then there seem to be enough.
 */
async function succeed(state: State, member: Member): Promise<void> {
  const { roll, options } = state
  if (state.draining || member.retired || !roll.members.has(member)) return
  const successor = fork(state)
  const isGone = (one: Member): boolean => !roll.members.has(one)
  await roll.until(() => successor.listening || isGone(successor), startMs)
  if (!successor.listening || isGone(successor)) {
    successor.retired = true
    successor.worker.process.kill('SIGKILL')
    fill(state)
    throw restartFailed('A new worker did not come to listen; those that are there go on.')
  }
  member.retired = true
  fill(state)
  const drainMs = rollingLingerMs + options.drainMs
  say(member, { kind: 'drain', lingerMs: rollingLingerMs, drainMs })
}

/** Until the member, if it is retired, has gone; it is killed where that lasts too long. */
async function seeOff({ roll, options }: State, member: Member): Promise<void> {
  if (!member.retired) return
  const isGone = (): boolean => !roll.members.has(member)
  const drainMs = rollingLingerMs + options.drainMs
  if (await roll.until(isGone, drainMs + workerClosingMs)) return
  member.worker.process.kill('SIGKILL')
  await roll.until(isGone, startMs)
}

function restartFailed(message: string): IpriskError {
  return new IpriskError({ code: 'restart_failed', message, fault: 'environment' })
}

async function drain(
  state: State,
  how: { readonly drainMs: number; readonly graceMs?: number; readonly lingerMs?: number },
): Promise<boolean> {
  const { roll } = state
  const { drainMs, graceMs = 0 } = how
  state.draining = true
  for (const member of roll.members) {
    if (member.started) say(member, { kind: 'drain', ...how })
    else member.worker.process.kill('SIGKILL')
  }
  const isOver = (): boolean => roll.members.size === 0
  if (await roll.until(isOver, graceMs + drainMs + workerClosingMs)) return true
  for (const { worker } of roll.members) worker.process.kill('SIGKILL')
  await roll.until(isOver, startMs)
  return false
}
