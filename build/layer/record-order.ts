// The order of the records of a table: those without evidence first, then the others; of both,
// those of many addresses first (size-order.ts), and of equally many in order of first appearance.
//
// Networks and places change once in a while and evidence every day; so from one day to the next
// most records without evidence keep their number, and what a publisher moves of a table is little
// (src/publish). The same pieces give the same order.

import { inLargePages } from '../../src/base/system/memory-map.ts'
import { recordWords } from '../../src/schema/table-layout.ts'
import { type Layer, renumber } from './layer.ts'
import { numbersOfGroups, sizeClasses, sizeGroups } from './size-order.ts'

/** The word of a record that names its list of evidence; 0 is none. */
const listWord = 3

/** `records` in that order; the values of `layers` are changed to match. */
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
