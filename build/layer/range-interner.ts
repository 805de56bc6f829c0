// Numbers for ranges of which something is said: one for each distinct pair of a number that says
// what, and a range. Ids are from 0, in order of first appearance. A text a range would cost a
// build half a second for each million of them, and its memory.

import { newAddressWords } from '../../src/ip/address.ts'
import { type Range, bigintToWords } from '../../src/ip/range.ts'
import { newTupleInterner } from './intern.ts'

export interface RangeInterner {
  /** `said`: an unsigned 32-bit number. No range is a range of its own. */
  id(said: number, range: Range | undefined): number
  readonly count: number
}

export function newRangeInterner(): RangeInterner {
  const pairs = newTupleInterner()
  /** Ends of IPv6 ranges: an address fills a tuple, so that a range needs two numbers. */
  const ends = newTupleInterner()
  const words = newAddressWords()
  const endId = (value: bigint): number => {
    bigintToWords(6, value, words)
    return ends.id(words[0]!, words[1]!, words[2]!, words[3]!)
  }
  return {
    get count() {
      return pairs.count
    },
    id(said, range) {
      if (range === undefined) return pairs.id(said, 0, 0, 0)
      const { family, first, last } = range
      if (family === 4) return pairs.id(said, Number(first), Number(last), 4)
      return pairs.id(said, endId(first), endId(last), 6)
    },
  }
}
