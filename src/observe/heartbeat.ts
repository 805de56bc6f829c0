// The beats that show the primary that a worker's loop turns (watchdog.ts). A timer beats; so do
// requests, body pieces and connections when the timer cannot fire, because uWebSockets.js handles
// many connections in one turn of the loop.

/** Interval of beats and of the watchdog. */
export const heartbeatMs = 100

/** Delay of the timer after which something else beats. */
const heartbeatOverdueMs = 2 * heartbeatMs

export interface Heartbeat {
  /** Time by `performance.now()`. */
  lastBeatMs: number
  readonly beat: (nowMs: number) => void
}

/** Call on every path where a client keeps the loop busy. */
export function beatIfOverdue(heartbeat: Heartbeat, nowMs: number): void {
  if (nowMs - heartbeat.lastBeatMs > heartbeatOverdueMs) heartbeat.beat(nowMs)
}

/** Does not keep the process alive. */
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
