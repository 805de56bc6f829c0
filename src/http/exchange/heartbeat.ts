// The beats by which the primary knows that a worker's loop turns (watchdog.ts). A clock beats, and the
// request path does where the clock cannot: many requests that were sent ahead on many connections
// are one turn of the loop to uWebSockets.js, in which a worker answers and no timer fires. How late
// the loop is, loop-lag.ts measures.

/** So often a worker beats, and the watchdog looks. */
export const heartbeatMs = 100

/** The clock is this late before a request beats in its place. */
export const heartbeatOverdueMs = 2 * heartbeatMs

export interface Heartbeat {
  /** By `performance.now()`: the newest beat. */
  lastBeatMs: number
  readonly beat: (nowMs: number) => void
}

/** Beats from now on, and never keeps a process alive. */
export function startHeartbeat(send: (message: { readonly kind: 'beat' }) => void): Heartbeat {
  const heartbeat: Heartbeat = {
    lastBeatMs: performance.now(),
    beat: (nowMs) => {
      heartbeat.lastBeatMs = nowMs
      send({ kind: 'beat' })
    },
  }
  setInterval(() => heartbeat.beat(performance.now()), heartbeatMs).unref()
  return heartbeat
}
