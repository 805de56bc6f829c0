// Removes feedback that is older than the operator wants it, when a server starts and every hour.

import { messageOf } from '../base/coded-error.ts'
import type { Log } from '../base/log.ts'
import { pruneOutcomes } from '../feedback/feedback-files.ts'

const pruneMs = 3_600_000

/** Goes on until the returned function is called. */
export function startPruning(state: string, days: number, log: Log): () => void {
  const prune = async (): Promise<void> => {
    try {
      const files = await pruneOutcomes(state, days, Date.now())
      if (files > 0) log.info({ files }, 'Old feedback was removed.')
    } catch (error) {
      log.error({}, `Old feedback cannot be removed: ${messageOf(error)}`)
    }
  }
  void prune()
  const timer = setInterval(() => void prune(), pruneMs)
  return () => clearInterval(timer)
}
