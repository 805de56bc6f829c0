// Texts of the table: every string once, by id; id 0 is ''. Decoded strings are kept, as
// organizations, cities and providers recur in answers; the cache is bounded so that a scan of the
// whole world does not fill memory.

import type { Views } from '../schema/section.ts'

/** Strings kept decoded at most: about 8 MB. */
const keptMax = 65_536

/**
 * Kept strings lie in pages by id. A map of them took longer to ask than all else in an answer, and
 * one array of a place for each string holds up the loop for 12 ms where a table is opened.
 */
const pageBits = 10

export interface Strings {
  /** Text of `id`; '' where there is none. */
  text(id: number): string
}

export function openStrings(views: Pick<Views, 'string_offsets' | 'string_bytes'>): Strings {
  const { string_offsets: offsets, string_bytes: bytes } = views
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const pageCount = (offsets.length >>> pageBits) + 1
  const newPages = (): (string | undefined)[][] => Array.from({ length: pageCount }, () => [])
  let pages = newPages()
  let count = 0
  return {
    text(id) {
      const page = pages[id >>> pageBits]
      if (id === 0 || page === undefined) return ''
      const at = id & ((1 << pageBits) - 1)
      const known = page[at]
      if (known !== undefined) return known
      const text = decoder.decode(bytes.subarray(offsets[id] ?? 0, offsets[id + 1] ?? 0))
      if (count >= keptMax) {
        pages = newPages()
        count = 0
      }
      pages[id >>> pageBits]![at] = text
      count += 1
      return text
    },
  }
}
