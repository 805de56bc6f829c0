// Bytes that grow: an answer for each line of a piece, one behind the other. A reader of earlier
// answers gives their buffer back for the next ones, so that no piece allocates megabytes.

export interface GrowingBuffer {
  bytes: Uint8Array
  length: number
}

const firstBytes = 1 << 16
const noBytes = new Uint8Array(0)

export function newGrowingBuffer(): GrowingBuffer {
  return { bytes: noBytes, length: 0 }
}

/** Afterwards so many more bytes fit. */
export function reserveBytes(buffer: GrowingBuffer, bytes: number): void {
  if (buffer.length + bytes <= buffer.bytes.length) return
  const larger = allocateBytes((buffer.length + bytes) * 2)
  larger.set(buffer.bytes.subarray(0, buffer.length))
  buffer.bytes = larger
}

export function appendBytes(buffer: GrowingBuffer, part: Uint8Array): void {
  reserveBytes(buffer, part.length)
  buffer.bytes.set(part, buffer.length)
  buffer.length += part.length
}

/** Begins anew in these bytes, or in fresh ones where there are none. */
export function resetBuffer(buffer: GrowingBuffer, bytes: Uint8Array | undefined): void {
  buffer.bytes = bytes === undefined || bytes.length === 0 ? allocateBytes(firstBytes) : bytes
  buffer.length = 0
}

/** Returns what is written; its buffer is the caller's, who may transfer it. */
export function detachBytes(buffer: GrowingBuffer): Uint8Array {
  const written = buffer.bytes.subarray(0, buffer.length)
  buffer.bytes = noBytes
  buffer.length = 0
  return written
}

/** The whole buffer of bytes that `detachBytes` returned, to be written to again. */
export function wholeBuffer({ buffer }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer)
}

/** A buffer of its own, not cleared: only what was written is ever returned. */
function allocateBytes(bytes: number): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer, byteOffset, length)
}
