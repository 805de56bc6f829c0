// The roll of the workers: who lives, what each last said, and waiting for what they will say. No
// decisions: those are supervisor.ts.

import type { Worker } from 'node:cluster'
import {
  type CounterSnapshot,
  addCounterSnapshots,
  emptyCounterSnapshot,
} from '../../http/exchange/request-counters.ts'
import type { PlansMessage, ToPrimary, ToWorker } from './worker-messages.ts'

export interface WorkerHandle {
  readonly worker: Worker
  /** Since when it could have begun to listen; 0 while the whole crew waits for a table. */
  startRequestedMs: number
  /** When it began to listen; 0 until then. */
  listeningSinceMs: number
  /** When it last said anything. */
  lastMessageMs: number
  /** Memory that it shares with nobody, as last looked at. */
  privateBytes: number
  /** It drains: another one has taken its place, or nobody needs to. */
  retired: boolean
  /** Why it was killed by us. */
  killCause: RestartCause | undefined
  /** Its program runs and takes messages. */
  ready: boolean
  /** It was given its settings. */
  started: boolean
  listening: boolean
  /** It has read the keys; without them it answers 503. */
  keysKnown: boolean
  /** The number of the table that it answers from; 0 for none. */
  table: number
  counters: CounterSnapshot
}

/** Why a worker was replaced. */
export const restartCauses = ['crash', 'hang', 'memory'] as const
export type RestartCause = (typeof restartCauses)[number]

export type MessageListener = (handle: WorkerHandle, message: ToPrimary) => void

export interface WorkerRegistry {
  readonly workers: ReadonlySet<WorkerHandle>
  readonly add: (worker: Worker) => WorkerHandle
  /** The member has died; what it had counted stays in `total`. */
  readonly remove: (handle: WorkerHandle) => void
  /** Tells all who wait that a member has said something. */
  readonly notifyMessage: MessageListener
  readonly listening: () => readonly WorkerHandle[]
  /** The counts of all members that ever were. */
  readonly totalCounters: () => CounterSnapshot
  /**
   * Asks `members` and waits until each has answered with a message that `isAnswer` takes, or has
   * died. `false` where that lasts longer than `ms`.
   */
  readonly requestAll: (
    handles: Iterable<WorkerHandle>,
    question: ToWorker,
    answer: { readonly isAnswer: (message: ToPrimary) => boolean; readonly ms: number },
  ) => Promise<boolean>
  /** Resolves when `done` says so, which is asked now and after all news; `false` after `ms`. */
  readonly waitUntil: (done: () => boolean, ms: number) => Promise<boolean>
}

/** The channel of a worker that has just died takes nothing; its death is news of its own. */
export function sendToWorker(handle: WorkerHandle, message: ToWorker | PlansMessage): void {
  if (handle.worker.isConnected()) handle.worker.send(message)
}

export function createWorkerRegistry(): WorkerRegistry {
  const workers = new Set<WorkerHandle>()
  const listeners = new Set<(handle: WorkerHandle, message: ToPrimary | undefined) => void>()
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
      // Workers and the admin port keep the primary alive; a wait that nobody awaits any more does not.
      timer.unref()
      listeners.add(look)
      look()
    })

  return {
    workers,
    add: (worker) => {
      const handle: WorkerHandle = {
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
      notify(handle, message)
    },
    listening: () => [...workers].filter((handle) => handle.listening),
    totalCounters: () =>
      [...workers].map(({ counters }) => counters).reduce(addCounterSnapshots, retired),
    requestAll: async (asked, question, { isAnswer, ms }) => {
      // Nobody will tell of one that has died before it is asked.
      const silent = new Set([...asked].filter((handle) => workers.has(handle)))
      // Before `until`'s own listener, which looks at what this one has noted.
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
