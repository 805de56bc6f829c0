// What to do with a piece of lines, and its result.

import type { CheckField, CheckFormat } from '../config/line-formats.ts'
import type { ChosenPolicy } from '../model/policy-form.ts'
import type { LineFormat } from './line-field.ts'
import type { LineTally } from './line-tally.ts'

/** What to do with lines. */
export interface LineTask {
  readonly form: LineFormat
  /** Answers as JSON lines, as rows of CSV, as lines for people; or only counts, of logs too. */
  readonly output: CheckFormat | 'tally' | 'addresses'
  /** The columns of CSV. */
  readonly fields: readonly CheckField[]
  /** Of JSON lines: what decides them; absent without policies. */
  readonly policy?: ChosenPolicy
  /** Of lines for people, the column of addresses; that of IPv4 by default. */
  readonly addressWidth?: number
}

/** A line that names no address. */
export interface BadLine {
  /** Among the lines of its piece, from 0. */
  readonly line: number
  /** The text in place of the address, cut off where it is long. */
  readonly text: string
}

/** A piece of lines, answered. */
export interface LinesResult {
  readonly kind: 'lined'
  /** A line of output for each line that is not empty. */
  readonly out: Uint8Array
  /** Lines, empty ones too; those that name an address; those that should and do not. */
  readonly lines: number
  readonly addresses: number
  readonly bad: number
  /** The first bad lines. */
  readonly badLines: readonly BadLine[]
  /** Absent unless `output` is `tally` or `addresses`, which has no paths and statuses. */
  readonly tally: LineTally | undefined
}
