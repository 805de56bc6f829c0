// From pieces to the address sections of the table: the indexes, the IPv4 starts, and the keys and
// tail groups of IPv6 (src/schema/table-layout.ts draws them).

import { inLargePages } from '../../src/base/system/memory-map.ts'
import * as layout from '../../src/schema/table-layout.ts'
import { type Layer, pieceOf } from '../layer/layer.ts'

/** Keys per first word of an address. */
const keysOfTop = 2 ** (32 - layout.tailTopBits)
/** A constant, because V8 evaluates a power each time. */
const tailTopMask = 2 ** layout.tailTopBits - 1

export function ipv4Sections(pieces: Layer) {
  return { ...ipv4StartSections(pieces.starts), ipv4_records: pieces.values }
}

/** `starts` ascend from 0; `bits`: of the index. */
export function ipv4StartSections(starts: Uint32Array, bits = indexBitsFor(starts.length)) {
  const size = 2 ** (32 - bits)
  return {
    ipv4_starts: remaindersOf(starts, inLargePages(new Uint16Array(starts.length)), size),
    ipv4_index: firstLevel(starts, 2 ** bits, size),
  }
}

export function ipv6Sections(pieces: Layer) {
  const { starts, values } = pieces
  const keys = inLargePages(new Float64Array(pieces.count))
  const records = inLargePages(new Uint32Array(pieces.count))
  let count = 0
  const groups: number[] = [0]
  const tails: number[] = []
  const tailRecords: number[] = []
  // The last piece that starts at or below 2000::, where the covered space begins.
  let piece = pieceOf(pieces, Uint32Array.of(0x2000_0000, 0, 0, 0))
  /** The value just before the current piece. */
  let before = values[piece]!
  const pastLast = firstBeyond(pieces)
  let next = keyOf(starts, piece)
  while (piece < pastLast) {
    const key = next
    keys[count] = key
    let end = piece + 1
    while (end < pastLast && (next = keyOf(starts, end)) === key) end++
    if (end === piece + 1 && tailIsZero(starts, piece)) {
      records[count] = values[piece]!
    } else {
      records[count] = layout.tailGroupFlag + groups.length - 1
      if (!tailIsZero(starts, piece)) {
        tails.push(0, 0, 0)
        tailRecords.push(before)
      }
      for (let i = piece; i < end; i++) {
        tails.push(...tailOf(starts, i))
        tailRecords.push(values[i]!)
      }
      groups.push(tails.length / layout.tailWords)
    }
    count++
    before = values[end - 1]!
    piece = end
  }
  return {
    ...ipv6KeySections(keys.subarray(0, count)),
    ipv6_records: records.slice(0, count),
    ipv6_tail_groups: Uint32Array.from(groups),
    ipv6_tails: Uint32Array.from(tails),
    ipv6_tail_records: Uint32Array.from(tailRecords),
  }
}

/** `keys` are bits 3 to 54, ascending from 0: bucket and key in one number. */
export function ipv6KeySections(keys: Float64Array) {
  const low = remaindersOf(keys, inLargePages(new Uint32Array(keys.length)), layout.bucketKeys)
  const index = firstLevel(keys, layout.ipv6IndexBuckets, layout.bucketKeys)
  return { ipv6_keys: low, ipv6_index: index, ...finerIndexes(low, index) }
}

/** The part below buckets of `size`, a power of two. A loop: `from` and `%` are slower. */
function remaindersOf<Out extends Uint16Array | Uint32Array>(
  starts: Uint32Array | Float64Array,
  out: Out,
  size: number,
): Out {
  for (let piece = 0; piece < starts.length; piece++) {
    const start = starts[piece]!
    out[piece] = start - Math.floor(start / size) * size
  }
  return out
}

export function indexBitsFor(pieces: number): number {
  const { min, max, cachedMax } = layout.ipv4IndexBits
  const { cached, uncached } = layout.ipv4BucketPieces
  const mean = pieces > cached * 2 ** cachedMax ? uncached : cached
  let bits: number = min
  while (bits < max && pieces > mean * 2 ** bits) bits++
  return bits
}

/** index[b]: pieces that start before bucket b. */
function firstLevel(
  starts: Uint32Array | Float64Array,
  buckets: number,
  size: number,
): Uint32Array {
  const index = new Uint32Array(buckets + 1)
  let piece = 0
  for (let bucket = 0; bucket <= buckets; bucket++) {
    while (piece < starts.length && starts[piece]! < bucket * size) piece++
    index[bucket] = piece
  }
  return index
}

/** Cuts crowded buckets into slots, and crowded slots once more; the rest stays 0. */
function finerIndexes(keys: Uint32Array, index: Uint32Array) {
  const second = new Uint32Array((keys.length >>> layout.secondLevel.share) + 1)
  const third = new Uint32Array((keys.length >>> layout.thirdLevel.share) + 1)
  for (let bucket = 0; bucket < layout.ipv6IndexBuckets; bucket++) {
    const from = index[bucket]!
    const count = index[bucket + 1]! - from
    if (count < layout.secondLevel.crowded) continue
    const slots = 2 ** layout.slotBits(count, layout.secondLevel.share)
    const size = layout.bucketKeys / slots
    const at = from >>> layout.secondLevel.share
    fillSlots(keys, second.subarray(at, at + slots + 1), { from, count, first: 0, size })
    for (let slot = 0; slot < slots; slot++) {
      const finerFrom = second[at + slot]!
      const finerCount = second[at + slot + 1]! - finerFrom
      if (finerCount < layout.thirdLevel.crowded) continue
      const finerSlots = 2 ** layout.slotBits(finerCount, layout.thirdLevel.share)
      const finerAt = finerFrom >>> layout.thirdLevel.share
      fillSlots(keys, third.subarray(finerAt, finerAt + finerSlots + 1), {
        from: finerFrom,
        count: finerCount,
        first: slot * size,
        size: size / finerSlots,
      })
    }
  }
  return { ipv6_second: second, ipv6_third: third }
}

/** out[i]: the first of these `count` keys in or after slot i. */
function fillSlots(
  keys: Uint32Array,
  out: Uint32Array,
  slots: Readonly<Record<'from' | 'count' | 'first' | 'size', number>>,
): void {
  const end = slots.from + slots.count
  let key = slots.from
  for (let slot = 0; slot < out.length; slot++) {
    const limit = slots.first + slot * slots.size
    while (key < end && keys[key]! < limit) key++
    out[slot] = key
  }
}

/** The first piece that starts after 2000::/3, or the number of pieces. */
function firstBeyond({ starts, count }: Layer): number {
  let piece = count
  while (piece > 0 && starts[(piece - 1) * 4]! >= 0x4000_0000) piece--
  return piece
}

/** False for what starts below 2000::, where the covered space starts: key and tail 0. */
const startsInside = (starts: Uint32Array, piece: number): boolean =>
  starts[piece * 4]! >= 0x2000_0000

/** The 52 bits after the first three. */
function keyOf(starts: Uint32Array, piece: number): number {
  const at = piece * 4
  if (!startsInside(starts, piece)) return 0
  return (starts[at]! & 0x1fff_ffff) * keysOfTop + (starts[at + 1]! >>> layout.tailTopBits)
}

function tailOf(starts: Uint32Array, piece: number): readonly [number, number, number] {
  const at = piece * 4
  if (!startsInside(starts, piece)) return [0, 0, 0]
  return [starts[at + 1]! & tailTopMask, starts[at + 2]!, starts[at + 3]!]
}

const tailIsZero = (starts: Uint32Array, piece: number): boolean =>
  tailOf(starts, piece).every((word) => word === 0)
