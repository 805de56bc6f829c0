// How many statements of one feed hold one and the same address. Every piece of the table carries
// all of them, so ranges inside ranges grow with the square of their number: within its usual size
// and bytes, a feed of nested ranges would make a table that nothing may open, or fill the memory
// of the build before. The same goes for an address that is listed again with another provider.
//
// An upper bound, not a count: to the deepest nest of ranges comes the most that is said of any one
// address by itself.

import type { Family } from '../../src/ip/address.ts'
import type { Range } from '../../src/ip/range.ts'
import type { RangeInterner } from '../layer/intern.ts'
import type { Entry } from '../parse/entry.ts'

/**
 * So many prefixes of IPv4 an address can have. Among the feeds of the world the deepest nest has
 * 5; if ninety feeds each had this many, a list of the table (`evidenceListMax`) still has room.
 */
export const overlapMax = 32

export type OverlapDepth = ReturnType<typeof newOverlapDepth>

export function newOverlapDepth() {
  const wide: Readonly<Record<Family, Range[]>> = { 4: [], 6: [] }
  /**
   * What else is said of a range that was listed before, by its number; and all that is said of
   * addresses of one /64, which may come to stand for it (normalise.ts).
   */
  const more = new Map<number | bigint, Set<string>>()
  let moreOfOne = 0
  /** How many different things are said of it; 0 where this one is known. */
  const news = (place: number | bigint, entry: Entry): number => {
    const said = more.get(place) ?? new Set()
    more.set(place, said)
    const before = said.size
    return said.add(factOf(entry)).size === before ? 0 : said.size
  }
  return {
    /** Takes an entry that counts; `ranges` numbers the distinct ranges of the feed. */
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
    /** No address is held by more. */
    deepest: (): number => Math.max(nestOf(wide[4]), nestOf(wide[6])) + 1 + moreOfOne,
  }
}

/** By what the evidence of one range differs (normalise.ts). */
function factOf({ provider = '', category, lists = 1 }: Entry): string {
  return `${category ?? ''} ${lists} ${provider}`
}

/** How many of the ranges hold the address that most of them hold. */
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
