// How much of each AS is listed, by kind: the norm for neighbourhoods. One pass over the finished
// pieces. IPv4 counts addresses, IPv6 /64s, each once. An address is listed if evidence of a range
// names it, faded or not; evidence of a whole AS does not count.

import { kinds } from '../../src/model/kind.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import type { Network } from '../../src/model/network.ts'
import { densitySlots, recordWords } from '../../src/schema/table-layout.ts'
import type { EvidenceBook } from './evidence-book.ts'
import type { Layers } from '../layer/layer.ts'

interface DensityParts {
  /** Values are records. */
  readonly pieces: Layers
  readonly records: Uint32Array
  readonly networks: readonly Network[]
  readonly lists: readonly (readonly number[])[]
  readonly book: EvidenceBook
}

const slots = kinds.length + 1
const two32 = 2 ** 32

/** Every network gets the non-zero sums of its whole AS. */
export function densitySections(parts: DensityParts) {
  const { networks } = parts
  const places = new Map<number, number>()
  const placeOf = networks.map(({ asn }) => {
    const known = places.get(asn) ?? places.size
    places.set(asn, known)
    return known
  })
  const sums = new Float64Array(places.size * densitySlots)
  const maskOf = newKindMasks(parts)
  addIpv4(parts, { sums, placeOf, maskOf })
  addIpv6(parts, { sums, placeOf, maskOf })
  const lists = new Uint32Array(networks.length + 1)
  const found: number[] = []
  const counts: number[] = []
  placeOf.forEach((place, index) => {
    for (let slot = 0; slot < densitySlots; slot++) {
      const count = sums[place * densitySlots + slot]!
      if (count === 0) continue
      found.push(slot)
      counts.push(count)
    }
    lists[index + 1] = counts.length
  })
  return {
    density_lists: lists,
    density_slots: Uint8Array.from(found),
    densities: Float64Array.from(counts),
  }
}

interface Sums {
  readonly sums: Float64Array
  readonly placeOf: readonly number[]
  /** Bit 0: the space itself; bit n + 1: kind n. */
  readonly maskOf: (list: number) => number
}

function newKindMasks({ lists, book }: DensityParts): (list: number) => number {
  const found = new Int32Array(lists.length)
  lists.forEach((ids, list) => {
    let mask = 1
    for (const id of ids) mask |= bitOf(book.at(id).evidence)
    found[list] = mask
  })
  return (list) => (list === 0 ? 1 : (found[list - 1] ?? 1))
}

/** Neighbourhoods list nothing. */
const bitOf = ({ kind, match }: Evidence): number =>
  match === 'near' ? 0 : 2 << kinds.indexOf(kind)

function addIpv4({ pieces, records }: DensityParts, { sums, placeOf, maskOf }: Sums): void {
  const { starts, values, count } = pieces[4]
  for (let piece = 0; piece < count; piece++) {
    const at = values[piece]! * recordWords
    const network = records[at]!
    if (network === 0) continue
    const end = piece + 1 < count ? starts[piece + 1]! : two32
    const size = end - starts[piece]!
    const base = placeOf[network - 1]! * densitySlots
    for (let mask = maskOf(records[at + 3]!); mask !== 0; mask &= mask - 1) {
      sums[base + lowestBit(mask)]! += size
    }
  }
}

function addIpv6({ pieces, records }: DensityParts, { sums, placeOf, maskOf }: Sums): void {
  const { starts, values, count } = pieces[6]
  // The last /64 that each sum counted; pieces ascend, so one is enough.
  const lastHigh = new Uint32Array(sums.length)
  const lastLow = new Uint32Array(sums.length)
  for (let piece = 0; piece < count; piece++) {
    const at = values[piece]! * recordWords
    const network = records[at]!
    if (network === 0) continue
    const from = piece * 4
    const next = from + 4
    const high = starts[from]!
    const low = starts[from + 1]!
    // The /64 of the piece's last address.
    const isWhole = piece + 1 < count && starts[next + 2] === 0 && starts[next + 3] === 0
    let endHigh = piece + 1 < count ? starts[next]! : two32 - 1
    let endLow = piece + 1 < count ? starts[next + 1]! : two32 - 1
    if (isWhole) {
      if (endLow === 0) endHigh--
      endLow = endLow === 0 ? two32 - 1 : endLow - 1
    }
    const lines = (endHigh - high) * two32 + (endLow - low) + 1
    const base = placeOf[network - 1]! * densitySlots + slots
    for (let mask = maskOf(records[at + 3]!); mask !== 0; mask &= mask - 1) {
      const sum = base + lowestBit(mask)
      const counted = lastHigh[sum] === high && lastLow[sum] === low ? 1 : 0
      sums[sum]! += lines - counted
      lastHigh[sum] = endHigh
      lastLow[sum] = endLow
    }
  }
}

const lowestBit = (mask: number): number => 31 - Math.clz32(mask & -mask)
