// What the primary asks the console's process, and what that answers: plain data and bytes.

import type { StoresSettings } from '../../account/stores/open-stores.ts'
import type { ListFile } from '../../table/served-table.ts'
import type { FeedDays } from '../feed-days.ts'
import type { Policies } from '../../model/policy-form.ts'

/** What the workers answer with just now; sent with every question, so that it is never another. */
export interface AnsweringFiles {
  /** The copy of the table that answers. */
  readonly table: string
  readonly builtMs: number
  readonly lists: ListFile | undefined
  readonly policies: Policies | undefined
  readonly stores: StoresSettings
}

export type ConsoleQuestion =
  | {
      readonly kind: 'address'
      readonly world: AnsweringFiles
      readonly ip: string
      readonly policy?: string | undefined
      readonly without: readonly string[]
      readonly days: number
    }
  /** `body` as the request brought it. */
  | { readonly kind: 'addresses'; readonly world: AnsweringFiles; readonly body: Uint8Array }
  | {
      readonly kind: 'feeds'
      readonly world: AnsweringFiles
      /** The report of the last build. */
      readonly report: string
      readonly days: FeedDays
    }
  | { readonly kind: 'changes'; readonly world: AnsweringFiles; readonly against: string }
  | {
      readonly kind: 'rehearsal'
      readonly world: AnsweringFiles
      readonly body: Uint8Array
      /** The file of the sampled checks, where the server samples. */
      readonly sample: string | undefined
    }

export interface ConsoleAnswer {
  readonly status: number
  /** JSON. */
  readonly body: Uint8Array
}
