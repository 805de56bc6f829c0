// A second thread for the process that verifies a table (verify-child-main.ts), where nothing is
// more urgent than that table: what takes half of the time runs beside the rest.

import { type OneShotThread, startOneShotThread } from '../../base/system/one-shot-thread.ts'

/** The argument by which the process is told to start it. */
export const secondThread = '--second-thread'

/** Asked with the path of a copy; answers where its runs are sound. */
export function startVerifyThread(): OneShotThread<string, true> {
  return startOneShotThread(new URL('./verify-thread-main.js', import.meta.url))
}
