// What answers are made of: a table's views, its texts, and the parts of answers that many share.

import type { Views } from '../../schema/table-sections.ts'
import { type Parts, openParts } from './answer-parts.ts'
import { type Strings, openStrings } from '../file/string-section.ts'

export interface Reader {
  readonly id: string
  readonly views: Views
  readonly strings: Strings
  readonly parts: Parts
}

export function openReader({ id, views }: Pick<Reader, 'id' | 'views'>): Reader {
  const strings = openStrings(views)
  return { id, views, strings, parts: openParts(views, strings) }
}
