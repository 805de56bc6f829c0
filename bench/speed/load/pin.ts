// Which cores servers and load generator run on. On cores of their own neither takes the other's
// time; where there is one core only, or no taskset, they share, and the report says so.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export interface CorePlan {
  readonly workers: number
  /** Load generator threads. */
  readonly threads: number
  /** Cores by number; `undefined` where nothing is pinned. */
  readonly serverCores: readonly number[] | undefined
  readonly loadCores: readonly number[] | undefined
  /** One sentence for the report. */
  readonly note: string
}

/**
 * Half of the cores serve, one worker each, and the others load. `workers` asks for another number;
 * one core at least is left for the load.
 */
export function planCores(options: {
  readonly allowed: readonly number[]
  readonly canPin: boolean
  readonly workers: number | undefined
}): CorePlan {
  const { allowed, canPin } = options
  const workers = options.workers ?? Math.max(1, allowed.length >> 1)
  if (!canPin || workers >= allowed.length) {
    const why = canPin
      ? `${allowed.length} cores cannot hold ${workers} workers and a load`
      : 'no taskset'
    return {
      workers,
      threads: Math.max(1, allowed.length - workers),
      serverCores: undefined,
      loadCores: undefined,
      note: `not pinned (${why}): servers and load share the cores, read ratios only`,
    }
  }
  const serverCores = allowed.slice(0, workers)
  const loadCores = allowed.slice(workers)
  return {
    workers,
    threads: loadCores.length,
    serverCores,
    loadCores,
    note: `servers pinned to cores ${serverCores.join(',')}, load to ${loadCores.join(',')}`,
  }
}

/**
 * A command line that runs `command` on `cores`. The process keeps its id: taskset replaces itself.
 */
export function pinned(
  cores: readonly number[] | undefined,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return cores === undefined ? command : ['taskset', '-c', cores.join(','), ...command]
}

/** Moves a process that runs, with all its threads. */
export function pinProcess(pid: number, cores: readonly number[]): void {
  execFileSync('taskset', ['-apc', cores.join(','), String(pid)], { stdio: 'ignore' })
}

/** The cores that this process may use. */
export function allowedCores(): readonly number[] {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1]
    if (list !== undefined) return parseCoreList(list)
  } catch {
    // No /proc: count them.
  }
  return Array.from({ length: availableParallelism() }, (_, core) => core)
}

/** `0-2,5` as [0, 1, 2, 5]. */
export function parseCoreList(text: string): readonly number[] {
  return text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

export function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore', timeout: 5000 })
    return true
  } catch {
    return false
  }
}
