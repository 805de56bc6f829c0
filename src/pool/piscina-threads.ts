// The threads of a pool: the only home of Piscina, and what a pool needs beside it, each with its
// reason (Piscina 5.3.2, Node 20.20). Piscina starts threads, replaces those that die, and carries
// tasks to them and results back. Of its other offers these do not carry what is demanded:
//
//   taskQueue     gives one task a turn, and each task is a round trip; task-queue.ts puts pieces of
//                 several requests into one task
//   maxQueue      counts tasks; a pool is bounded by requests, of which one may have a hundred tasks
//   signal        gives a thread one task at a time, and ends a running thread with its request
//   loadBalancer  is called when the objects that `patchThreadInterface` spares are made already
//   close         counts a thread again for each of its tasks, and so ends others that still run

import type { Worker } from 'node:worker_threads'
import { setTimeout as sleep } from 'node:timers/promises'
import { Piscina } from 'piscina'
import type { PoolTask, TaskResult, ThreadData } from './pool-task.ts'

/** Two tasks a thread, so that one is ready when the other ends. */
export const tasksAThread = 2

/** Threads load within a tenth of it, and a task ends within a fiftieth. */
const settleMsMax = 1000

export type PoolThreads = ReturnType<typeof startPoolThreads>

export function startPoolThreads(options: {
  readonly program: string
  readonly count: number
  readonly data: ThreadData
  /** Something was thrown in a thread without a task. */
  readonly onError: (error: unknown) => void
  readonly onExit: () => void
  /** A thread has ended and none is left: Piscina starts no other when one dies of its start. */
  readonly onLastExit: () => void
}) {
  const { program, count, data, onError, onExit, onLastExit } = options
  const piscina = new Piscina<PoolTask, TaskResult>({
    filename: program,
    name: 'run',
    minThreads: count,
    maxThreads: count,
    idleTimeout: Infinity,
    concurrentTasksPerWorker: tasksAThread,
    // A thread that sleeps in Atomics.wait would run nothing else.
    atomics: 'disabled',
    recordTiming: false,
    // No resourceLimits: a thread that meets its heap's limit can end the process (Node 20.20).
    workerData: data,
  })
  const startup = watchStartup()
  startup.watch(piscina.threads)
  piscina.on('workerCreate', patchThreadInterface)
  piscina.on('workerDestroy', () => {
    // Piscina starts a successor in this turn, or none.
    queueMicrotask(() => {
      startup.watch(piscina.threads)
      if (piscina.threads.length === 0) onLastExit()
    })
    onExit()
  })
  piscina.on('error', onError)
  return {
    /** Rejects where the thread dies with the task, and where the threads are ended. */
    run: (task: PoolTask, transferList: ArrayBuffer[]): Promise<TaskResult> =>
      piscina.run(task, { transferList }),
    count: () => piscina.threads.length,
    /** Resolves when `idle` has and the threads have loaded, or after `settleMsMax`. */
    settle: async (idle: Promise<void>): Promise<void> => {
      const settled = new AbortController()
      const late = sleep(settleMsMax, undefined, { signal: settled.signal }).catch(() => undefined)
      await Promise.race([idle.then(() => startup.done()), late])
      settled.abort()
    },
    /** Ends the threads, and rejects what they or Piscina's queue have. */
    destroy: () => piscina.destroy(),
  }
}

/**
 * Threads that still load their program. Ending one of them can end the process: Node aborts in the
 * midst of an import ("v8::Module::IsGraphAsync must be used on an instantiated module"), and koffi
 * 3.3.4 where it cannot throw into a thread that ends ("ThrowAsJavaScriptException napi_throw").
 */
function watchStartup() {
  const known = new WeakSet<Worker>()
  const loading = new Set<Promise<void>>()
  return {
    /** Watches new threads among these. Call it in the turn in which they start. */
    watch: (threads: readonly Worker[]): void => {
      for (const thread of threads) {
        if (known.has(thread)) continue
        known.add(thread)
        const loaded = new Promise<void>((resolve) => {
          // The first message of a thread says that Piscina's program has loaded ours.
          thread.once('message', () => resolve())
          thread.once('exit', () => resolve())
        }).then(() => void loading.delete(loaded))
        loading.add(loaded)
      }
    },
    /** Resolves when each of them has loaded or died. */
    done: async (): Promise<void> => {
      while (loading.size > 0) await Promise.all(loading)
    },
  }
}

/**
 * For Piscina's event `workerCreate`, which shows a thread as an object of seven getters. For each
 * task Piscina recreates these objects of all threads, and V8 a hidden class for each, which are
 * old garbage that holds young garbage. This gives a thread one such object for good: the loop
 * spends 28 us on a task then, and 37 without (medians of seven runs by turns, two threads). A
 * Piscina that is made otherwise inside loses nothing by it.
 */
export function patchThreadInterface(shown: object): void {
  for (const symbol of Object.getOwnPropertySymbols(shown)) {
    const thread: unknown = Reflect.get(shown, symbol)
    if (typeof thread !== 'object' || thread === null || !('interface' in thread)) continue
    Object.defineProperty(thread, 'interface', { value: shown })
  }
}
