// Texts of the table: every string once, by id; id 0 is ''. Decoded strings are kept, as
// organizations, cities and providers recur in answers; the cache is bounded so that a scan of the
// whole world does not fill memory.

import type { Views } from '../schema/section.ts'

/** Strings kept decoded at most: about 8 MB. */
const keptMax = 65_536

export interface Strings {
  /** Text of `id`; '' where there is none. */
  text(id: number): string
}

export function openStrings(views: Pick<Views, 'string_offsets' | 'string_bytes'>): Strings {
  const { string_offsets: offsets, string_bytes: bytes } = views
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let kept = new Map<number, string>()
  return {
    text(id) {
      if (id === 0) return ''
      const known = kept.get(id)
      if (known !== undefined) return known
      const text = decoder.decode(bytes.subarray(offsets[id] ?? 0, offsets[id + 1] ?? 0))
      if (kept.size >= keptMax) kept = new Map()
      kept.set(id, text)
      return text
    },
  }
}
