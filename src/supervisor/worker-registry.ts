// The registry of the workers: which ones live, and what each reported last. Decisions about
// workers are in supervisor.ts.

import type { Worker } from 'node:cluster'
import {
  type CounterSnapshot,
  addCounterSnapshots,
  emptyCounterSnapshot,
} from '../observe/request-counters.ts'
import type { TrafficCounts } from '../observe/traffic-counter.ts'
import type { PlansMessage, ToPrimary, ToWorker } from '../worker/worker-messages.ts'

export interface WorkerHandle {
  readonly worker: Worker
  /** 0 while all workers wait for the first table. */
  startRequestedMs: number
  /** 0 until it listens. */
  listeningSinceMs: number
  lastMessageMs: number
  /** As last read, without what other processes share. */
  privateBytes: number
  /** It drains. */
  retired: boolean
  /** Why the supervisor killed it. */
  killCause: RestartCause | undefined
  ready: boolean
  started: boolean
  listening: boolean
  /** Without keys it answers 503. */
  keysKnown: boolean
  /** That it answers from; 0 for none. */
  table: number
  counters: CounterSnapshot
}

export const restartCauses = ['crash', 'hang', 'memory'] as const
export type RestartCause = (typeof restartCauses)[number]

export type MessageListener = (handle: WorkerHandle, message: ToPrimary) => void

export interface WorkerRegistry {
  readonly workers: ReadonlySet<WorkerHandle>
  /** Of workers that have drained since the last call. */
  readonly takeLeftTraffic: () => readonly TrafficCounts[]
  readonly add: (worker: Worker) => WorkerHandle
  /** Its counts stay in `totalCounters`. */
  readonly remove: (handle: WorkerHandle) => void
  readonly notifyMessage: MessageListener
  readonly listening: () => readonly WorkerHandle[]
  /** Dead ones included. */
  readonly totalCounters: () => CounterSnapshot
  /**
   * Asks `handles` and waits until each has answered with a message that `isAnswer` accepts, or has
   * died; `false` after `ms`.
   */
  readonly requestAll: (
    handles: Iterable<WorkerHandle>,
    question: ToWorker,
    answer: { readonly isAnswer: (message: ToPrimary) => boolean; readonly ms: number },
  ) => Promise<boolean>
  /** `done` is tested now and at every event; `false` after `ms`. */
  readonly waitUntil: (done: () => boolean, ms: number) => Promise<boolean>
}

/** A worker that has just died gets nothing. */
export function sendToWorker(handle: WorkerHandle, message: ToWorker | PlansMessage): void {
  if (handle.worker.isConnected()) handle.worker.send(message)
}

function newHandle(worker: Worker): WorkerHandle {
  return {
    worker,
    startRequestedMs: 0,
    listeningSinceMs: 0,
    lastMessageMs: performance.now(),
    privateBytes: 0,
    retired: false,
    killCause: undefined,
    ready: false,
    started: false,
    listening: false,
    keysKnown: true,
    table: 0,
    counters: emptyCounterSnapshot,
  }
}

export function createWorkerRegistry(): WorkerRegistry {
  const workers = new Set<WorkerHandle>()
  const listeners = new Set<(handle: WorkerHandle, message: ToPrimary | undefined) => void>()
  const leftTraffic: TrafficCounts[] = []
  let retired = emptyCounterSnapshot

  const notify = (handle: WorkerHandle, message: ToPrimary | undefined): void => {
    for (const listener of listeners) listener(handle, message)
  }

  const waitUntil = (done: () => boolean, ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const settle = (result: boolean): void => {
        clearTimeout(timer)
        listeners.delete(look)
        resolve(result)
      }
      const look = (): void => {
        if (done()) settle(true)
      }
      const timer = setTimeout(() => settle(false), ms)
      // Workers and the admin port keep the primary alive; a wait alone must not.
      timer.unref()
      listeners.add(look)
      look()
    })

  return {
    workers,
    takeLeftTraffic: () => leftTraffic.splice(0),
    add: (worker) => {
      const handle = newHandle(worker)
      workers.add(handle)
      return handle
    },
    remove: (handle) => {
      workers.delete(handle)
      retired = addCounterSnapshots(retired, handle.counters)
      notify(handle, undefined)
    },
    notifyMessage: (handle, message) => {
      handle.lastMessageMs = performance.now()
      if (message.kind === 'drained' && message.traffic !== undefined) {
        leftTraffic.push(message.traffic)
      }
      notify(handle, message)
    },
    listening: () => [...workers].filter((handle) => handle.listening),
    totalCounters: () =>
      [...workers].map(({ counters }) => counters).reduce(addCounterSnapshots, retired),
    requestAll: async (handles, question, { isAnswer, ms }) => {
      // A worker that has died before it is asked will not answer.
      const silent = new Set([...handles].filter((handle) => workers.has(handle)))
      // Registered before the listener of `waitUntil`, which tests what this one has noted.
      const onAnswer = (handle: WorkerHandle, message: ToPrimary | undefined): void => {
        if (message === undefined || isAnswer(message)) silent.delete(handle)
      }
      listeners.add(onAnswer)
      for (const handle of silent) sendToWorker(handle, question)
      const inTime = await waitUntil(() => silent.size === 0, ms)
      listeners.delete(onAnswer)
      return inTime
    },
    waitUntil,
  }
}
