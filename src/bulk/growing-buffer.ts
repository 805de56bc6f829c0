// Bytes that grow: an answer for each line of a piece, one behind the other. Room comes from whoever
// took what was written before, so that megabytes are not allocated for each piece.

export interface GrowingBuffer {
  bytes: Uint8Array
  /** How many of them are written. */
  length: number
}

const firstBytes = 1 << 16
const noBytes = new Uint8Array(0)

export function newGrowingBuffer(): GrowingBuffer {
  return { bytes: noBytes, length: 0 }
}

/** Afterwards so many more bytes fit behind `at`. */
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

/** Goes on in these bytes, or in fresh ones where there are none. */
export function resetBuffer(buffer: GrowingBuffer, bytes: Uint8Array | undefined): void {
  buffer.bytes = bytes === undefined || bytes.length === 0 ? allocateBytes(firstBytes) : bytes
  buffer.length = 0
}

/** What is written, with the buffer that it lies in: it may be transferred. */
export function detachBytes(buffer: GrowingBuffer): Uint8Array {
  const given = buffer.bytes.subarray(0, buffer.length)
  buffer.bytes = noBytes
  buffer.length = 0
  return given
}

/** All of the bytes that something was given away of. */
export function wholeBuffer({ buffer }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer)
}

/** A buffer of its own, not cleared: only what is written is ever given away. */
function allocateBytes(bytes: number): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer, byteOffset, length)
}
