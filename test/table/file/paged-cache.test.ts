// What is kept of a table's ids: made once, bounded, and right for ids that the table does not
// have.

import { describe, expect, it } from 'vitest'
import { pagedCache } from '../../../src/table/file/string-section.ts'

function counted(options: { readonly ids: number; readonly max: number }) {
  const made: number[] = []
  const of = pagedCache(options, (id) => {
    made.push(id)
    return { id }
  })
  return { made, of }
}

describe('what is kept', () => {
  it('is made once, and is of its id, in whatever order they come', () => {
    const { made, of } = counted({ ids: 5000, max: 5000 })
    const ids = Array.from({ length: 5000 }, (_, i) => (i * 3001) % 5000)
    for (const id of [...ids, ...ids.toReversed()]) expect(of(id).id).toBe(id)
    expect(made).toEqual(ids)
    expect(of(7)).toBe(of(7))
  })

  it('is never more than the bound, and made again beyond it', () => {
    const { made, of } = counted({ ids: 100, max: 10 })
    for (let round = 0; round < 3; round++) {
      for (let id = 0; id < 30; id++) expect(of(id).id).toBe(id)
    }
    expect(made.length).toBe(90)
    of(29)
    expect(made.length).toBe(90)
  })

  it('is not kept of an id that there is none of', () => {
    const { made, of } = counted({ ids: 10, max: 10 })
    of(0)
    const none = [10, 10, 2 ** 31, 1023, 1024, -1, -1, -5, Number.NaN, Number.NaN]
    for (const id of none) expect(of(id).id).toBe(id)
    expect(made).toEqual([0, ...none])
  })
})
