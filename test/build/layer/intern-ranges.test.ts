import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newRangeInterner } from '../../../build/layer/intern.ts'
import { type Range, parseRange } from '../../../src/ip/range.ts'

const texts = ['0.0.0.0', '0.0.0.4', '0.0.0.0-0.0.0.6', '192.0.2.0/24', '::', '::4', '::/64']
const more = ['2001:db8::1', '2001:db8::/32', '2001:db8::1-2001:db8::2']

describe('newRangeInterner', () => {
  it('numbers what is said of ranges as a map of texts does', () => {
    const said = fc.constantFrom(0, 1, 2, 0xffff_ffff)
    const text = fc.constantFrom('', ...texts, ...more)
    fc.assert(
      fc.property(fc.array(fc.tuple(said, text), { maxLength: 60 }), (all) => {
        const interner = newRangeInterner()
        const twin = new Map<string, number>()
        for (const [number, text] of all) {
          const key = `${number} ${text}`
          if (!twin.has(key)) twin.set(key, twin.size)
          const range = text === '' ? undefined : (parseRange(text) as Range)
          expect(interner.id(number, range)).toBe(twin.get(key))
        }
        expect(interner.count).toBe(twin.size)
      }),
    )
  })
})
