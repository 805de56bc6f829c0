// Hot path: no allocation, throw or closure but in `appendText` and for text that does not fit.
//
// Collects output lines in one array, so that compiled code knows its address and length (a third
// of the time of a growing array). It is flushed to the piece's growing buffer in large parts. A
// piece begins with `clearOutput` and ends with `flushOutput`.

import { runElementBytes } from '../schema/table-layout.ts'
import { type GrowingBuffer, appendBytes } from './growing-buffer.ts'

const outputBytesMax = 1 << 15
const outputBuffer = new Uint8Array(outputBytesMax)
const view = new DataView(outputBuffer.buffer)

let outputBytes = 0

export function clearOutput(): void {
  outputBytes = 0
}

export function flushOutput(buffer: GrowingBuffer): void {
  appendBytes(buffer, outputBuffer.subarray(0, outputBytes))
  outputBytes = 0
}

/** Whether `bytes` more fit, after a flush if necessary. */
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
 * UTF-8, eight bytes at a time, from any offset; `source` has seven more bytes of any content: a
 * double's NaN could change only those (table-layout.ts).
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

export function appendText(buffer: GrowingBuffer, text: string): void {
  const bytes = Buffer.from(text)
  appendSlice(buffer, bytes, 0, bytes.length)
}

/** Appends `bytes` of the text at element `from` of `data`, eight at a time (table-layout.ts). */
export function appendRun(
  buffer: GrowingBuffer,
  data: Float64Array,
  from: number,
  bytes: number,
): void {
  // The last element may reach past the text's end.
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
