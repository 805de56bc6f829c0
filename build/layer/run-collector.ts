// Hot within the build: texts as runs of the table (src/table/answer/answer-writer.ts),
// concatenated. A run is its length in bytes, a word of facts and the text, padded to whole
// elements.

import { inLargePages } from '../../src/base/system/memory-map.ts'
import { runElementBytes } from '../../src/schema/table-layout.ts'

export function newRunCollector(bytesExpected: number) {
  let room = inLargePages(Buffer.alloc(bytesExpected + runElementBytes))
  let end = 0
  const makeRoom = (bytes: number): void => {
    if (end + bytes > room.length) room = Buffer.concat([room, Buffer.alloc(room.length + bytes)])
  }
  return {
    /** Returns the element at which the run begins. */
    add: (text: string, facts: number): number => {
      // A UTF-16 unit takes at most three bytes.
      makeRoom(2 * runElementBytes + text.length * 3)
      const begin = end / runElementBytes
      const written = room.write(text, end + runElementBytes, 'utf8')
      room.writeUInt32LE(written, end)
      room.writeUInt32LE(facts, end + 4)
      end += runElementBytes * (1 + Math.ceil(written / runElementBytes))
      return begin
    },
    /** Appends another collector's runs; returns the element of the first. */
    append: (runs: Uint32Array): number => {
      makeRoom(runs.byteLength)
      const begin = end / runElementBytes
      room.set(new Uint8Array(runs.buffer, runs.byteOffset, runs.byteLength), end)
      end += runs.byteLength
      return begin
    },
    setFacts: (element: number, facts: number): void => {
      room.writeUInt32LE(facts, element * runElementBytes + 4)
    },
    runs: (): Uint32Array => new Uint32Array(room.buffer, room.byteOffset, end / 4),
  }
}
