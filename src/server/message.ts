// What the primary and its workers say to each other, and nothing else crosses between them. Plain
// data: it travels by node:cluster's channel as JSON.
//
//   primary            worker
//      ◀── hello ─────── it runs
//      ─── start ──────▶ settings, and the table in use
//      ◀── listening ─── it answers on the port
//      ─── open ───────▶ map a new table beside the old one
//      ◀── opened ────── (or refused)
//      ─── swap ───────▶ answer from the new one, unmap the old one
//      ◀── swapped ─────
//      ─── plans ──────▶ the plans of the configuration have changed
//      ─── count ──────▶
//      ◀── counted ───── its counters, also by itself every second
//      ─── drain ──────▶ stop listening, finish what is under way
//      ◀── drained ───── and it exits
//
// `table` is a number that the primary gives to each table file that it has verified.

import type { Day } from '../base/day.ts'
import type { LogLevel } from '../base/log.ts'
import type { Plans } from '../config/plan.ts'
import type { CounterSnapshot } from './counters.ts'

/** What a worker must know before it can listen. */
export interface WorkerSettings {
  readonly host: string
  readonly port: number
  readonly stateFolder: string
  readonly plans: Plans
  readonly logLevel: LogLevel
  /** Log lines name the addresses of clients and checks. */
  readonly logAddresses: boolean
}

/** A verified table file, the primary's private copy. */
export interface TableFile {
  readonly table: number
  readonly path: string
}

/** What the primary must know of an open table. */
export interface TableInfo {
  readonly id: string
  readonly asOf: Day
  readonly bytes: number
  readonly sources: readonly {
    readonly id: string
    readonly day: Day
    readonly quarantined: boolean
  }[]
}

export type ToWorker =
  | {
      readonly kind: 'start'
      readonly settings: WorkerSettings
      readonly file: TableFile | undefined
    }
  | { readonly kind: 'open'; readonly file: TableFile }
  | { readonly kind: 'swap'; readonly table: number }
  | { readonly kind: 'count' }
  | { readonly kind: 'drain' }

/** Taken in by worker-main.ts, before the worker's own messages. */
export interface PlansChange {
  readonly kind: 'plans'
  readonly plans: Plans
}

export type ToPrimary =
  | { readonly kind: 'hello' }
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'opened'; readonly table: number; readonly info: TableInfo }
  | { readonly kind: 'refused'; readonly table: number; readonly message: string }
  | { readonly kind: 'swapped'; readonly table: number; readonly info: TableInfo }
  | { readonly kind: 'counted'; readonly counters: CounterSnapshot }
  | { readonly kind: 'drained' }
