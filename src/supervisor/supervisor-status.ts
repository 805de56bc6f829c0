// What the supervisor reports of its workers, for /status, the metrics and the console.

import type { TableInfo } from '../table/served-table.ts'
import type { TrafficCounts } from '../observe/traffic-counter.ts'
import type { RestartCause, WorkerRegistry } from './worker-registry.ts'

export type WorkerStatus = ReturnType<typeof supervisorStatus>['workers'][number]

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
}) {
  // A retired worker would be counted beside its successor.
  const listening = registry.listening().filter(({ retired }) => !retired)
  const answering = listening.filter((handle) => handle.table !== 0)
  const since = performance.now() - crashLoopWindowMs
  return {
    listening: listening.length,
    /** With the new table or the one before it. */
    answering: answering.length,
    /** At least one of them has read the keys; then the server takes requests. */
    keysKnown: listening.some(({ keysKnown }) => keysKnown),
    /** One of them does not reach the store, or its disk is full: keys with a quota may get 503. */
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
