// Hot path: no allocation, no throw, no closure, no BigInt, no regular expression.
//
// From a parsed address to its record's number. A first-level index gives the pieces that start in
// the address's bucket; a binary search finds the last at or below the address, or none: then the
// piece before them reaches into the bucket. Starts and keys have only the bits below the bucket's,
// so that 32 and 16 of them share a cache line.
//
// Invariants, checked by `verifyTable`: the first piece starts the space; pieces ascend strictly;
// index[b] is the number of pieces before bucket b, index[buckets] of all. IPv6's finer indexes do
// the same for the slots of crowded buckets.
//
// The loops halve a count instead of moving two ends: the only unpredictable branch is then one
// conditional step (38 ns per address against 43, IPv4, uniform). A branchless step is slower: the
// processor no longer reads ahead while waiting for memory. `| 0` avoids V8's overflow checks: 112
// instructions per lookup instead of 137.

import {
  ipv4IndexShift,
  secondLevel,
  slotBits,
  tailGroupFlag,
  tailTopBits,
  thirdLevel,
} from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'

export function searchIpv4(views: SectionViews, value: number): number {
  return views.ipv4_records[pieceOfIpv4(views, value)]!
}

export function pieceOfIpv4(views: SectionViews, value: number): number {
  const { ipv4_index: index, ipv4_starts: starts } = views
  const shift = ipv4IndexShift(index.length)
  const bucket = value >>> shift
  const below = value & ((1 << shift) - 1)
  const from = index[bucket]! | 0
  let more = ((index[bucket + 1]! | 0) - from) | 0
  let low = (from - 1) | 0
  // Loop invariant: low is before the bucket or starts[low] <= below, and starts[low + more + 1] is
  // after the bucket or larger.
  while (more > 0) {
    const at = (low + ((more + 1) >>> 1)) | 0
    if (starts[at]! <= below) low = at
    more >>>= 1
  }
  return low
}

/**
 * The record of an IPv6 address inside 2000::/3. Example: 2a01:4f8::1 is words 2a0104f8 00000000
 * 00000000 00000001. Its bucket is the 20 bits after the first three, (words[0] & 0x1fffffff) >>>
 * 9; its key the next 32; its tail the last nine bits of words[1], then words[2] and words[3].
 */
export function searchIpv6(views: SectionViews, words: Uint32Array): number {
  const low = pieceOfIpv6(views, words)
  const record = views.ipv6_records[low]!
  return record < tailGroupFlag ? record : views.ipv6_tail_records[tailOfIpv6(views, low, words)]!
}

/** Whether one piece contains both addresses. */
export function isPieceIpv6(views: SectionViews, first: Uint32Array, last: Uint32Array): boolean {
  const piece = pieceOfIpv6(views, first)
  if (pieceOfIpv6(views, last) !== piece) return false
  const isGroup = views.ipv6_records[piece]! >= tailGroupFlag
  return !isGroup || tailOfIpv6(views, piece, first) === tailOfIpv6(views, piece, last)
}

/** The last key at or below the address's. */
function pieceOfIpv6(views: SectionViews, words: Uint32Array): number {
  const { ipv6_index: index, ipv6_keys: keys } = views
  const key = ipv6Key(words)
  const bucket = ipv6Bucket(words)
  let from = index[bucket]! | 0
  let more = ((index[bucket + 1]! | 0) - from) | 0
  if (more >= secondLevel.crowded) {
    const { ipv6_second: second } = views
    const bits = slotBits(more, secondLevel.share)
    const slot = ((from >>> secondLevel.share) + (key >>> (32 - bits))) | 0
    from = second[slot]! | 0
    more = ((second[slot + 1]! | 0) - from) | 0
    if (more >= thirdLevel.crowded) {
      const { ipv6_third: third } = views
      const finerBits = slotBits(more, thirdLevel.share)
      const finer = ((from >>> thirdLevel.share) + ((key << bits) >>> (32 - finerBits))) | 0
      from = third[finer]! | 0
      more = ((third[finer + 1]! | 0) - from) | 0
    }
  }
  let low = (from - 1) | 0
  while (more > 0) {
    const at = (low + ((more + 1) >>> 1)) | 0
    if (keys[at]! <= key) low = at
    more >>>= 1
  }
  return low
}

/** The 20 bits after the first three. */
export function ipv6Bucket(words: Uint32Array): number {
  return (words[0]! & 0x1fff_ffff) >>> tailTopBits
}

/** The 32 bits after the bucket's. */
export function ipv6Key(words: Uint32Array): number {
  return ((words[0]! << (32 - tailTopBits)) | (words[1]! >>> tailTopBits)) >>> 0
}

/** A piece near IPv4 address `value`: a hint, for reading ahead. */
export function prefetchIndexIpv4({ ipv4_index: index }: SectionViews, value: number): number {
  const bucket = value >>> ipv4IndexShift(index.length)
  const from = index[bucket]! | 0
  const more = ((index[bucket + 1]! | 0) - from) | 0
  return (from - 1 + ((more + 1) >>> 1)) | 0
}

/** The piece before the address's slot, or the middle of an uncut bucket. */
export function prefetchIndexIpv6(
  { ipv6_index: index, ipv6_second: second }: SectionViews,
  words: Uint32Array,
): number {
  const bucket = ipv6Bucket(words)
  const from = index[bucket]! | 0
  const more = ((index[bucket + 1]! | 0) - from) | 0
  if (more < secondLevel.crowded) return (from - 1 + ((more + 1) >>> 1)) | 0
  const slot = ipv6Key(words) >>> (32 - slotBits(more, secondLevel.share))
  const first = second[(from >>> secondLevel.share) + slot]! | 0
  return first > 0 ? first - 1 : 0
}

/**
 * The address's tail in the group of key `piece`: the pieces that share the key, by ascending tail;
 * the first tail is 0. An address after the key belongs to the group's last piece.
 */
function tailOfIpv6(views: SectionViews, piece: number, words: Uint32Array): number {
  const { ipv6_tail_groups: groups, ipv6_tails: tails } = views
  const group = views.ipv6_records[piece]! - tailGroupFlag
  let low = groups[group]!
  let high = groups[group + 1]! - 1
  // A key of another bucket may have the same bits.
  const sameKey =
    views.ipv6_keys[piece] === ipv6Key(words) && piece >= views.ipv6_index[ipv6Bucket(words)]!
  if (!sameKey) return high
  const first = words[1]! & ((1 << tailTopBits) - 1)
  const second = words[2]!
  const third = words[3]!
  while (low < high) {
    // Half of a sum could wrap in an unverified table.
    const middle = low + ((high - low + 1) >>> 1)
    const at = middle * 3
    const a = tails[at]!
    const b = tails[at + 1]!
    const below =
      a < first || (a === first && (b < second || (b === second && tails[at + 2]! <= third)))
    if (below) low = middle
    else high = middle - 1
  }
  return low
}
