// The pool of one worker process: threads for work that the event loop must not do, started when
// first needed. The queue before the threads is our own (task-queue.ts), because Piscina's cannot
// do what is needed here (piscina-threads.ts explains why).
//
//   request ─ enter ─▶ ticket ─ run(item) ─▶ queue ─ task ─▶ Piscina ─▶ thread ─▶ results
//             │full: undefined                                  │died: items once more, alone
//
// Invariants: at most `queue` requests have tickets, at most half of them for one owner; a ticket
// names the table that it started with, and that table stays mapped, once for all threads, until
// the last of its tickets is closed and the last of its items is settled; every `run` settles.
// References to a finished task are cleared: V8 otherwise copies what they hold at every scavenge.

import type { PoolCounts } from '../observe/request-counters.ts'
import { join } from 'node:path'
import { machineOffsetMs } from '../base/system/clock.ts'
import { type MappedRegion, mapRegion, unmapRegion } from '../base/system/memory-map.ts'
import { packageRoot } from '../base/package-root.ts'
import { type PoolThreads, startPoolThreads, tasksAThread } from './piscina-threads.ts'
import { createTaskQueue, poolFailed, type QueuedItem } from './task-queue.ts'
import type { TaskItem, ItemResult, TaskTable } from './pool-task.ts'

/** Node runs no TypeScript: threads run the compiled program, even when tests run from source. */
const threadProgram = join(packageRoot, 'dist/src/pool/pool-thread.js')

/** An item whose thread died runs once more. */
const deathsMax = 1

export interface PoolOptions {
  readonly threads: number
  /** Requests that may be in the pool at once, waiting or running. */
  readonly queue: number
  /** Its threads have the lowest priority (src/base/system/thread-priority.ts); false by default. */
  readonly yielding?: boolean
  /** What threads run instead, in tests; its export `run` takes tasks. */
  readonly program?: string
  /** Receives the error that ended a thread, with or without a task. */
  readonly onDeath?: (error: unknown) => void
}

export type Pool = ReturnType<typeof createPool>

export type Ticket = NonNullable<ReturnType<typeof enter>>

type State = ReturnType<typeof firstState>

function firstState(options: PoolOptions) {
  return {
    options,
    queue: createTaskQueue(),
    /** Keyed by table: where it is mapped. */
    places: new Map<number, MappedRegion>(),
    /** Keyed by table: its open tickets and unsettled items. */
    users: new Map<number, number>(),
    /** Keyed by table: called when nothing uses it any more. */
    released: new Map<number, () => void>(),
    /** Keyed by owner: its open tickets. */
    owners: new Map<string | undefined, number>(),
    /** Absent until the first task. */
    threads: undefined as PoolThreads | undefined,
    closing: undefined as Promise<void> | undefined,
    /** Called when no task runs any more. */
    onIdle: undefined as (() => void) | undefined,
    requests: 0,
    /** Tasks that threads have. */
    running: 0,
    /** The only running task holds an item with which a thread has died. */
    exclusive: false,
    closed: false,
    sums: { refused: 0, tasks: 0, items: 0, deaths: 0, waitMs: 0, runMs: 0 },
  }
}

const offsetMs = machineOffsetMs()

export function createPool(options: PoolOptions) {
  const state = firstState(options)
  return {
    /** Starts the threads now, not at the first task. */
    start: (): void => {
      state.threads ??= startThreads(state)
    },
    /**
     * `undefined` if the pool is full, or half of it is the owner's: a ticket is held until its
     * client has read the answer, so slow clients of one owner could block all others.
     */
    enter: (table: TaskTable, owner?: string) => enter(state, table, owner),
    /** Resolves when no request and no thread uses the table any more. */
    retire: async (table: number): Promise<void> => {
      // Until no ticket has come between the last one's end and this turn.
      while (state.users.has(table)) {
        await new Promise<void>((resolve) => state.released.set(table, resolve))
        state.released.delete(table)
      }
      unmap(state, table)
    },
    counts: (): PoolCounts => ({
      threads: state.threads?.count() ?? 0,
      requests: state.requests,
      waiting: state.queue.size(),
      ...state.sums,
    }),
    /** Rejects what waits, and after a second what still runs; then ends the threads. */
    close: (): Promise<void> => (state.closing ??= close(state)),
  }
}

async function close(state: State): Promise<void> {
  state.closed = true
  for (let rest = state.queue.takeTask(); rest.length > 0; rest = state.queue.takeTask()) {
    for (const one of rest) one.reject(poolFailed('it is closed'))
  }
  const idle = new Promise<void>((resolve) => {
    if (state.running === 0) resolve()
    else state.onIdle = resolve
  })
  await state.threads?.settle(idle)
  await state.threads?.destroy()
  for (const table of state.places.keys()) unmap(state, table)
}

/** Throws `file_unreadable`. */
function placeOf({ places }: State, { number, path }: TaskTable): MappedRegion {
  const place = places.get(number) ?? mapRegion(path)
  places.set(number, place)
  return place
}

function unmap({ places }: State, table: number): void {
  const place = places.get(table)
  places.delete(table)
  if (place !== undefined) unmapRegion(place)
}

function enter(state: State, table: TaskTable, owner?: string) {
  if (state.closed || !hasRoom(state, owner)) {
    state.sums.refused += 1
    return undefined
  }
  const { users, owners } = state
  const { number } = table
  state.requests += 1
  addCount(owners, owner, 1)
  addCount(users, number, 1)
  let open = true
  return {
    table,
    /**
     * Rejects with `pool_failed` if two threads die with it, or the ticket or pool is closed, and
     * with `file_unreadable` if its table cannot be mapped.
     */
    run: async (item: TaskItem): Promise<ItemResult> => {
      if (!open || state.closed) throw poolFailed('it is closed')
      addCount(users, number, 1)
      try {
        const place = placeOf(state, table)
        return await new Promise<ItemResult>((resolve, reject) => {
          const isCancelled = (): boolean => !open
          const queued = { table: { ...table, place }, item, sinceMs: performance.now(), deaths: 0 }
          state.queue.add({ ...queued, isCancelled, resolve, reject })
          dispatch(state)
        })
      } finally {
        releaseTable(state, number)
      }
    },
    /** The request is over: its waiting items are rejected in their turn. May be called again. */
    close: (): void => {
      if (!open) return
      open = false
      state.requests -= 1
      addCount(owners, owner, -1)
      releaseTable(state, number)
      dispatch(state)
    },
  }
}

function hasRoom({ requests, owners, options }: State, owner: string | undefined): boolean {
  if (requests >= options.queue) return false
  return owner === undefined || (owners.get(owner) ?? 0) < Math.ceil(options.queue / 2)
}

/** Returns the count of `key` afterwards; 0 is not kept. */
function addCount<Key>(counts: Map<Key, number>, key: Key, more: 1 | -1): number {
  const count = (counts.get(key) ?? 0) + more
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
  return count
}

function releaseTable({ users, released }: State, table: number): void {
  if (addCount(users, table, -1) === 0) released.get(table)?.()
}

function dispatch(state: State): void {
  if (state.closed) return
  while (!state.exclusive && state.running < state.options.threads * tasksAThread) {
    // A thread has two tasks, and its death does not reveal which one caused it: the items of both
    // run once more, each with no other task beside it.
    const isSuspect = state.queue.isSuspect()
    if (isSuspect && state.running > 0) return
    const taken = state.queue.takeTask()
    if (taken.length === 0) return
    state.exclusive = isSuspect
    const threads = (state.threads ??= startThreads(state))
    state.sums.tasks += 1
    state.sums.items += taken.length
    state.running += 1
    void dispatchTask(state, threads, taken)
  }
}

async function dispatchTask(
  state: State,
  threads: PoolThreads,
  taken: readonly QueuedItem[],
): Promise<void> {
  const { table } = taken[0]!
  const { sums } = state
  try {
    const items = taken.map(itemOf)
    const result = await threads.run({ table, items }, transferListOf(items))
    sums.runMs += result.runMs
    const startMs = result.startMs - offsetMs
    for (const { sinceMs } of taken) sums.waitMs += startMs - sinceMs
    // Removed from the task's result: Piscina's Map of tasks keeps the last ones reachable (a table
    // that a Map has outgrown leads to the next) until the next full collection.
    const results = result.results.splice(0)
    taken.forEach((one, index) => one.resolve(results[index]!))
  } catch (error) {
    // Not for threads that this pool itself has ended (`dropThreads`, `close`).
    if (state.threads === threads && !state.closed) state.options.onDeath?.(error)
    // Last first, so that they keep their old order.
    for (const one of taken.toReversed()) retryOrReject(state, one)
  }
  state.running -= 1
  if (state.running === 0) state.onIdle?.()
  state.exclusive = false
  dispatch(state)
}

/** What is sent to the thread: a buffer that was lent to a thread that died is gone. */
function itemOf({ item, deaths }: QueuedItem): TaskItem {
  return item.kind === 'lines' && deaths > 0 ? { ...item, into: undefined } : item
}

function transferListOf(items: readonly TaskItem[]): ArrayBuffer[] {
  return items.flatMap((item) =>
    item.kind === 'lines' && item.into !== undefined && item.into.length > 0
      ? [item.into.buffer as ArrayBuffer]
      : [],
  )
}

/** For an item of a task whose thread died: an error that an item throws is its result. */
function retryOrReject(state: State, one: QueuedItem): void {
  one.deaths += 1
  if (one.deaths > deathsMax) one.reject(poolFailed('this request crashed its threads'))
  else if (state.closed) one.reject(poolFailed('it is closed'))
  else state.queue.requeue(one)
}

function startThreads(state: State): PoolThreads {
  const { threads: count, yielding = false, program = threadProgram, onDeath } = state.options
  const threads = startPoolThreads({
    program,
    count,
    data: { yielding },
    onError: (error) => onDeath?.(error),
    onExit: () => {
      if (!state.closed) state.sums.deaths += 1
    },
    onLastExit: () => dropThreads(state, threads),
  })
  return threads
}

/**
 * Without a thread left, Piscina's queue would wait forever: it is rejected here, and a retried
 * item starts other threads.
 */
function dropThreads(state: State, threads: PoolThreads): void {
  if (state.closed || state.threads !== threads) return
  state.threads = undefined
  void threads.destroy()
}
