// Waiting for what is about to happen, in place of sleeping for as long as it may take.

import { setTimeout as sleep } from 'node:timers/promises'

type Answer<T> = T | false | undefined

/**
 * For what waits for a build that a server has started. It runs at the lowest priority, where it
 * gets one part in seventy of a core that others fill: on one core beside two busy programs the
 * small build of 7 s had not ended after 60 s.
 */
export const buildWaitMs = 240_000

/**
 * Asks until the answer is neither `false` nor `undefined`, and gives it; throws after `ms`, with
 * what `found` says of how far it got. A machine that is busy with other things takes its time, so the
 * bound is wide unless a test names another.
 */
export async function eventually<T>(
  ask: () => Answer<T> | Promise<Answer<T>>,
  ms = 60_000,
  found: () => string | Promise<string> = () => '',
): Promise<T> {
  const until = performance.now() + ms
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > until)
      throw new Error(`nothing within ${ms} ms ${await found()}`.trim())
    await sleep(10)
  }
}
