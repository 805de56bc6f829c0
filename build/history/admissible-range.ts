// Which ranges may be said of a feed at all: not wider than `widest`, not special-purpose space.
// The same rule for a build and for the history, so that what one refuses the other never keeps.

import { type Range, addressBits } from '../../src/ip/range.ts'
import { rangeSetContains } from '../../src/ip/range-set.ts'
import { bogonRanges } from '../../src/ip/special-purpose.ts'
import type { Feed } from '../catalogue/feed.ts'

const special = { 4: bogonRanges(4), 6: bogonRanges(6) }

/** Why a range of `feed` is not taken, or `undefined`. */
export function whyInadmissible(feed: Pick<Feed, 'widest'>, range: Range): string | undefined {
  const bits = range.family === 4 ? feed.widest.ipv4 : feed.widest.ipv6
  if (range.last - range.first >= 1n << BigInt(addressBits(range.family) - bits)) {
    return `wider than /${bits}`
  }
  const set = special[range.family]
  return rangeSetContains(set, range.first) && rangeSetContains(set, range.last)
    ? 'special-purpose address space'
    : undefined
}
