// An upper bound for the entries of one feed that cover the same address: the deepest nest of
// ranges plus the most facts about any single address. Each piece of the table carries all of them,
// so a feed of normal size could make a table too large to open, or exhaust the build's memory.

import type { Family } from '../../src/ip/address.ts'
import type { Range } from '../../src/ip/range.ts'
import type { RangeInterner } from '../layer/intern.ts'
import type { Entry } from '../parse/entry.ts'

/**
 * All prefixes of an IPv4 address. Real feeds nest at most 5 deep; ninety feeds at this bound would
 * still fit a list of the table (`evidenceListMax`).
 */
export const overlapMax = 32

export type OverlapDepth = ReturnType<typeof newOverlapDepth>

export function newOverlapDepth() {
  const wide: Readonly<Record<Family, Range[]>> = { 4: [], 6: [] }
  /** Further facts about a known range, by its number; and all facts about addresses of one /64. */
  const more = new Map<number | bigint, Set<string>>()
  let moreOfOne = 0
  /** How many different facts are known; 0 if this one is not new. */
  const news = (place: number | bigint, entry: Entry): number => {
    const said = more.get(place) ?? new Set()
    more.set(place, said)
    const before = said.size
    return said.add(factOf(entry)).size === before ? 0 : said.size
  }
  return {
    /** `ranges` numbers the distinct ranges of the feed. */
    add: (entry: Entry, range: Range, ranges: RangeInterner): void => {
      const before = ranges.count
      const id = ranges.id(0, range)
      const isOne = range.first === range.last
      const isLine = isOne && range.family === 6
      const isPlain = (entry.provider ?? entry.category ?? entry.lists) === undefined
      const isFirst = id === before
      const said =
        isPlain || (isFirst && !isLine) ? 0 : news(isLine ? range.first >> 64n : id, entry)
      if (isOne) moreOfOne = Math.max(moreOfOne, said)
      else if (isFirst || said > 0) wide[range.family].push(range)
    },
    deepest: (): number => Math.max(nestOf(wide[4]), nestOf(wide[6])) + 1 + moreOfOne,
  }
}

const factOf = ({ provider = '', category, lists = 1 }: Entry): string =>
  `${category ?? ''} ${lists} ${provider}`

/** The largest number of ranges that share an address. */
function nestOf(ranges: readonly Range[]): number {
  const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
  const starts = ranges.map(({ first }) => first).sort(order)
  const ends = ranges.map(({ last }) => last).sort(order)
  let deepest = 0
  let ended = 0
  for (let index = 0; index < starts.length; index++) {
    while (ends[ended]! < starts[index]!) ended++
    deepest = Math.max(deepest, index + 1 - ended)
  }
  return deepest
}
