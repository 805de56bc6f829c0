// Hot within the build: texts as runs of the table (src/table/answer/answer-writer.ts), end to end
// in memory that grows. A run is its length in bytes, a word of facts, the text, and nothing to the
// next whole element.

import { inLargePages } from '../../src/base/system/memory-map.ts'
import { runElementBytes } from '../../src/schema/table-layout.ts'

export function newRunCollector(bytesExpected: number) {
  let room = inLargePages(Buffer.alloc(bytesExpected + runElementBytes))
  let end = 0
  const makeRoom = (bytes: number): void => {
    if (end + bytes > room.length) room = Buffer.concat([room, Buffer.alloc(room.length + bytes)])
  }
  return {
    /** The element at which the run begins. */
    add: (text: string, facts: number): number => {
      // No character takes more than three bytes.
      makeRoom(2 * runElementBytes + text.length * 3)
      const begin = end / runElementBytes
      const written = room.write(text, end + runElementBytes, 'utf8')
      room.writeUInt32LE(written, end)
      room.writeUInt32LE(facts, end + 4)
      end += runElementBytes * (1 + Math.ceil(written / runElementBytes))
      return begin
    },
    /** Puts runs behind that another collector made; the element at which the first one begins. */
    append: (runs: Uint32Array): number => {
      makeRoom(runs.byteLength)
      const begin = end / runElementBytes
      room.set(new Uint8Array(runs.buffer, runs.byteOffset, runs.byteLength), end)
      end += runs.byteLength
      return begin
    },
    /** Sets the word of facts of the run that begins at that element. */
    setFacts: (element: number, facts: number): void => {
      room.writeUInt32LE(facts, element * runElementBytes + 4)
    },
    runs: (): Uint32Array => new Uint32Array(room.buffer, room.byteOffset, end / 4),
  }
}
