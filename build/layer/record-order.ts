// The order of the records of a table: those without evidence first, then the others, both in order
// of first appearance. Networks and places change once in a while and evidence every day; so from
// one day to the next most records keep their number, and what a publisher moves of a table is
// little (src/publish). The same pieces give the same order.

import { inLargePages } from '../../src/base/system/large-pages.ts'
import { recordWords } from '../../src/schema/table-layout.ts'
import type { Layer } from './layer.ts'

/** The word of a record that names its list of evidence; 0 is none. */
const listWord = 3

/** `records` in that order; the values of `layers` are changed to match. */
export function orderRecords(records: Uint32Array, layers: readonly Layer[]): Uint32Array {
  const count = records.length / recordWords
  const ordered = inLargePages(new Uint32Array(records.length))
  const numbers = inLargePages(new Uint32Array(count))
  let next = 0
  for (const listed of [false, true]) {
    for (let record = 0; record < count; record++) {
      const at = record * recordWords
      if ((records[at + listWord] !== 0) !== listed) continue
      ordered.set(records.subarray(at, at + recordWords), next * recordWords)
      numbers[record] = next++
    }
  }
  for (const { values } of layers) {
    for (let piece = 0; piece < values.length; piece++) values[piece] = numbers[values[piece]!]!
  }
  return ordered
}
