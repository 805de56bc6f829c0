// A table file as a server's processes name it: the private copy that all workers open.

import type { Day } from '../base/day.ts'
import type { TableCoverage } from '../model/coverage.ts'
import type { DataSetName, Source } from './file/table-source.ts'

export interface KnownAnswer {
  readonly address: string
  readonly answer: string
}

export interface VerifiedTableFile {
  readonly table: number
  readonly path: string
  readonly builtMs: number
  /** Answers of the verifying process: a worker with others refuses the table. */
  readonly known?: readonly KnownAnswer[]
}

/** Compiled by the primary (src/lists/compile/list-file.ts); versions rise. */
export interface ListFile {
  readonly version: number
  readonly path: string
}

export interface TableInfo {
  readonly id: string
  readonly asOf: Day
  readonly bytes: number
  readonly coverage: TableCoverage
  readonly sources: readonly (Required<Pick<Source, 'id' | 'day' | 'quarantined' | 'entries'>> & {
    readonly dataSet?: DataSetName | undefined
  })[]
}
