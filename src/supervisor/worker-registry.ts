// The registry of workers: which ones live, and their last reports. supervisor.ts decides.

import type { Worker } from 'node:cluster'
import { addCounterSnapshots, emptyCounterSnapshot } from '../observe/request-counters.ts'
import type { TrafficCounts } from '../observe/traffic-counter.ts'
import type { PlansMessage, ToPrimary, ToWorker } from '../worker/worker-messages.ts'

export type WorkerHandle = ReturnType<typeof newHandle>

export const restartCauses = ['crash', 'hang', 'memory'] as const
export type RestartCause = (typeof restartCauses)[number]

export type WorkerRegistry = ReturnType<typeof createWorkerRegistry>

/** Skips a worker that has just died. */
export function sendToWorker(handle: WorkerHandle, message: ToWorker | PlansMessage): void {
  if (handle.worker.isConnected()) handle.worker.send(message)
}

function newHandle(worker: Worker) {
  return {
    worker,
    /** 0 while waiting for the first table. */
    startRequestedMs: 0,
    /** 0 until it listens. */
    listeningSinceMs: 0,
    lastMessageMs: performance.now(),
    privateBytes: 0,
    retired: false,
    killCause: undefined as RestartCause | undefined,
    ready: false,
    started: false,
    listening: false,
    /** Without keys it answers 503. */
    keysKnown: true,
    /** The table it answers from; 0 for none. */
    table: 0,
    counters: emptyCounterSnapshot,
  }
}

export function createWorkerRegistry() {
  const workers = new Set<WorkerHandle>()
  const listeners = new Set<(handle: WorkerHandle, message: ToPrimary | undefined) => void>()
  const leftTraffic: TrafficCounts[] = []
  let retired = emptyCounterSnapshot

  const notify = (handle: WorkerHandle, message: ToPrimary | undefined): void => {
    for (const listener of listeners) listener(handle, message)
  }

  /** Tests `done` now and at every event; false after `ms`. */
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
      // Workers and the admin port keep the primary alive; a wait must not.
      timer.unref()
      listeners.add(look)
      look()
    })

  return {
    workers: workers as ReadonlySet<WorkerHandle>,
    /** From workers drained since the last call. */
    takeLeftTraffic: () => leftTraffic.splice(0),
    add: (worker: Worker): WorkerHandle => {
      const handle = newHandle(worker)
      workers.add(handle)
      return handle
    },
    /** Its counts stay in `totalCounters`. */
    remove: (handle: WorkerHandle): void => {
      workers.delete(handle)
      retired = addCounterSnapshots(retired, handle.counters)
      notify(handle, undefined)
    },
    notifyMessage: (handle: WorkerHandle, message: ToPrimary): void => {
      handle.lastMessageMs = performance.now()
      if (message.kind === 'drained' && message.traffic !== undefined) {
        leftTraffic.push(message.traffic)
      }
      notify(handle, message)
    },
    listening: () => [...workers].filter((handle) => handle.listening),
    /** Includes dead workers. */
    totalCounters: () =>
      [...workers].map(({ counters }) => counters).reduce(addCounterSnapshots, retired),
    /**
     * Asks `handles` and waits until each has answered (by `isAnswer`) or died; false after `ms`.
     */
    requestAll: async (
      handles: Iterable<WorkerHandle>,
      question: ToWorker,
      { isAnswer, ms }: { readonly isAnswer: (message: ToPrimary) => boolean; readonly ms: number },
    ): Promise<boolean> => {
      // A dead worker will not answer.
      const silent = new Set([...handles].filter((handle) => workers.has(handle)))
      // Before the listener of `waitUntil`, which tests this one's result.
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
