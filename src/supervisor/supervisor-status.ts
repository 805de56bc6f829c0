// What the supervisor reports of its workers, for /status, the metrics and the console.

import type { TableInfo } from '../table/served-table.ts'
import type { TrafficCounts } from '../observe/traffic-counter.ts'
import type { RestartCause, WorkerRegistry } from './worker-registry.ts'

export interface WorkerStatus {
  readonly worker: number
  readonly pid: number
  readonly listening: boolean
  readonly retired: boolean
  readonly privateBytes: number
}

export interface SupervisorStatus {
  readonly listening: number
  /** With the new table or the one before it. */
  readonly answering: number
  /** At least one of them has read the keys; then the server takes requests. */
  readonly keysKnown: boolean
  /** One of them does not reach the store, or its disk is full: keys with a quota may get 503. */
  readonly storeDown: boolean
  readonly restarts: Readonly<Record<RestartCause, number>>
  readonly degraded: boolean
  readonly table: TableInfo | undefined
  readonly workers: readonly WorkerStatus[]
}

/** Within the window, however long each worker has lived. */
export const crashLoopDeaths = 3
const crashLoopWindowMs = 60_000

export function supervisorStatus({
  registry,
  info,
  restarts,
  deathsMs,
}: {
  readonly registry: WorkerRegistry
  readonly info: TableInfo | undefined
  readonly restarts: Readonly<Record<RestartCause, number>>
  readonly deathsMs: readonly number[]
}): SupervisorStatus {
  // A retired worker would be counted beside its successor.
  const listening = registry.listening().filter(({ retired }) => !retired)
  const answering = listening.filter((handle) => handle.table !== 0)
  const since = performance.now() - crashLoopWindowMs
  return {
    listening: listening.length,
    answering: answering.length,
    keysKnown: listening.some(({ keysKnown }) => keysKnown),
    storeDown: listening.some(({ counters }) => !counters.storeReachable || !counters.keysReadable),
    restarts: { ...restarts },
    degraded: deathsMs.filter((ms) => ms > since).length >= crashLoopDeaths,
    table: info,
    workers: [...registry.workers].map((handle) => ({
      worker: handle.worker.id,
      pid: handle.worker.process.pid ?? 0,
      listening: handle.listening,
      retired: handle.retired,
      privateBytes: handle.privateBytes,
    })),
  }
}

/**
 * The console's counts of every worker since the last call, drained ones included. A worker that
 * does not answer in time loses its own.
 */
export async function takeTraffic(
  registry: WorkerRegistry,
  ms: number,
): Promise<readonly TrafficCounts[]> {
  const taken: TrafficCounts[] = []
  await registry.requestAll(
    registry.listening(),
    { kind: 'takeTraffic' },
    {
      isAnswer: (message) => {
        if (message.kind !== 'trafficTaken') return false
        if (message.counts !== undefined) taken.push(message.counts)
        return true
      },
      ms,
    },
  )
  return [...taken, ...registry.takeLeftTraffic()]
}
