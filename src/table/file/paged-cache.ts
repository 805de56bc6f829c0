// Caches what is made of a table's ids: the same networks, places and texts come again and again.
// It is bounded, so that a scan of the whole world does not fill memory, and emptied whole at the
// bound, which costs less than to know what is old.

/**
 * Values lie in pages by id. Lookups in a Map took longer than all else in an answer, and one array
 * with an element for each id stalls the loop for 12 ms when a table is opened.
 */
const pageBits = 10
const pageIds = 2 ** pageBits

/**
 * `make` with a cache of at most `max` values, of ids below `ids`. For any other id (in a damaged
 * table that was not verified) the value is made each time.
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
