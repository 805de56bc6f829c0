// The beats by which the primary knows that a worker's loop turns (watchdog.ts). A clock beats, and the
// request path does where the clock cannot: many requests that were sent ahead on many connections
// are one turn of the loop to uWebSockets.js, in which a worker answers and no timer fires. How late
// the loop is, loop-lag.ts measures.

import type { ToPrimary } from '../../supervisor/workers/worker-messages.ts'
import { beatMs } from '../../supervisor/workers/watchdog.ts'

/** The clock is this late before a request beats in its place. */
export const overdueMs = 2 * beatMs

export interface Pulse {
  /** By `performance.now()`: the newest beat. */
  beatenMs: number
  readonly beat: (nowMs: number) => void
}

/** Beats from now on, and never keeps a process alive. */
export function startPulse(send: (message: ToPrimary) => void): Pulse {
  const pulse: Pulse = {
    beatenMs: performance.now(),
    beat: (nowMs) => {
      pulse.beatenMs = nowMs
      send({ kind: 'beat' })
    },
  }
  setInterval(() => pulse.beat(performance.now()), beatMs).unref()
  return pulse
}
