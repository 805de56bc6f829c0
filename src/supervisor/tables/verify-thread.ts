// A second thread for the process that verifies a table (verify-child-main.ts), where nothing is more
// urgent than that table: what takes half of the time runs beside the rest.

import { Worker } from 'node:worker_threads'

/** The argument by which the process is told to start it. */
export const secondThread = '--second-thread'

/** What the thread says of the runs of a table. */
export interface RunsVerdict {
  readonly fault?: { readonly code: string; readonly message: string }
}

export interface VerifyThread {
  /** To be called once. Resolves to `undefined` where the thread has died; never rejects. */
  readonly verifyRuns: (copy: string) => Promise<RunsVerdict | undefined>
  /** From then on the process does not wait for it. */
  readonly giveUp: () => void
}

/** Starts it; it does not keep the process alive while it has nothing to do. */
export function startVerifyThread(): VerifyThread {
  const thread = new Worker(new URL('./verify-thread-main.js', import.meta.url))
  const verdict = new Promise<RunsVerdict | undefined>((resolve) => {
    thread.once('message', resolve)
    thread.once('messageerror', () => resolve(undefined))
    thread.once('error', () => resolve(undefined))
    thread.once('exit', () => resolve(undefined))
  })
  // Last, for who listens to a thread is kept alive by it.
  thread.unref()
  return {
    verifyRuns: (copy) => {
      thread.ref()
      thread.postMessage(copy, [])
      return verdict
    },
    giveUp: () => thread.unref(),
  }
}
