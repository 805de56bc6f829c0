// How late a process's event loop is: the longest delay and the 99th percentile of the last 15 to
// 30 seconds, so that a reader every quarter of a minute misses no pause, and the loop's total busy
// time. The runtime measures beside the loop, at no measurable cost.

import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'

export const noLoopLag = { delayMaxSeconds: 0, delayP99Seconds: 0, busySeconds: 0 }
export type LoopLag = Readonly<typeof noLoopLag>

const lookMs = 10
const windowMs = 15_000

export function monitorLoopLag() {
  const histogram = monitorEventLoopDelay({ resolution: lookMs })
  histogram.enable()
  let before = { max: 0, p99: 0 }
  const turn = setInterval(() => {
    before = delaysOf(histogram)
    histogram.reset()
  }, windowMs)
  turn.unref()
  return {
    read: (): LoopLag => {
      const now = delaysOf(histogram)
      return {
        delayMaxSeconds: Math.max(now.max, before.max),
        delayP99Seconds: Math.max(now.p99, before.p99),
        busySeconds: performance.eventLoopUtilization().active / 1000,
      }
    },
    stop: (): void => {
      clearInterval(turn)
      histogram.disable()
    },
  }
}

/** Seconds beyond the interval between two samples, which the histogram includes. */
function delaysOf(histogram: IntervalHistogram) {
  // An empty histogram returns its own bounds.
  if (histogram.count === 0) return { max: 0, p99: 0 }
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - lookMs / 1000)
  return { max: late(histogram.max), p99: late(histogram.percentile(99)) }
}

/**
 * A pause of a worker's loop for a step of a swap: wall time, and processor time of all threads.
 * The rest was waiting for a core, a disk or a lock.
 */
export type LoopPause = Readonly<typeof noPause>

export const noPause = { ms: 0, cpuMs: 0 }

export function maxPause(one: LoopPause, other: LoopPause): LoopPause {
  return { ms: Math.max(one.ms, other.ms), cpuMs: Math.max(one.cpuMs, other.cpuMs) }
}

export function timeStep<T>(step: () => T): { readonly result: T; readonly pause: LoopPause } {
  const [fromMs, fromCpu] = [performance.now(), process.cpuUsage()]
  const result = step()
  const ms = performance.now() - fromMs
  const { user, system } = process.cpuUsage(fromCpu)
  return { result, pause: { ms, cpuMs: (user + system) / 1000 } }
}
