// Every message between the primary and its workers. Plain data: it travels by node:cluster's
// channel as JSON.
//
//   primary            worker
//      ◀── hello ─────── it runs
//      ◀── beat ──────── its loop turns, ten times a second from then on
//      ─── start ──────▶ settings, and the table in use
//      ◀── keys ──────── whether it has the keys, if not from the beginning
//      ◀── listening ─── it answers on the port
//      ─── open ───────▶ map a new table beside the old one, and try it
//      ◀── opened ────── (or refused)
//      ─── swap ───────▶ answer from the new one, unmap the old one
//      ◀── swapped ─────
//      ─── drain ──────▶ answer with close, stop listening, finish open requests; a later drain
//                        may shorten it
//      ◀── drained ───── and it exits
//
// `table` is a number that the primary gives to each table file that it has verified.

import type { BouncerSettings } from '../adapters/crowdsec/bouncer-endpoint.ts'
import type { ListFolders } from '../adapters/lists/list-endpoint.ts'
import type { GateSettings } from '../adapters/gate/gate.ts'
import type { KeyDirectory } from '../agents/key-directory.ts'
import type { LogLevel } from '../base/log.ts'
import type { Plans } from '../config/plan.ts'
import type { Policies } from '../model/policy-form.ts'
import type { Settings, StoreSettings } from '../config/settings.ts'
import type { LogAddressSettings } from '../observe/log-address.ts'
import type { DecisionLogSettings } from '../observe/decision-log.ts'
import type { CounterSnapshot } from '../observe/request-counters.ts'
import type { LoopPause } from '../observe/loop-lag.ts'
import type { TrafficCounts } from '../observe/traffic-counter.ts'
import type { SampledCheck } from '../observe/sample-file.ts'
import type { TlsFiles } from '../http/listen/tls-files.ts'
import type { ListFile, VerifiedTableFile, TableInfo } from '../table/served-table.ts'

/** What is absent is off. */
export interface WorkerSettings {
  readonly host: string
  readonly port: number
  readonly stateFolder: string
  readonly store: StoreSettings
  readonly plans: Plans
  readonly policies?: Policies | undefined
  readonly tls?: TlsFiles | undefined
  readonly gate?: GateSettings | undefined
  readonly bouncers?: BouncerSettings | undefined
  readonly listFolders?: ListFolders
  readonly agents?: Settings['agents']
  readonly agentKeys?: readonly KeyDirectory[] | undefined
  readonly logLevel: LogLevel
  readonly logAddresses: boolean
  readonly connections: { readonly all: number; readonly perAddress: number }
  /** Room for bodies in flight (body-budget.ts); `bodyBudgetBytesMax` by default. */
  readonly bodiesBytes?: number
  readonly logAddressForm?: LogAddressSettings['logAddressForm']
  readonly logAddressKeyFile?: string | undefined
  readonly decisionLog?: DecisionLogSettings | undefined
  readonly sampling?: boolean
  readonly countsTraffic?: boolean
  readonly docs?: boolean
  readonly pool: { readonly threads: number; readonly queue: number }
}

export interface StartMessage {
  readonly kind: 'start'
  readonly settings: WorkerSettings
  readonly file: VerifiedTableFile | undefined
  /** Own lists, if there are any. `unknown`: it answers 503 until a `lists` message comes. */
  readonly lists?: ListFile | 'unknown' | undefined
  /** The table was verified for others a while ago: its copy may have been damaged since. */
  readonly isReplacement?: boolean
}

export type ToWorker =
  | StartMessage
  | { readonly kind: 'open'; readonly file: VerifiedTableFile }
  | { readonly kind: 'swap'; readonly table: number }
  /** `request` is in the answer: one to an earlier request says nothing about this one. */
  | { readonly kind: 'readKeys'; readonly request: number }
  /** Without a file there are no lists any more. */
  | { readonly kind: 'lists'; readonly file: ListFile | undefined }
  | PoliciesMessage
  | AgentKeysMessage
  /** A worker has died: return its leased quota. */
  | { readonly kind: 'takeOver' }
  /** Which checks of the sample matter from now on. */
  | { readonly kind: 'drawBelow'; readonly lot: number }
  | { readonly kind: 'count' }
  | { readonly kind: 'takeTraffic' }
  | {
      readonly kind: 'drain'
      /** Until the port is closed; answers have close from the beginning. */
      readonly graceMs?: number
      /** From then on, in which clients that reuse a connection are still answered. */
      readonly lingerMs?: number
      /** From then on, after which it ends whatever is still open. */
      readonly drainMs?: number
    }

export interface PoliciesMessage {
  readonly kind: 'policies'
  readonly policies: Policies
}

export interface AgentKeysMessage {
  readonly kind: 'agentKeys'
  readonly agentKeys: readonly KeyDirectory[]
}

/** Handled by worker-main.ts, before the worker's own messages. */
export interface PlansMessage {
  readonly kind: 'plans'
  readonly plans: Plans
}

export type ToPrimary =
  | { readonly kind: 'hello' }
  | { readonly kind: 'beat' }
  | { readonly kind: 'keys'; readonly known: boolean }
  | { readonly kind: 'keysRead'; readonly request: number; readonly done: boolean }
  /** `version` 0: without lists. */
  | { readonly kind: 'listsUsed'; readonly version: number; readonly done: boolean }
  | { readonly kind: 'listening' }
  /** A reader requests these texts of a published set: a new generation may be due. */
  | { readonly kind: 'pulled'; readonly set: string; readonly texts: readonly string[] }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'opened'; readonly table: number; readonly info: TableInfo }
  | { readonly kind: 'refused'; readonly table: number; readonly message: string }
  | {
      readonly kind: 'swapped'
      readonly table: number
      readonly info: TableInfo
      /** The longest of opening, swapping and closing. */
      readonly pause: LoopPause
    }
  /** Also by itself every second. */
  | { readonly kind: 'counted'; readonly counters: CounterSnapshot }
  | { readonly kind: 'trafficTaken'; readonly counts: TrafficCounts | undefined }
  | { readonly kind: 'sampled'; readonly checks: readonly SampledCheck[] }
  | {
      readonly kind: 'drained'
      /** Requests still open when the drain time was over. */
      readonly cutOff: number
      /** What it has counted for the console since the last request. */
      readonly traffic: TrafficCounts | undefined
    }
