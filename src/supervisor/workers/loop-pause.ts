// How long a step of a swap has held up a worker's loop: by the clock, and what the process computed
// meanwhile, all its threads together. The rest it waited: for its core, a disk, a lock.

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
export function timeStep<T>(step: () => T): { readonly result: T; readonly stall: LoopPause } {
  const [fromMs, fromCpu] = [performance.now(), process.cpuUsage()]
  const result = step()
  const ms = performance.now() - fromMs
  const { user, system } = process.cpuUsage(fromCpu)
  return { result, stall: { ms, cpuMs: (user + system) / 1000 } }
}
