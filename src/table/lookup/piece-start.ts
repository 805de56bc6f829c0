// From a piece's number to its first address, the inverse of search.ts: a section has the lower
// bits, and the index gives the bucket.

import { ipv4IndexShift, tailTopBits } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'

/** Fast for ascending pieces. */
export function newIpv4Starts(
  views: Pick<SectionViews, 'ipv4_index' | 'ipv4_starts'>,
): (piece: number) => number {
  const { ipv4_index: index, ipv4_starts: starts } = views
  const size = 2 ** ipv4IndexShift(index.length)
  const bucketOf = newBuckets(index)
  return (piece) => bucketOf(piece) * size + starts[piece]!
}

/** Writes the first two words of a piece's first address; the rest is its tail. */
export function newIpv6Starts(
  views: Pick<SectionViews, 'ipv6_index' | 'ipv6_keys'>,
): (piece: number, words: Uint32Array) => void {
  const { ipv6_index: index, ipv6_keys: keys } = views
  const bucketOf = newBuckets(index)
  return (piece, words) => {
    const key = keys[piece]!
    words[0] = 0x2000_0000 | (bucketOf(piece) << tailTopBits) | (key >>> (32 - tailTopBits))
    words[1] = key << tailTopBits
  }
}

/** The last bucket with at most `piece` pieces before it. */
function newBuckets(index: Uint32Array): (piece: number) => number {
  let bucket = 0
  return (piece) => {
    if (index[bucket]! > piece) bucket = 0
    if (index[bucket + 1]! > piece) return bucket
    // A few steps for the next piece, then bisection.
    for (let steps = 0; steps < 8; steps++) {
      bucket = Math.min(bucket + 1, index.length - 2)
      if (index[bucket + 1]! > piece) return bucket
    }
    let last = index.length - 2
    while (bucket < last) {
      const middle = (bucket + last) >>> 1
      if (index[middle + 1]! > piece) last = middle
      else bucket = middle + 1
    }
    return bucket
  }
}
