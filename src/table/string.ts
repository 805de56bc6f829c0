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
  // By id: a look-up in a map of this size took longer than all else in an answer.
  const newKept = (): (string | undefined)[] => Array.from({ length: offsets.length })
  let kept = newKept()
  let count = 0
  return {
    text(id) {
      if (id === 0) return ''
      const known = kept[id]
      if (known !== undefined) return known
      const text = decoder.decode(bytes.subarray(offsets[id] ?? 0, offsets[id + 1] ?? 0))
      if (count >= keptMax) {
        kept = newKept()
        count = 0
      }
      kept[id] = text
      count += 1
      return text
    },
  }
}
