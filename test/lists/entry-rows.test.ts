// The prefixes of an odd range, found by words, against the slow way of src/ip/range.ts.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Family } from '../../src/ip/address.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import { bigintToWords, maxAddress, type Range } from '../../src/ip/range.ts'
import { rangeToPrefixes } from '../ip/addresses.ts'
import { splitEnds } from '../../src/lists/compile/entry-rows.ts'
import { inForm } from '../form.ts'

function prefixesByWords({ family, first, last }: Range): readonly string[] {
  const width = family === 4 ? 1 : 4
  const ends = new Uint32Array(3 + 2 * width)
  bigintToWords(family, first, ends.subarray(3))
  bigintToWords(family, last, ends.subarray(3 + width))
  const prefixes: string[] = []
  splitEnds(ends, 3, width, (address, length) => {
    const own = address.slice(4 - width)
    prefixes.push(`${formatAddress(family, own)}/${length - 128 + width * 32}`)
  })
  return prefixes
}

/** Near powers of two, and near the ends of the space. */
const address = (family: Family): fc.Arbitrary<bigint> =>
  fc
    .tuple(
      fc.bigInt({ min: 0n, max: maxAddress(family) }),
      fc.integer({ min: 0, max: family === 4 ? 31 : 127 }),
      fc.bigInt({ min: -2n, max: 2n }),
      fc.constantFrom(0n, 1n, maxAddress(family)),
    )
    .map(([any, bit, near, end]) => {
      const value = end === 1n ? ((any >> BigInt(bit)) << BigInt(bit)) + near : end + near
      return value < 0n ? 0n : value > maxAddress(family) ? maxAddress(family) : value
    })

const range = fc.constantFrom<Family>(4, 6).chain((family) =>
  fc.tuple(address(family), address(family)).map(([a, b]): Range => {
    return { family, first: a < b ? a : b, last: a < b ? b : a }
  }),
)

describe('the prefixes of a range', () => {
  it('are those of the slow way', () => {
    const same = (one: Range): void => {
      expect(prefixesByWords(one)).toEqual(rangeToPrefixes(one))
    }
    fc.assert(fc.property(range, same), { numRuns: inForm({ short: 300, full: 5000 }) })
    for (const family of [4, 6] as const) {
      const last = maxAddress(family)
      same({ family, first: 0n, last })
      same({ family, first: 1n, last: last - 1n })
      same({ family, first: last, last })
      same({ family, first: 0n, last: 0n })
    }
  })
})
