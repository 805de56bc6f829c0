// The beats by which the primary knows that a worker's loop turns (watchdog.ts). A timer beats, and
// the request path beats where the timer cannot fire: to uWebSockets.js, whatever many connections
// have sent is one turn of the loop. So requests, pieces of bodies, connections that open or close
// and clients that leave beat, too. loop-lag.ts measures how late the loop is.

/** How often a worker beats and the watchdog looks. */
export const heartbeatMs = 100

/** How late the timer is before something else beats in its place. */
const heartbeatOverdueMs = 2 * heartbeatMs

export interface Heartbeat {
  /** By `performance.now()`: the newest beat. */
  lastBeatMs: number
  readonly beat: (nowMs: number) => void
}

/** To be called wherever a client makes the loop work. */
export function beatIfOverdue(heartbeat: Heartbeat, nowMs: number): void {
  if (nowMs - heartbeat.lastBeatMs > heartbeatOverdueMs) heartbeat.beat(nowMs)
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
