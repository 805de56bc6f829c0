// The table's texts, each once; id 0 is ''. Decoded strings are cached.

import type { SectionViews } from '../../schema/table-sections.ts'
import { listPlace } from './table-corrupt.ts'

/** Decoded strings kept: about 8 MB, and 2 MB of the cache itself. */
const keptMax = 65_536

/** Far more than any text has. */
const readBytesMax = 65_536

export interface Strings {
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

/** A Map is slower than the rest of an answer; allocating one array blocks the loop for 12 ms. */
const pageBits = 10
const pageIds = 2 ** pageBits

/**
 * Caches at most `max` values for ids below `ids`, and is emptied at the limit, which is cheaper
 * than tracking age. Other ids (of a damaged, unverified table) are not cached.
 */
export function pagedCache<T extends object | string>(
  { ids, max }: { readonly ids: number; readonly max: number },
  make: (id: number) => T,
): (id: number) => T {
  const pageCount = Math.ceil(ids / pageIds)
  const newPages = (): (T | undefined)[][] => Array.from({ length: pageCount }, () => [])
  let pages = newPages()
  let count = 0
  const add = (id: number): T => {
    const made = make(id)
    if (count >= max) {
      pages = newPages()
      count = 0
    }
    let page = pages[id >>> pageBits]!
    if (page.length === 0) {
      // At full length, or V8 would make a sparse array a dictionary.
      page = Array.from<undefined>({ length: pageIds })
      pages[id >>> pageBits] = page
    }
    page[id & (pageIds - 1)] = made
    count += 1
    return made
  }
  return (id) => {
    // Also true for NaN.
    if (!(id >= 0 && id < ids)) return make(id)
    return pages[id >>> pageBits]![id & (pageIds - 1)] ?? add(id)
  }
}
