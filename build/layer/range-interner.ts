// Numbers for ranges of which something is said: one for each distinct pair of a number that says
// what, and a range. Ids are from 0, in order of first appearance. A text a range would cost a
// build half a second for each million of them, and its memory.

import { assert } from '../../src/base/assert.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { type Range, bigintToWords } from '../../src/ip/range.ts'
import { type TupleInterner, newTupleInterner } from './intern.ts'

export interface RangeInterner {
  /** `said`: an unsigned 32-bit number. No range is a range of its own. */
  id(said: number, range: Range | undefined): number
  readonly count: number
}

export function newRangeInterner(): RangeInterner {
  const pairs = newTupleInterner()
  /**
   * Ends of IPv6 ranges: an address fills a tuple, so that a range needs two numbers. Many feeds
   * have none.
   */
  let ends: TupleInterner | undefined
  const words = newAddressWords()
  const endId = (value: bigint): number => {
    ends ??= newTupleInterner()
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

/**
 * A set of its own in a table that others fill, too: to make a table takes longer than to fill one
 * with the ranges of a small feed. Of such sets one is in use at a time, and its `said` count up
 * from 0 in order of first use: then all of them are below the number at which the next set begins.
 */
export function newRangeSubset(table: RangeInterner): RangeInterner {
  const begin = table.count
  let end = begin
  return {
    get count() {
      return end - begin
    },
    id(said, range) {
      assert(table.count === end, 'ranges: another set is in use')
      const id = table.id(begin + said, range)
      end = table.count
      return id - begin
    },
  }
}
