// Checks drafts of a policies file in a thread: the largest takes half a second of a core, and the
// primary's loop watches its workers.

import { createQueue } from '../base/concurrency.ts'
import { startOneShotThread } from '../base/system/one-shot-thread.ts'
import { policiesBytesMax } from '../base/limits.ts'
import { type checkWritten, checkWrittenInTurns, fileTooLong } from './policy-file.ts'

export type PolicyCheck = ReturnType<typeof checkOf>

const enqueue = createQueue()

export function checkInThread(content: object): Promise<PolicyCheck> {
  const text = JSON.stringify(content)
  if (Buffer.byteLength(text) > policiesBytesMax) {
    return Promise.resolve(checkOf({ mistakes: [fileTooLong] }))
  }
  return enqueue(async () => {
    const thread = startOneShotThread<string, PolicyCheck>(
      new URL('./check-thread-main.js', import.meta.url),
    )
    thread.ask(text)
    // If the thread cannot start, drafts are still checked.
    return (await thread.answer()) ?? checkOf(await checkWrittenInTurns(content))
  })
}

/** `revision` is `null` if there are mistakes. */
export function checkOf(checked: ReturnType<typeof checkWritten>) {
  if ('mistakes' in checked) return { revision: null, names: [], mistakes: checked.mistakes }
  const { revision, policies } = checked.policies
  return { revision, names: Object.keys(policies), mistakes: [] }
}
