// Hot path: no allocation, throw or closure but in `appendText` and for text that does not fit.
//
// Where lines of output are put together: one array for all of them, so that compiled code knows where
// it is and how long (a third of the time of a growing array's). What stands in it goes to the room of
// the piece in large parts.
// Who begins a piece clears it, who ends one empties it to the room.

import { runElementBytes } from '../schema/table-layout.ts'
import { type GrowingBuffer, appendBytes } from './growing-buffer.ts'

const outputBytesMax = 1 << 15
const outputBuffer = new Uint8Array(outputBytesMax)
const view = new DataView(outputBuffer.buffer)

/** How many bytes of it are written. */
let outputBytes = 0

/** Forgets what stands in it. */
export function clearOutput(): void {
  outputBytes = 0
}

/** All of it goes to the room. */
export function flushOutput(buffer: GrowingBuffer): void {
  appendBytes(buffer, outputBuffer.subarray(0, outputBytes))
  outputBytes = 0
}

/** Whether so many bytes more have a place here, if need be after `unstage`. */
function fits(buffer: GrowingBuffer, bytes: number): boolean {
  if (outputBytes + bytes <= outputBytesMax) return true
  flushOutput(buffer)
  return bytes <= outputBytesMax
}

export function appendByte(buffer: GrowingBuffer, byte: number): void {
  if (outputBytes === outputBytesMax) flushOutput(buffer)
  outputBuffer[outputBytes] = byte
  outputBytes += 1
}

/** A loop: what comes this way is short. */
export function appendSlice(
  buffer: GrowingBuffer,
  source: Uint8Array,
  from: number,
  to: number,
): void {
  if (!fits(buffer, to - from)) {
    appendBytes(buffer, source.subarray(from, to))
    return
  }
  let at = outputBytes
  for (let i = from; i < to; i++) outputBuffer[at++] = source[i]!
  outputBytes = at
}

/**
 * Text of UTF-8, eight bytes at a time, though it begins anywhere; `source` has seven bytes more. What
 * those are is no matter: as a double they could change nothing but themselves (table-layout.ts).
 */
export function appendView(
  buffer: GrowingBuffer,
  source: DataView,
  from: number,
  to: number,
): void {
  if (!fits(buffer, to - from + runElementBytes)) {
    appendBytes(buffer, new Uint8Array(source.buffer, source.byteOffset + from, to - from))
    return
  }
  let at = outputBytes
  for (let i = from; i < to; i += runElementBytes, at += runElementBytes) {
    view.setFloat64(at, source.getFloat64(i, true), true)
  }
  outputBytes += to - from
}

/** Not hot. */
export function appendText(buffer: GrowingBuffer, text: string): void {
  const bytes = Buffer.from(text)
  appendSlice(buffer, bytes, 0, bytes.length)
}

/** `bytes` of the text that begins at element `from` of `data`, eight at a time (see table-layout.ts). */
export function appendRun(
  buffer: GrowingBuffer,
  data: Float64Array,
  from: number,
  bytes: number,
): void {
  // The last element may reach beyond the text.
  if (!fits(buffer, bytes + runElementBytes)) {
    const at = data.byteOffset + from * runElementBytes
    appendBytes(buffer, new Uint8Array(data.buffer, at, bytes))
    return
  }
  const end = outputBytes + bytes
  for (let to = outputBytes, i = from; to < end; to += runElementBytes, i++) {
    view.setFloat64(to, data[i]!, true)
  }
  outputBytes = end
}
