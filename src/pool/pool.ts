// The pool of one worker process: threads for work that the event loop must not do, started when
// first needed. The only home of Piscina, which keeps the threads alive and hands them tasks; the
// line in front of them is ours (task-queue.ts), for it is bounded by requests, puts pieces of several
// requests into one task, and drops what was cancelled without ending a thread that runs.
//
//   request ─ enter ─▶ ticket ─ run(item) ─▶ line ─ task ─▶ Piscina ─▶ thread ─▶ results
//             │full: undefined                                 │died: items once more, alone
//
// Invariants: at most `queue` requests have tickets; a ticket names the table that it began with,
// and that table stays mapped until the last of its tickets is closed; every `run` settles.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Piscina } from 'piscina'
import { machineOffsetMs } from '../base/clock.ts'
import { IpriskError } from '../base/coded-error.ts'
import { packageRoot } from '../base/package-root.ts'
import { patchThreadInterface } from './piscina-patch.ts'
import { type ThreadStartup, watchThreadStartup } from './thread-startup.ts'
import { type QueuedItem, createTaskQueue } from './task-queue.ts'
import { type TableRelease, openTableRelease } from './table-release.ts'
import type {
  TaskItem,
  ItemResult,
  PoolTask,
  TaskResult,
  TaskTable,
  ThreadData,
} from './pool-task.ts'

/** Node runs no TypeScript: threads run the compiled program, also when tests run from source. */
const threadProgram = join(packageRoot, 'dist/src/pool/pool-thread.js')

/** Two tasks a thread, so that one lies ready when the other ends. */
const tasksAThread = 2

/** Threads load within a tenth of it, and a task ends within a fiftieth; what does not is ended. */
const settleMsMax = 1000

/** What a thread died with is tried once more. */
const deathsMax = 1

export interface PoolOptions {
  readonly threads: number
  /** Requests that may be in the pool at once, waiting or running. */
  readonly queue: number
  /** Whether its threads have the lowest priority (base/thread-priority.ts); false by default. */
  readonly yielding?: boolean
  /** What threads run, in tests; its export `run` takes tasks. */
  readonly program?: string
  /** A thread died of this, with a task or without one. */
  readonly onDeath?: (error: unknown) => void
}

export interface PoolCounts {
  readonly threads: number
  /** Requests inside, and pieces of them that wait for a thread. */
  readonly requests: number
  readonly waiting: number
  readonly refused: number
  readonly tasks: number
  readonly items: number
  readonly deaths: number
  /** Sums of what was done: of items, from entering the line to their thread's start with them; of tasks, there. */
  readonly waitMs: number
  readonly runMs: number
}

/** One request's place in the pool. */
export interface Ticket {
  readonly table: TaskTable
  /** Rejects with `pool_failed` where threads die of it, and where the ticket or pool is closed. */
  readonly run: (item: TaskItem) => Promise<ItemResult>
  /** The request is over or its client gone: what waits is dropped. May be called again. */
  readonly close: () => void
}

export interface Pool {
  /** Its threads start now, for who knows that they will be needed, and not at the first task. */
  readonly start: () => void
  /**
   * `undefined` where the pool is full, or half of it is the owner's: who reads slowly holds a ticket
   * for long, and no one tenant may thereby shut out the others.
   */
  readonly enter: (table: TaskTable, owner?: string) => Ticket | undefined
  /** Resolves when no request and no thread uses the table any more. */
  readonly retire: (table: number) => Promise<void>
  readonly counts: () => PoolCounts
  /** Ends the threads; what waits is rejected, and what runs if it runs for a second more. */
  readonly close: () => Promise<void>
}

interface State {
  readonly options: PoolOptions
  readonly channel: string
  readonly queue: ReturnType<typeof createTaskQueue>
  readonly users: Map<number, number>
  readonly released: Map<number, () => void>
  /** How many tickets each has. */
  readonly owners: Map<string, number>
  /** Absent until the first task. */
  threads: Piscina<PoolTask, TaskResult> | undefined
  tableRelease: TableRelease | undefined
  readonly startup: ThreadStartup
  closing: Promise<void> | undefined
  /** When the last task that runs is over, where somebody waits for it. */
  idle: (() => void) | undefined
  requests: number
  /** Tasks that threads have. */
  running: number
  /** The one task that runs may be deadly. */
  exclusive: boolean
  closed: boolean
  readonly sums: { refused: number; tasks: number; items: number; deaths: number }
  readonly times: { waitMs: number; runMs: number }
}

let poolCount = 0
const offsetMs = machineOffsetMs()

export function createPool(options: PoolOptions): Pool {
  poolCount += 1
  const state: State = {
    options,
    channel: `iprisk-pool-${poolCount}`,
    queue: createTaskQueue(),
    users: new Map(),
    released: new Map(),
    owners: new Map(),
    threads: undefined,
    tableRelease: undefined,
    startup: watchThreadStartup(),
    closing: undefined,
    idle: undefined,
    requests: 0,
    running: 0,
    exclusive: false,
    closed: false,
    sums: { refused: 0, tasks: 0, items: 0, deaths: 0 },
    times: { waitMs: 0, runMs: 0 },
  }
  return {
    start: () => {
      state.threads ??= startThreads(state)
    },
    enter: (table, owner) => enter(state, table, owner),
    retire: async (table) => {
      if ((state.users.get(table) ?? 0) > 0) {
        await new Promise<void>((resolve) => state.released.set(table, resolve))
        state.released.delete(table)
      }
      await state.tableRelease?.retire(table)
    },
    counts: () => ({
      threads: state.threads?.threads.length ?? 0,
      requests: state.requests,
      waiting: state.queue.size(),
      ...state.sums,
      ...state.times,
    }),
    close: async () => {
      await (state.closing ??= close(state))
    },
  }
}

async function close(state: State): Promise<void> {
  state.closed = true
  for (let rest = state.queue.takeTask(); rest.length > 0; rest = state.queue.takeTask()) {
    for (const one of rest) one.reject(poolFailed('it is closed'))
  }
  if (state.threads !== undefined) await endThreads(state, state.threads)
  state.tableRelease?.close()
}

/**
 * Ends the threads, but for `settleMsMax` none that loads or has a task, which may open a table then
 * (see thread-startup.ts).
 */
async function endThreads(state: State, threads: Piscina<PoolTask, TaskResult>): Promise<void> {
  const settled = new AbortController()
  const idle = new Promise<void>((resolve) => {
    if (state.running === 0) resolve()
    else state.idle = resolve
  })
  const late = sleep(settleMsMax, undefined, { signal: settled.signal }).catch(() => undefined)
  await Promise.race([idle.then(() => state.startup.done()), late])
  settled.abort()
  await threads.destroy()
}

function enter(state: State, table: TaskTable, owner?: string): Ticket | undefined {
  if (state.closed || !hasRoom(state, owner)) {
    state.sums.refused += 1
    return undefined
  }
  const { users, released } = state
  const { number } = table
  countTicket(state, owner, 1)
  users.set(number, (users.get(number) ?? 0) + 1)
  let open = true
  /** Items in the line or in a thread: the table is in use until they have settled. */
  let underWay = 0
  const releaseTable = (): void => {
    if (open || underWay > 0) return
    const left = (users.get(number) ?? 1) - 1
    if (left > 0) {
      users.set(number, left)
      return
    }
    users.delete(number)
    released.get(number)?.()
  }
  return {
    table,
    run: (item) =>
      new Promise((resolve, reject) => {
        if (!open || state.closed) {
          reject(poolFailed('it is closed'))
          return
        }
        underWay += 1
        const settle = (): void => {
          underWay -= 1
          releaseTable()
        }
        state.queue.add({
          table,
          item,
          sinceMs: performance.now(),
          deaths: 0,
          isCancelled: () => {
            if (open) return false
            settle()
            reject(poolFailed('the request was cancelled'))
            return true
          },
          resolve: (result) => {
            settle()
            resolve(result)
          },
          reject: (error) => {
            settle()
            reject(error)
          },
        })
        dispatch(state)
      }),
    close: () => {
      if (!open) return
      open = false
      countTicket(state, owner, -1)
      releaseTable()
      dispatch(state)
    },
  }
}

function hasRoom({ requests, owners, options }: State, owner: string | undefined): boolean {
  if (requests >= options.queue) return false
  return owner === undefined || (owners.get(owner) ?? 0) < Math.ceil(options.queue / 2)
}

/** One ticket more or less. */
function countTicket(state: State, owner: string | undefined, more: 1 | -1): void {
  state.requests += more
  if (owner === undefined) return
  const owned = (state.owners.get(owner) ?? 0) + more
  if (owned > 0) state.owners.set(owner, owned)
  else state.owners.delete(owner)
}

/** Gives waiting items to threads as long as there is room. */
function dispatch(state: State): void {
  if (state.closed) return
  while (!state.exclusive && state.running < state.options.threads * tasksAThread) {
    // Two tasks lie with a thread, and its death says not of which it died: each of them runs once
    // more with no other task beside it.
    state.exclusive = state.queue.isSuspect()
    if (state.exclusive && state.running > 0) {
      state.exclusive = false
      return
    }
    const taken = state.queue.takeTask()
    const [first] = taken
    if (first === undefined) return
    const threads = (state.threads ??= startThreads(state))
    state.sums.tasks += 1
    state.sums.items += taken.length
    state.running += 1
    void dispatchTask(state, threads, taken)
  }
}

async function dispatchTask(
  state: State,
  threads: Piscina<PoolTask, TaskResult>,
  taken: readonly QueuedItem[],
): Promise<void> {
  const { table } = taken[0]!
  try {
    const items = taken.map(itemOf)
    const result = await threads.run({ table, items }, { transferList: transferListOf(items) })
    state.times.runMs += result.runMs
    const startMs = result.startMs - offsetMs
    for (const { sinceMs } of taken) state.times.waitMs += startMs - sinceMs
    state.tableRelease?.noteMapping(table.number, result.thread)
    // Taken out of it: what Piscina knew of a task lives on until the next full collection of garbage
    // (a Map's tables that it has outgrown lead each to the next), and each small one would copy it.
    const results = result.results.splice(0)
    taken.forEach((one, index) => one.resolve(results[index]!))
  } catch (error) {
    // Of a pool without threads (`dropThreads`) its queue is rejected: those deaths have been told. Of a
    // closed one it is we who end them.
    if (state.threads === threads && !state.closed) state.options.onDeath?.(error)
    // Last first, so that they stand in their old order.
    for (const one of taken.toReversed()) retryOrReject(state, one)
  }
  state.running -= 1
  if (state.running === 0) state.idle?.()
  state.exclusive = false
  dispatch(state)
}

/** As its thread gets it: bytes that were lent to one that died are gone, and fresh room will do. */
function itemOf({ item, deaths }: QueuedItem): TaskItem {
  return item.kind === 'lines' && deaths > 0 ? { ...item, into: undefined } : item
}

/** What an item lends to its thread. */
function transferListOf(items: readonly TaskItem[]): ArrayBuffer[] {
  return items.flatMap((item) =>
    item.kind === 'lines' && item.into !== undefined && item.into.length > 0
      ? [item.into.buffer as ArrayBuffer]
      : [],
  )
}

/** A task is rejected only where its thread died: what items throw is their result. */
function retryOrReject(state: State, one: QueuedItem): void {
  one.deaths += 1
  if (one.deaths > deathsMax) one.reject(poolFailed('its threads died of this request'))
  else if (state.closed) one.reject(poolFailed('it is closed'))
  else state.queue.requeue(one)
}

function startThreads(state: State): Piscina<PoolTask, TaskResult> {
  const { threads: count, yielding = false, program = threadProgram } = state.options
  const { channel } = state
  const retirement = (state.tableRelease ??= openTableRelease(channel))
  const threads = new Piscina<PoolTask, TaskResult>({
    filename: program,
    name: 'run',
    minThreads: count,
    maxThreads: count,
    idleTimeout: Infinity,
    concurrentTasksPerWorker: tasksAThread,
    // A thread that sleeps in Atomics.wait would not hear that a table is retired.
    atomics: 'disabled',
    recordTiming: false,
    // No resourceLimits: a thread that meets its heap's limit can end the process (Node 20.20).
    workerData: { channel, yielding } satisfies ThreadData,
  })
  state.startup.watch(threads.threads)
  threads.on('workerCreate', patchThreadInterface)
  threads.on('workerDestroy', () => {
    // Piscina starts its successor in this turn, or none.
    queueMicrotask(() => {
      state.startup.watch(threads.threads)
      dropThreads(state, threads)
    })
    if (state.closed) return
    state.sums.deaths += 1
    // A thread that has ended has no id any more: those that live are asked for theirs.
    retirement.onThreadExit(() => state.threads?.threads.map(({ threadId }) => threadId) ?? [])
  })
  // Of a thread that died without a task.
  threads.on('error', (error) => state.options.onDeath?.(error))
  return threads
}

/**
 * Piscina starts no more threads once one of them has died of its start. Where none is left, its
 * queue would wait for ever: it is rejected here, and what is tried again starts other threads.
 */
function dropThreads(state: State, threads: Piscina<PoolTask, TaskResult>): void {
  if (state.closed || state.threads !== threads || threads.threads.length > 0) return
  state.threads = undefined
  void threads.destroy()
}

function poolFailed(why: string): IpriskError {
  return new IpriskError({
    code: 'pool_failed',
    message: `The pool gave no result: ${why}.`,
    fault: 'environment',
    retryable: true,
  })
}
