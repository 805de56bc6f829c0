// Texts of the table: every string once, by id; id 0 is ''. Decoded strings are kept, as
// organizations, cities and providers recur in answers.

import type { SectionViews } from '../../schema/table-sections.ts'
import { listPlace } from './bounded-list.ts'
import { pagedCache } from './paged-cache.ts'

/** At most so many strings are kept decoded: about 8 MB, and 2 MB of the cache's own. */
const keptMax = 65_536

/** What a reader takes of a text: far more than any has, and little enough to be read at once. */
const readBytesMax = 65_536

export interface Strings {
  /** Text of `id`; '' where there is none. */
  text(id: number): string
}

export function openStrings(views: Pick<SectionViews, 'string_offsets' | 'string_bytes'>): Strings {
  const { string_offsets: offsets, string_bytes: bytes } = views
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const text = pagedCache({ ids: offsets.length, max: keptMax }, (id) => {
    const of = { section: 'string_offsets', length: bytes.length, max: readBytesMax }
    const { from, to } = listPlace(offsets, id, of)
    return decoder.decode(bytes.subarray(from, to))
  })
  return { text: (id) => (id === 0 ? '' : text(id)) }
}
