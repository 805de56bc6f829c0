// Messages between the primary and the console's process: plain data and bytes.

import type { StoresSettings } from '../../account/stores/open-stores.ts'
import type { ListFile } from '../../table/served-table.ts'
import type { FeedDays } from '../feed-days.ts'
import type { Policies } from '../../model/policy-form.ts'

/** What workers answer with, sent with every question. */
export interface AnsweringFiles {
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
      readonly userAgent?: string | undefined
      readonly previous?: { readonly ip: string; readonly at: string } | undefined
    }
  /** `body`: the request's. */
  | { readonly kind: 'addresses'; readonly world: AnsweringFiles; readonly body: Uint8Array }
  | {
      readonly kind: 'feeds'
      readonly world: AnsweringFiles
      readonly report: string
      readonly days: FeedDays
    }
  | {
      readonly kind: 'network'
      readonly world: AnsweringFiles
      readonly of: string
      readonly against: string | undefined
    }
  | { readonly kind: 'set'; readonly world: AnsweringFiles; readonly condition: string }
  | { readonly kind: 'changes'; readonly world: AnsweringFiles; readonly against: string }
  | {
      readonly kind: 'rehearsal'
      readonly world: AnsweringFiles
      readonly body: Uint8Array
      readonly sample: string | undefined
    }

export interface ConsoleAnswer {
  readonly status: number
  /** JSON. */
  readonly body: Uint8Array
}
