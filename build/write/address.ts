// From pieces to the address sections of the table: the first-level indexes, the IPv4 starts, and
// the keys and tail groups of IPv6 (src/schema/layout.ts draws them).

import {
  indexBits,
  indexBuckets,
  keyBucketDivisor,
  tailGroupFlag,
  tailWords,
} from '../../src/schema/layout.ts'
import type { Views } from '../../src/schema/section.ts'
import type { Layer } from '../layer/layer.ts'

type Ipv4Sections = Pick<Views, 'ipv4_index' | 'ipv4_starts' | 'ipv4_records'>
type Ipv6Sections = Pick<
  Views,
  | 'ipv6_index'
  | 'ipv6_keys'
  | 'ipv6_records'
  | 'ipv6_tail_groups'
  | 'ipv6_tails'
  | 'ipv6_tail_records'
>

export function ipv4Sections(pieces: Layer): Ipv4Sections {
  const { starts, values: records } = pieces
  return {
    ipv4_starts: starts,
    ipv4_records: records,
    ipv4_index: firstLevel(starts, (bucket) => bucket * 2 ** (32 - indexBits)),
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
        tails.push(...tailOf(pieces.starts, i))
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
    ipv6_index: firstLevel(keyView, (bucket) => bucket * keyBucketDivisor),
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

/** A piece that starts below 2000:: starts the covered space: key 0, tail 0. */
function keyOf(starts: Uint32Array, piece: number): number {
  const at = piece * 4
  if (starts[at]! < 0x2000_0000) return 0
  return (starts[at]! & 0x1fff_ffff) * 0x100_0000 + (starts[at + 1]! >>> 8)
}

function sameKey(starts: Uint32Array, a: number, b: number): boolean {
  return starts[b * 4]! >>> 29 === 1 && keyOf(starts, a) === keyOf(starts, b)
}

function tailOf(starts: Uint32Array, piece: number): readonly [number, number, number] {
  const at = piece * 4
  if (starts[at]! < 0x2000_0000) return [0, 0, 0]
  return [starts[at + 1]! & 0xff, starts[at + 2]!, starts[at + 3]!]
}

function tailIsZero(starts: Uint32Array, piece: number): boolean {
  const [first, second, third] = tailOf(starts, piece)
  return first === 0 && second === 0 && third === 0
}

/** index[b]: the last piece that starts at or below the first address of bucket b. */
function firstLevel(
  starts: Uint32Array | Float64Array,
  bucketStart: (bucket: number) => number,
): Uint32Array {
  const index = new Uint32Array(indexBuckets + 1)
  let piece = 0
  for (let bucket = 0; bucket < indexBuckets; bucket++) {
    const limit = bucketStart(bucket)
    while (piece + 1 < starts.length && starts[piece + 1]! <= limit) piece++
    index[bucket] = piece
  }
  index[indexBuckets] = starts.length - 1
  return index
}
