// What answers are made of: a table's views, its texts, and the parts of answers that many share.

import type { SectionViews } from '../../schema/table-sections.ts'
import { type AnswerParts, openAnswerParts } from './answer-parts.ts'
import type { CoverageAnswer } from '../../api/coverage-answer.ts'
import type { ListMatcher } from '../../lists/list-matcher.ts'
import { type Strings, openStrings } from '../file/string-section.ts'

export interface AnswerReader {
  readonly id: string
  readonly views: SectionViews
  readonly strings: Strings
  readonly parts: AnswerParts
  /** In every answer but a bogon's. Only open-table.ts changes it, and makes its writer anew. */
  coverage: CoverageAnswer | undefined
  /** The operator's own lists (own-lists.ts); only `useLists` of open-table.ts changes them. */
  lists: ListMatcher | undefined
}

export function openAnswerReader({
  id,
  views,
  coverage,
}: Pick<AnswerReader, 'id' | 'views'> & {
  readonly coverage?: CoverageAnswer | undefined
}): AnswerReader {
  const strings = openStrings(views)
  const parts = openAnswerParts(views, strings)
  return { id, views, strings, parts, coverage, lists: undefined }
}
