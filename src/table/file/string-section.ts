// Texts of the table: every string once, by id; id 0 is ''. Decoded strings are kept, as
// organizations, cities and providers recur in answers.

import type { SectionViews } from '../../schema/table-sections.ts'
import { pagedCache } from './paged-cache.ts'

/** At most so many strings are kept decoded: about 8 MB, and 2 MB of the cache's own. */
const keptMax = 65_536

export interface Strings {
  /** Text of `id`; '' where there is none. */
  text(id: number): string
}

export function openStrings(views: Pick<SectionViews, 'string_offsets' | 'string_bytes'>): Strings {
  const { string_offsets: offsets, string_bytes: bytes } = views
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const text = pagedCache({ ids: offsets.length, max: keptMax }, (id) =>
    decoder.decode(bytes.subarray(offsets[id] ?? 0, offsets[id + 1] ?? 0)),
  )
  return { text: (id) => (id === 0 ? '' : text(id)) }
}
