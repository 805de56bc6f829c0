// From pieces to the address sections of the table: the indexes, the IPv4 starts, and the keys and
// tail groups of IPv6 (src/schema/table-layout.ts draws them).

import {
  bucketPiecesMean,
  indexBits,
  indexBitsMax,
  indexBuckets,
  keyBucketDivisor,
  secondLevel,
  slotBits,
  tailGroupFlag,
  tailWords,
  thirdLevel,
} from '../../src/schema/table-layout.ts'
import type { SectionViews } from '../../src/schema/table-sections.ts'
import type { Layer } from '../layer/layer.ts'

type Ipv4Sections = Pick<SectionViews, 'ipv4_index' | 'ipv4_starts' | 'ipv4_records'>
type Ipv6Indexes = Pick<SectionViews, 'ipv6_index' | 'ipv6_second' | 'ipv6_third'>
type Ipv6Sections = Ipv6Indexes &
  Pick<
    SectionViews,
    'ipv6_keys' | 'ipv6_records' | 'ipv6_tail_groups' | 'ipv6_tails' | 'ipv6_tail_records'
  >

export function ipv4Sections(pieces: Layer): Ipv4Sections {
  const { starts, values: records } = pieces
  return {
    ipv4_starts: starts,
    ipv4_records: records,
    ipv4_index: ipv4Index(starts),
  }
}

export function ipv6Sections(pieces: Layer): Ipv6Sections {
  const keys: number[] = []
  const records: number[] = []
  const groups: number[] = [0]
  const tails: number[] = []
  const tailRecords: number[] = []
  let piece = firstInside(pieces)
  /** What holds just before the piece at hand. */
  let before = pieces.values[piece]!
  while (piece < pieces.count && (pieces.starts[piece * 4]! >>> 29 === 1 || keys.length === 0)) {
    const key = keyOf(pieces.starts, piece)
    let end = piece + 1
    while (end < pieces.count && sameKey(pieces.starts, piece, end)) end++
    keys.push(key)
    if (end === piece + 1 && tailIsZero(pieces.starts, piece)) {
      records.push(pieces.values[piece]!)
    } else {
      records.push(tailGroupFlag + groups.length - 1)
      if (!tailIsZero(pieces.starts, piece)) {
        tails.push(0, 0, 0)
        tailRecords.push(before)
      }
      for (let i = piece; i < end; i++) {
        const { starts } = pieces
        const at = i * 4
        if (!startsInside(starts, i)) tails.push(0, 0, 0)
        else tails.push(starts[at + 1]! & 0xff, starts[at + 2]!, starts[at + 3]!)
        tailRecords.push(pieces.values[i]!)
      }
      groups.push(tails.length / tailWords)
    }
    before = pieces.values[end - 1]!
    piece = end
  }
  const keyView = Float64Array.from(keys)
  return {
    ipv6_keys: keyView,
    ipv6_records: Uint32Array.from(records),
    ipv6_tail_groups: Uint32Array.from(groups),
    ipv6_tails: Uint32Array.from(tails),
    ipv6_tail_records: Uint32Array.from(tailRecords),
    ...ipv6Indexes(keyView),
  }
}

/** On as many bits as so many pieces ask for. */
export function ipv4IndexBits(pieces: number): number {
  let bits = indexBits
  while (bits < indexBitsMax && pieces > bucketPiecesMean * 2 ** bits) bits++
  return bits
}

export function ipv4Index(starts: Uint32Array, bits = ipv4IndexBits(starts.length)): Uint32Array {
  return firstLevel(starts, 2 ** bits, 2 ** (32 - bits))
}

export function ipv6Indexes(keys: Float64Array): Ipv6Indexes {
  const index = firstLevel(keys, indexBuckets, keyBucketDivisor)
  return { ipv6_index: index, ...finerIndexes(keys, index) }
}

/** index[b]: the last piece that starts at or below the first address of bucket b. */
function firstLevel(
  starts: Uint32Array | Float64Array,
  buckets: number,
  size: number,
): Uint32Array {
  const index = new Uint32Array(buckets + 1)
  fillSlots(starts, index, { low: 0, first: 0, size })
  return index
}

/** Cuts crowded buckets into slots, and crowded slots once more; all else stays 0. */
function finerIndexes(keys: Float64Array, index: Uint32Array): Omit<Ipv6Indexes, 'ipv6_index'> {
  const second = new Uint32Array((keys.length >>> secondLevel.share) + 1)
  const third = new Uint32Array((keys.length >>> thirdLevel.share) + 1)
  for (let bucket = 0; bucket < indexBuckets; bucket++) {
    const low = index[bucket]!
    const more = index[bucket + 1]! - low
    if (more < secondLevel.crowded) continue
    const slots = 2 ** slotBits(more, secondLevel.share)
    const size = keyBucketDivisor / slots
    const first = bucket * keyBucketDivisor
    const from = low >>> secondLevel.share
    fillSlots(keys, second.subarray(from, from + slots + 1), { low, first, size })
    for (let slot = 0; slot < slots; slot++) {
      const finerLow = second[from + slot]!
      const finerMore = second[from + slot + 1]! - finerLow
      if (finerMore < thirdLevel.crowded) continue
      const finerSlots = 2 ** slotBits(finerMore, thirdLevel.share)
      const finerFrom = finerLow >>> thirdLevel.share
      fillSlots(keys, third.subarray(finerFrom, finerFrom + finerSlots + 1), {
        low: finerLow,
        first: first + slot * size,
        size: size / finerSlots,
      })
    }
  }
  return { ipv6_second: second, ipv6_third: third }
}

/** out[i]: the last start at or below the first of slot i; the last is that behind all slots. */
function fillSlots(
  starts: Uint32Array | Float64Array,
  out: Uint32Array,
  slots: { readonly low: number; readonly first: number; readonly size: number },
): void {
  let piece = slots.low
  for (let slot = 0; slot < out.length; slot++) {
    const limit = slots.first + slot * slots.size
    while (piece + 1 < starts.length && starts[piece + 1]! <= limit) piece++
    out[slot] = piece
  }
}

/** The last piece that starts at or below 2000::, which begins the covered space. */
function firstInside(pieces: Layer): number {
  let piece = 0
  while (piece + 1 < pieces.count && startsAtOrBelow2000(pieces.starts, piece + 1)) piece++
  return piece
}

function startsAtOrBelow2000(starts: Uint32Array, piece: number): boolean {
  const at = piece * 4
  const top = starts[at]!
  if (top !== 0x2000_0000) return top < 0x2000_0000
  return starts[at + 1] === 0 && starts[at + 2] === 0 && starts[at + 3] === 0
}

/** Whether it starts at 2000:: or above; what starts below starts the covered space: key 0, tail 0. */
function startsInside(starts: Uint32Array, piece: number): boolean {
  return starts[piece * 4]! >= 0x2000_0000
}

function keyOf(starts: Uint32Array, piece: number): number {
  const at = piece * 4
  if (!startsInside(starts, piece)) return 0
  return (starts[at]! & 0x1fff_ffff) * 0x100_0000 + (starts[at + 1]! >>> 8)
}

function sameKey(starts: Uint32Array, a: number, b: number): boolean {
  return starts[b * 4]! >>> 29 === 1 && keyOf(starts, a) === keyOf(starts, b)
}

function tailIsZero(starts: Uint32Array, piece: number): boolean {
  const at = piece * 4
  if (!startsInside(starts, piece)) return true
  return (starts[at + 1]! & 0xff) === 0 && starts[at + 2] === 0 && starts[at + 3] === 0
}
