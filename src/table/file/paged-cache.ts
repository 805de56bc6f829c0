// What is made of a table's ids is kept, as the same networks, places and texts come again and again.
// Bounded, so that a scan of the whole world does not fill memory; emptied whole where the bound is
// reached, which costs less than to know what is old.

/**
 * What is kept lies in pages by id. A map of it took longer to ask than all else in an answer, and
 * one array of a place for each id holds up the loop for 12 ms where a table is opened.
 */
const pageBits = 10
const pageIds = 2 ** pageBits

/**
 * `make`, but of each id below `ids` once, as long as no more than `max` of them are kept. Of what is
 * no id (in a damaged table that nobody has verified) it is made each time.
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
