// A thread that answers one question.

import { Worker } from 'node:worker_threads'

export interface OneShotThread<Question, Answer> {
  readonly ask: (question: Question) => void
  /** `undefined` if the thread ended without an answer. Never rejects. */
  readonly answer: () => Promise<Answer | undefined>
}

/**
 * The compiled `program`'s first message is its answer. The thread keeps the process alive only
 * while its answer is awaited.
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
  // Last, because a listener keeps the thread's reference.
  thread.unref()
  return {
    ask: (question) => thread.postMessage(question, []),
    answer: async () => {
      thread.ref()
      return answer
    },
  }
}
