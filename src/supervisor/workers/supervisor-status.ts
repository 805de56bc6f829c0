// What the supervisor reports of itself and of its workers, for /status and the metrics.

import type { TableInfo } from '../../http/exchange/served-table.ts'
import type { RestartCause } from './worker-registry.ts'

export interface WorkerStatus {
  readonly worker: number
  readonly pid: number
  readonly listening: boolean
  readonly retired: boolean
  readonly privateBytes: number
}

export interface SupervisorStatus {
  readonly listening: number
  /** How many of those answer from a table, the new one or the one before it. */
  readonly answering: number
  /** At least one of them has read the keys; then the server takes requests. */
  readonly keysKnown: boolean
  /** Workers that died and were replaced, by cause. */
  readonly restarts: Readonly<Record<RestartCause, number>>
  /** Workers die again and again. */
  readonly degraded: boolean
  readonly table: TableInfo | undefined
  readonly workers: readonly WorkerStatus[]
}
