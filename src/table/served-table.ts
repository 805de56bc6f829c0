// A table file as the processes of a server speak of it: the verified private copy that all workers
// open, and what the primary must know of it once it is open.

import type { Day } from '../base/day.ts'
import type { TableCoverage } from '../model/coverage.ts'
import type { DataSetName, Source } from './file/table-source.ts'

/** An address and the whole answer for it, as JSON. */
export interface KnownAnswer {
  readonly address: string
  readonly answer: string
}

/** A verified table file, the primary's private copy. */
export interface VerifiedTableFile {
  readonly table: number
  readonly path: string
  /** When the operator's file was written, milliseconds since the epoch. */
  readonly builtMs: number
  /** What the verifying process was told by it: a worker that is told otherwise refuses it. */
  readonly known?: readonly KnownAnswer[]
}

/** Own lists, compiled by the primary (src/lists/compile/list-file.ts); versions rise by its count. */
export interface ListFile {
  readonly version: number
  readonly path: string
}

/** What the primary must know of an open table. */
export interface TableInfo {
  readonly id: string
  readonly asOf: Day
  readonly bytes: number
  readonly coverage: TableCoverage
  readonly sources: readonly (Required<Pick<Source, 'id' | 'day' | 'quarantined' | 'entries'>> & {
    /** Absent for a feed. */
    readonly dataSet?: DataSetName | undefined
  })[]
}
