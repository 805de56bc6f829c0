// A second thread for an urgent verification (verify-child-main.ts): half of the time runs beside
// the rest.

import { type OneShotThread, startOneShotThread } from '../../base/system/one-shot-thread.ts'

export const secondThread = '--second-thread'

/** Asked with the path of a copy; answers where its runs are sound. */
export function startVerifyThread(): OneShotThread<string, true> {
  return startOneShotThread(new URL('./verify-thread-main.js', import.meta.url))
}
