// Memory that files are read into, or written from, in large pieces.
//
// The system keeps files in whole pages, and large buffers of Node.js mostly begin 16 bytes behind a
// page's beginning. Where a copy's target lies so little behind its source, by the last 12 bits of
// their addresses, an AMD processor takes four times as long for it (`rep movsb`: each load waits for
// the store before it; on the EPYC of docs/targets.md 83 ms for 190 MB in place of 21).

import { offsetInPage, pageBytes } from './large-pages.ts'

/** Where in a page it begins: neither reading nor writing meets that. */
const beginsAt = pageBytes / 2

/** `bytes` of memory, filled with anything. */
export function newFileBuffer(bytes: number): Buffer {
  const room = Buffer.allocUnsafeSlow(bytes + pageBytes)
  const before = (beginsAt - offsetInPage(room) + pageBytes) % pageBytes
  return room.subarray(before, before + bytes)
}
