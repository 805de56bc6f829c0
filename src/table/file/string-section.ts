// Texts of the table: every string once, by id; id 0 is ''. Decoded strings are cached.

import type { SectionViews } from '../../schema/table-sections.ts'
import { listPlace } from './table-corrupt.ts'

/** At most so many strings are kept decoded: about 8 MB, and 2 MB of the cache's own. */
const keptMax = 65_536

/** Far more than any text has, and little enough to be read at once. */
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

/** A Map is slower than all else in an answer; one whole array stalls the loop for 12 ms at first. */
const pageBits = 10
const pageIds = 2 ** pageBits

/**
 * Caches at most `max` values, of ids below `ids`, and is emptied whole at the bound, which costs
 * less than to know what is old. Any other id (in a damaged table that was not verified) is not
 * cached.
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
      // At its full length, or V8 would make a dictionary of one with few members.
      page = Array.from<undefined>({ length: pageIds })
      pages[id >>> pageBits] = page
    }
    page[id & (pageIds - 1)] = made
    count += 1
    return made
  }
  return (id) => {
    // Said this way for NaN.
    if (!(id >= 0 && id < ids)) return make(id)
    return pages[id >>> pageBits]![id & (pageIds - 1)] ?? add(id)
  }
}
