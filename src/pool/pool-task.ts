// What crosses between a worker and its pool threads: plain data and bytes, copied, moved or shared
// (SharedArrayBuffer), never views of a table.
// A task is a round trip (50 to 100 us); its items are pieces of requests that share one table.

import type { BatchFault } from '../api/input-fault.ts'
import type { AskedMembers } from '../context/asked-members.ts'
import type { Context } from '../context/context.ts'
import type { ChosenPolicy } from '../model/policy-form.ts'
import type { MappedRegion } from '../base/system/memory-map.ts'
import type { CollectedFacts, WantedFacts } from '../observe/answer-facts.ts'
import type { AnswerLabels } from '../table/answer/answer-reader.ts'
import type { LineTask, LinesResult } from '../bulk/answer-lines.ts'

/** The table that a task began with; `number` is the primary's. */
export interface TaskTable {
  readonly number: number
  readonly path: string
  /** When the operator's file was written, milliseconds since the epoch. */
  readonly builtMs: number
  /** Own lists; each version has a file of its own. */
  readonly lists?: { readonly version: number; readonly path: string } | undefined
}

export type TaskItem =
  /** The body of a batch, to count and cut into pieces. */
  | {
      readonly kind: 'read'
      readonly body: Uint8Array
      /** Policies that elements may name; `undefined` where names are ignored. */
      readonly allowed?: readonly string[] | undefined
    }
  /** A piece of a batch, as `read` cut it; its answers go into the shared memory `into`. */
  | {
      readonly kind: 'checks'
      readonly texts: Uint8Array
      readonly into?: Uint8Array
      readonly policy?: ChosenPolicy | undefined
      /** For elements that name one, keyed by name. */
      readonly policies?: ReadonlyMap<string, ChosenPolicy | undefined>
      readonly facts?: WantedFacts | undefined
      readonly asked?: AskedMembers
    }
  | {
      readonly kind: 'insights'
      readonly text: string
      readonly context?: Context | undefined
      readonly policy?: ChosenPolicy | undefined
      readonly facts?: WantedFacts | undefined
      readonly asked?: AskedMembers
    }
  /** Whole lines of a file, each with an address; `into` moves there and comes back. */
  | {
      readonly kind: 'lines'
      readonly lines: Uint8Array
      readonly how: LineTask
      readonly into?: Uint8Array | undefined
    }
export type ItemResult =
  | {
      readonly kind: 'read'
      /** Why the body is not a batch; `count` is then 0. */
      readonly fault: BatchFault | undefined
      readonly member: 'ips' | 'checks'
      readonly count: number
      /** The body's `policy`; null if it is not a text, absent if there is none. */
      readonly policy?: string | null | undefined
      readonly valid: number
      readonly named: readonly string[]
      /** Piece i is [cuts[i] … cuts[i + 1]) of the body, or of what it was rewritten to. */
      readonly cuts: Uint32Array
      /** Not in shared memory, which V8 does not count. */
      readonly rewritten: Uint8Array | undefined
    }
  /** JSON: the results of a piece, comma-separated, or one whole answer. */
  | {
      readonly kind: 'answered'
      readonly json: Uint8Array
      readonly answers: readonly number[]
      readonly labels?: AnswerLabels | undefined
      readonly facts: CollectedFacts | undefined
    }
  | LinesResult
  /** The name and stack of an error, without its message, which may hold an address. */
  | { readonly kind: 'failed'; readonly error: string; readonly at: readonly string[] }

export interface PoolTask {
  /** Mapped until no item of any thread uses it. */
  readonly table: TaskTable & { readonly place: MappedRegion }
  readonly items: readonly TaskItem[]
}

export interface TaskResult {
  /** When the thread began with it, in milliseconds of the machine's clock (base/system/clock.ts).
   * */
  readonly startMs: number
  readonly runMs: number
  readonly results: ItemResult[]
}

export interface ThreadData {
  /** The thread takes the lowest priority. */
  readonly yielding: boolean
}
