// The order of the records of a table: those without evidence first, then the others; of both,
// those of many addresses first, and of equally many in order of first appearance.
//
// Networks and places change once in a while and evidence every day; so from one day to the next
// most records without evidence keep their number, and what a publisher moves of a table is little
// (src/publish). A tenth of the records answer nine in ten addresses: side by side, the processor's
// caches hold them. From text to record then took 0.9 of the time (IPv4, uniform).
//
// How many addresses is known by classes, each sixteen times the one before, so that a listing more
// or less in a record's area moves no other record. Records of few addresses are one class. The
// same pieces give the same order.

import { inLargePages } from '../../src/base/system/large-pages.ts'
import { recordWords } from '../../src/schema/table-layout.ts'
import type { Layer } from './layer.ts'

/** The word of a record that names its list of evidence; 0 is none. */
const listWord = 3

/**
 * The first class ends below `smallest` addresses, each next one at 16 times as many. 0.7 of a power
 * of two, because a prefix has a power of two, or a few less where some of it is listed.
 */
const smallest = 0.7 * 2 ** 12
const classBits = 4
const classes = 16

/** `records` in that order; the values of `layers` are changed to match. */
export function orderRecords(records: Uint32Array, layers: readonly Layer[]): Uint32Array {
  const count = records.length / recordWords
  const ordered = inLargePages(new Uint32Array(records.length))
  const numbers = inLargePages(new Uint32Array(count))
  const group = groupsOf(records, layers)
  const next = firstNumbers(group)
  for (let record = 0; record < count; record++) {
    const number = next[group[record]!]!++
    const at = record * recordWords
    ordered.set(records.subarray(at, at + recordWords), number * recordWords)
    numbers[record] = number
  }
  for (const { values } of layers) {
    for (let piece = 0; piece < values.length; piece++) values[piece] = numbers[values[piece]!]!
  }
  return ordered
}

/** For each record its place among the groups that are numbered one behind the other. */
function groupsOf(records: Uint32Array, layers: readonly Layer[]): Uint8Array {
  const sizes = new Float64Array(records.length / recordWords)
  for (const layer of layers) addSizes(layer, sizes)
  return Uint8Array.from(sizes, (size, record) => {
    const large = Math.max(0, Math.floor(Math.log2(size / smallest) / classBits) + 1)
    const listed = records[record * recordWords + listWord] === 0 ? 0 : classes
    return listed + classes - 1 - Math.min(large, classes - 1)
  })
}

/** The first number of each group. */
function firstNumbers(group: Uint8Array): Uint32Array {
  const next = new Uint32Array(2 * classes + 1)
  for (let record = 0; record < group.length; record++) next[group[record]! + 1]! += 1
  for (let at = 1; at < next.length; at++) next[at]! += next[at - 1]!
  return next
}

/** Adds to each record how many addresses its pieces have; of IPv6 how many /48, a site each. */
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
