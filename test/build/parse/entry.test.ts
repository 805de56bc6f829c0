// What is kept of an entry when its range is read: all of it.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Entry, rangeOf, withRange } from '../../../build/parse/entry.ts'
import { botCategories } from '../../../src/model/kind.ts'
import { parseRange } from '../../../src/ip/range.ts'

const word = fc.constantFrom('', 'Example')

const entries: fc.Arbitrary<Entry> = fc.record(
  {
    text: fc.constantFrom('192.0.2.1', '2001:db8::/32', '192.0.2.1-192.0.2.9', 'AS64496', 'hello'),
    place: fc.constantFrom('line 1', '/prefixes/3/ip_prefix'),
    provider: word,
    category: fc.constantFrom(...botCategories),
    lists: fc.nat({ max: 3 }),
    name: word,
    label: word,
  },
  { requiredKeys: ['text', 'place'] },
)

describe('withRange', () => {
  it('adds the range to what the entry says, and to what is none nothing', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const range = parseRange(entry.text)
        expect(withRange(entry)).toStrictEqual(range === undefined ? entry : { ...entry, range })
        expect(rangeOf(withRange(entry))).toEqual(range)
      }),
    )
  })
})
