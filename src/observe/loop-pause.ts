// How long a step of a swap has paused a worker's loop: by the clock, and the processor time that
// all threads of the process used meanwhile. The rest of the time it waited for its core, a disk or
// a lock.

export interface LoopPause {
  readonly ms: number
  readonly cpuMs: number
}

export const noPause: LoopPause = { ms: 0, cpuMs: 0 }

/** The larger of both figures. */
export function maxPause(one: LoopPause, other: LoopPause): LoopPause {
  return { ms: Math.max(one.ms, other.ms), cpuMs: Math.max(one.cpuMs, other.cpuMs) }
}

/** What a step returns, and how long it took. */
export function timeStep<T>(step: () => T): { readonly result: T; readonly pause: LoopPause } {
  const [fromMs, fromCpu] = [performance.now(), process.cpuUsage()]
  const result = step()
  const ms = performance.now() - fromMs
  const { user, system } = process.cpuUsage(fromCpu)
  return { result, pause: { ms, cpuMs: (user + system) / 1000 } }
}
