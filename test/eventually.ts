// Waiting for what is about to happen, in place of sleeping for as long as it may take.

import { setTimeout as sleep } from 'node:timers/promises'

type Answer<T> = T | false | undefined

/**
 * Asks until the answer is neither `false` nor `undefined`, and gives it; throws after `ms`. A machine
 * that is busy with other things takes its time, so the bound is wide unless a test names another.
 */
export async function eventually<T>(
  ask: () => Answer<T> | Promise<Answer<T>>,
  ms = 60_000,
): Promise<T> {
  const until = performance.now() + ms
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > until) throw new Error(`nothing within ${ms} ms`)
    await sleep(10)
  }
}
