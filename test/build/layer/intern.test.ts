import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newInterner, newTupleInterner } from '../../../build/layer/intern.ts'

const word = fc.integer({ min: 0, max: 0xffff_ffff })
const small = fc.integer({ min: 0, max: 3 })

describe('newTupleInterner', () => {
  it('numbers tuples as a map of strings does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.tuple(word, word, word, word), fc.tuple(small, small, small, small))),
        (tuples) => {
          const interner = newTupleInterner()
          const twin = new Map<string, number>()
          for (const tuple of tuples) {
            const key = tuple.join()
            if (!twin.has(key)) twin.set(key, twin.size)
            expect(interner.id(...tuple)).toBe(twin.get(key))
          }
          expect(interner.count).toBe(twin.size)
          expect([...twin.keys()].join()).toBe([...interner.words()].join())
        },
      ),
    )
  })

  it('keeps every number while it grows', () => {
    const interner = newTupleInterner()
    const count = 300_000
    for (let i = 0; i < count; i++) interner.id(i, i >>> 3, 7, i * 2)
    for (let i = 0; i < count; i += 97) expect(interner.id(i, i >>> 3, 7, i * 2)).toBe(i)
    expect(interner.count).toBe(count)
  })
})

describe('newInterner', () => {
  it('gives ids in order of first appearance', () => {
    const interner = newInterner<string>((text) => text, 1)
    expect(['b', 'a', 'b', 'c', 'a'].map((text) => interner.id(text))).toEqual([1, 2, 1, 3, 2])
    expect(interner.values).toEqual(['b', 'a', 'c'])
  })
})
