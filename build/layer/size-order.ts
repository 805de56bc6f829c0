// The order of values by how many addresses have them, the largest first: a tenth of the records of
// a table answer nine in ten addresses, and side by side the processor's caches hold them. From
// text to record then took 0.9 of the time (IPv4, uniform).
//
// How many addresses is known by classes, each sixteen times the one before, so that a listing more
// or less inside a value's area moves no other value. Values of few addresses are one class. Of one
// class, values stay in the order of their numbers.

import { inLargePages } from '../../src/base/system/memory-map.ts'
import { recordWords } from '../../src/schema/table-layout.ts'
import { type Layer, renumber } from './layer.ts'

/**
 * The lowest class ends below so many addresses, each next one at 16 times as many. 0.7 of a power
 * of two, because a prefix has a power of two, or a few less where some of it is listed.
 */
const lowestEnd = 0.7 * 2 ** 12
const classBits = 4

const sizeClasses = 16

/** For each value below `count` its class, from 0 for the largest to `sizeClasses - 1`. */
export function sizeGroups(count: number, layers: readonly Layer[]): Uint8Array {
  const sizes = new Float64Array(count)
  for (const layer of layers) addSizes(layer, sizes)
  const groups = new Uint8Array(count)
  for (let value = 0; value < count; value++) groups[value] = groupOf(sizes[value]!)
  return groups
}

function groupOf(size: number): number {
  if (size < lowestEnd) return sizeClasses - 1
  const steps = Math.floor(Math.log2(size / lowestEnd) / classBits)
  return Math.max(0, sizeClasses - 2 - steps)
}

/** The number of each value, from 0, where `groups` follow each other in ascending order. */
export function numbersOfGroups(groups: Uint8Array): Uint32Array {
  const next = new Uint32Array(257)
  for (let value = 0; value < groups.length; value++) next[groups[value]! + 1]! += 1
  for (let at = 1; at < next.length; at++) next[at]! += next[at - 1]!
  const numbers = inLargePages(new Uint32Array(groups.length))
  for (let value = 0; value < groups.length; value++) numbers[value] = next[groups[value]!]!++
  return numbers
}

/** Adds to each value how many addresses its pieces have; of IPv6 how many /48, a site each. */
function addSizes({ family, starts, values }: Layer, sizes: Float64Array): void {
  const startOf =
    family === 4
      ? (piece: number): number => starts[piece]!
      : (piece: number): number => starts[piece * 4]! * 2 ** 16 + (starts[piece * 4 + 1]! >>> 16)
  const last = values.length - 1
  for (let piece = 0; piece < last; piece++) {
    sizes[values[piece]!]! += startOf(piece + 1) - startOf(piece)
  }
  sizes[values[last]!]! += (family === 4 ? 2 ** 32 : 2 ** 48) - startOf(last)
}

/** The word of a record that names its list of evidence; 0 is none. */
const listWord = 3

/**
 * The records of a table, those without evidence first, each half by size; the values of `layers`
 * are changed to match. Networks and places change once in a while and evidence every day; so from
 * one day to the next most records without evidence keep their number, and what a publisher moves
 * of a table is little (src/publish).
 */
export function orderRecords(records: Uint32Array, layers: readonly Layer[]): Uint32Array {
  const count = records.length / recordWords
  const groups = sizeGroups(count, layers)
  for (let record = 0; record < count; record++) {
    if (records[record * recordWords + listWord] !== 0) groups[record]! += sizeClasses
  }
  const numbers = numbersOfGroups(groups)
  const ordered = inLargePages(new Uint32Array(records.length))
  // Word by word: a view of each would be half a second of garbage.
  for (let record = 0; record < count; record++) {
    const from = record * recordWords
    const to = numbers[record]! * recordWords
    for (let word = 0; word < recordWords; word++) ordered[to + word] = records[from + word]!
  }
  renumber(layers, numbers)
  return ordered
}
