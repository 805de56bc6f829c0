// The workers as the primary commands them: forked, replaced when they die, told which table to use,
// counted, drained. What they do is worker.ts; what is said is message.ts; who lives is roll.ts.
//
// Invariants: a worker that dies is replaced, at most every ten seconds where it dies again and
// again; the table in use changes only after every living worker has opened the new one; a worker
// that comes late is brought to the table in use by what it reports itself.

import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { IpriskError } from '../base/error.ts'
import type { Log } from '../base/log.ts'
import type { Plans } from '../config/plan.ts'
import type { CounterSnapshot } from './counters.ts'
import type { TableFile, TableInfo, ToPrimary, WorkerSettings } from './message.ts'
import { type Member, type Roll, createRoll, say } from './roll.ts'

const workerProgram = fileURLToPath(new URL('./worker-main.js', import.meta.url))

const backOffMs = { first: 100, most: 10_000 } as const
/** A worker that lived this long was healthy: its successor starts at once. */
const healthyMs = 10_000
/** Until all listen at the start, or none ever will. */
const startMs = 20_000
/** Opening a table maps it and reads it in once. */
const openMs = 60_000
/** A scrape waits no longer for a worker; what it said last counts. */
const countMs = 500
/** So many deaths before any worker has listened end the start. */
const failedStartsMax = 3

export interface CrewStatus {
  readonly listening: number
  /** Of those, how many answer from a table, be it the new one or the one before it. */
  readonly answering: number
  readonly restarts: number
  readonly table: TableInfo | undefined
}

export interface Crew {
  /** Lets the workers listen, with a table or without one; resolves when all do. */
  readonly start: (file: TableFile | undefined) => Promise<void>
  /** Two steps: all open it, then all swap. Throws `swap_failed`; then the old one stays in use. */
  readonly use: (file: TableFile) => Promise<void>
  /** Tells the plans to every worker, also to those that come later. */
  readonly usePlans: (plans: Plans) => void
  /** Fresh counts, or the last known ones of a worker that is too busy to say. */
  readonly count: () => Promise<{
    readonly total: CounterSnapshot
    readonly workers: readonly { readonly worker: number; readonly counters: CounterSnapshot }[]
  }>
  readonly status: () => CrewStatus
  /** Resolves when all workers have ended; `false` where some had to be killed. */
  readonly drain: (drainMs: number) => Promise<boolean>
}

interface State {
  settings: WorkerSettings
  readonly log: Log
  readonly roll: Roll
  file: TableFile | undefined
  info: TableInfo | undefined
  started: boolean
  draining: boolean
  everListened: boolean
  restarts: number
  quickDeaths: number
  /** Why the start has failed. */
  failure: string
}

/** Forks the workers at once; they listen only after `start`. */
export function createCrew(options: {
  readonly size: number
  readonly settings: WorkerSettings
  readonly log: Log
}): Crew {
  const { size, settings, log } = options
  const roll = createRoll()
  const state: State = {
    settings,
    log,
    roll,
    file: undefined,
    info: undefined,
    started: false,
    draining: false,
    everListened: false,
    restarts: 0,
    quickDeaths: 0,
    failure: '',
  }
  cluster.setupPrimary({ exec: workerProgram, args: [], silent: false })
  for (let i = 0; i < size; i += 1) fork(state)
  return {
    start: (file) => start(state, size, file),
    use: (file) => use(state, file),
    usePlans: (plans) => {
      state.settings = { ...state.settings, plans }
      // Who has not started yet gets them with its settings.
      for (const member of roll.members) if (member.started) say(member, { kind: 'plans', plans })
    },
    count: async () => {
      const isAnswer = (message: ToPrimary): boolean => message.kind === 'counted'
      await roll.ask(roll.listening(), { kind: 'count' }, { isAnswer, ms: countMs })
      const workers = [...roll.members]
      return {
        total: roll.total(),
        workers: workers.map(({ worker, counters }) => ({ worker: worker.id, counters })),
      }
    },
    status: () => {
      const listening = roll.listening()
      const answering = listening.filter((member) => member.table !== 0)
      const { info, restarts } = state
      return {
        listening: listening.length,
        answering: answering.length,
        restarts,
        table: info,
      }
    },
    drain: (drainMs) => drain(state, drainMs),
  }
}

function fork(state: State): void {
  const worker = cluster.fork()
  const member = state.roll.add(worker)
  worker.on('message', (message: ToPrimary) => {
    hear(state, member, message)
    state.roll.heard(member, message)
  })
  // A message to a worker that has just died; its exit is what counts.
  worker.on('error', () => undefined)
  worker.on('exit', (code, signal) => bury(state, member, signal ?? code))
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
    case 'listening':
      member.listening = true
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
      member.worker.process.kill('SIGKILL')
      return
    case 'swapped':
      member.table = message.table
      if (message.table === file?.table) state.info = message.info
      return
    case 'counted':
      member.counters = message.counters
      return
    case 'drained':
      return
    default:
      message satisfies never
  }
}

function bury(state: State, member: Member, reason: string | number): void {
  const lived = performance.now() - member.forkedMs
  state.quickDeaths = lived > healthyMs ? 0 : state.quickDeaths + 1
  if (!state.everListened && state.quickDeaths >= failedStartsMax && state.failure === '') {
    state.failure = `they end at once, the last one by ${reason}`
  }
  state.roll.remove(member)
  if (state.draining) return
  const delayMs = Math.min(backOffMs.most, backOffMs.first * 2 ** Math.min(state.quickDeaths, 10))
  const { id } = member.worker
  state.log.warn({ worker: id, reason, delayMs }, 'A worker died; replacing it.')
  state.restarts += 1
  setTimeout(() => {
    if (!state.draining) fork(state)
  }, delayMs)
}

async function start(state: State, size: number, file: TableFile | undefined): Promise<void> {
  const { roll } = state
  state.file = file
  state.started = true
  for (const member of roll.members) startMember(state, member)
  await roll.until(() => roll.listening().length === size || state.failure !== '', startMs)
  if (state.everListened) return
  throw new IpriskError({
    code: 'workers_failed',
    message: `The workers cannot start: ${state.failure || 'none of them listens'}`,
    fault: 'environment',
  })
}

async function use(state: State, file: TableFile): Promise<void> {
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
  const inTime = await roll.ask(asked, { kind: 'open', file }, { isAnswer, ms: openMs })
  if (!inTime || refused > 0) {
    throw new IpriskError({
      code: 'swap_failed',
      message: `The new table is not used: ${refusal}. The one before it stays in use.`,
      fault: 'environment',
    })
  }
  // From here on whoever begins to listen with another table is told to open this one.
  state.file = file
  for (const member of roll.listening()) {
    if (!asked.includes(member)) say(member, { kind: 'open', file })
  }
  const isSwapped = (message: ToPrimary): boolean =>
    message.kind === 'swapped' && message.table === table
  await roll.ask(roll.listening(), { kind: 'swap', table }, { isAnswer: isSwapped, ms: openMs })
}

async function drain(state: State, drainMs: number): Promise<boolean> {
  const { roll } = state
  state.draining = true
  for (const member of roll.members) {
    if (member.started) say(member, { kind: 'drain' })
    else member.worker.process.kill('SIGKILL')
  }
  if (await roll.until(() => roll.members.size === 0, drainMs)) return true
  for (const { worker } of roll.members) worker.process.kill('SIGKILL')
  await roll.until(() => roll.members.size === 0, startMs)
  return false
}
