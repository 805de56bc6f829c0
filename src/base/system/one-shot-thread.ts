// A thread that is asked once and answers once, beside what its process does meanwhile.

import { Worker } from 'node:worker_threads'

export interface OneShotThread<Question, Answer> {
  readonly ask: (question: Question) => void
  /** `undefined` where the thread has ended without one. Never rejects. */
  readonly answer: () => Promise<Answer | undefined>
}

/**
 * `program` is a compiled file, whose first message is its answer. The thread keeps the process
 * alive only while its answer is waited for, and ends with it.
 */
export function startOneShotThread<Question, Answer>(
  program: URL,
  workerData?: unknown,
): OneShotThread<Question, Answer> {
  const thread = new Worker(program, { workerData })
  const answer = new Promise<Answer | undefined>((resolve) => {
    thread.once('message', resolve)
    for (const failure of ['messageerror', 'error', 'exit']) {
      thread.once(failure, () => resolve(undefined))
    }
  })
  // Last, for who listens to a thread is kept alive by it.
  thread.unref()
  return {
    ask: (question) => thread.postMessage(question, []),
    answer: async () => {
      thread.ref()
      return answer
    },
  }
}
