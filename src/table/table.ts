// What an open table can do, for programs that embed it and for the server. A table is
//   opened     open-table.ts in place, open-copied-table.ts by a private copy; file/table-view.ts
//   verified   file/verify/verify-table.ts
//   looked up  lookup/query.ts (text), lookup/locate.ts (the rules), lookup/search.ts
//   answered   answer/answer-writer.ts as bytes, answer/check-address.ts as an object
//   explained  explain/insights.ts

import type { CheckAnswer } from '../api/check-answer.ts'
import type { Day } from '../base/day.ts'
import type { AnswerBytes } from './answer/answer-writer.ts'
import type { ListMatcher } from '../lists/list-matcher.ts'
import type { Query } from './lookup/query.ts'
import type { LookupBatch } from './lookup/lookup-batch.ts'
import type { Located } from './lookup/locate.ts'
import type { Source } from './file/table-source.ts'
import type { TableCoverage } from '../model/coverage.ts'

export interface Table {
  readonly path: string
  /** Hash of the content: the same inputs give the same id. */
  readonly id: string
  /** The day that counts as today for this table. */
  readonly asOf: Day
  readonly bytes: number
  readonly sources: readonly Source[]
  readonly coverage: TableCoverage
  /**
   * The whole answer for an address as text; `undefined` if the text is not an address. Inner
   * objects are frozen and shared with other answers.
   */
  check(text: string): CheckAnswer | undefined
  /**
   * The same answer as JSON bytes, exactly JSON.stringify of `check`, good until the next call of
   * any table. `query.family` must not be 0. `found`: where this table located it, if known.
   */
  answer(query: Query, found?: Located): AnswerBytes
  /** Looks up a batch, whose `located` are for `answer`, and reads ahead for those answers. */
  prepare(batch: LookupBatch): void
  /** Answers with these own lists from now on; `undefined`: without. */
  useLists(lists: ListMatcher | undefined): void
  /** Unmaps the file. Any use afterwards throws; views must not outlive it. */
  close(): void
}
