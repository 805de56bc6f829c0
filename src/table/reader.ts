// What answers are made of: a table's views, its texts, and the parts of answers that many share.

import type { Views } from '../schema/section.ts'
import { type Parts, openParts } from './part.ts'
import { type Strings, openStrings } from './string.ts'

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
