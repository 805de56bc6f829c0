// Where a list of the table lies, for readers that walk it. In a table that was verified every list
// is sound (verify-table.ts, verify-values.ts); in one that was not, a list may claim all the
// memory there is, and who walks it must say so at once.

import type { SectionView } from '../../schema/table-sections.ts'
import { tableCorrupt } from './trailer.ts'

/** The elements [from, to) of one list. */
export interface ListPlace {
  readonly from: number
  readonly to: number
}

/**
 * Of list `list`, whose place `offsets` names; empty where there is no such list. Throws
 * `table_corrupt` where it has more than `max` elements or ends behind element `length`.
 */
export function listPlace(
  offsets: Uint32Array,
  list: number,
  of: { readonly section: string; readonly length: number; readonly max: number },
): ListPlace {
  const from = offsets[list] ?? 0
  const to = offsets[list + 1] ?? from
  if (to > of.length || to - from > of.max) {
    throw damaged(offsets, of.section, list + 1, `a list ends at ${to}`)
  }
  return { from, to }
}

/** `table_corrupt` for an element of a view that is mapped; the file begins where its map does. */
export function damaged(view: SectionView, section: string, element: number, why: string): Error {
  const offset = view.byteOffset + element * view.BYTES_PER_ELEMENT
  return tableCorrupt('The table', section, offset, `${why} (nobody has verified it)`)
}
