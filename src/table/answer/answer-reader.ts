// What answers are made of: a table's views, its texts, and the parts of answers that many share.

import type { SectionViews } from '../../schema/table-sections.ts'
import { type AnswerParts, openAnswerParts } from './answer-parts.ts'
import { type Strings, openStrings } from '../file/string-section.ts'

export interface AnswerReader {
  readonly id: string
  readonly views: SectionViews
  readonly strings: Strings
  readonly parts: AnswerParts
}

export function openAnswerReader({ id, views }: Pick<AnswerReader, 'id' | 'views'>): AnswerReader {
  const strings = openStrings(views)
  return { id, views, strings, parts: openAnswerParts(views, strings) }
}
