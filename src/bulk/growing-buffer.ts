// Growing bytes for the answers of one piece. A reader of earlier answers returns their buffer for
// the next ones, so that no piece allocates megabytes.

export interface GrowingBuffer {
  bytes: Uint8Array
  length: number
}

const firstBytes = 1 << 16
const noBytes = new Uint8Array(0)

export const newGrowingBuffer = (): GrowingBuffer => ({ bytes: noBytes, length: 0 })

/** Makes room for `bytes` more. */
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

/** Restarts in `bytes`, or in a new buffer. */
export function resetBuffer(buffer: GrowingBuffer, bytes: Uint8Array | undefined): void {
  buffer.bytes = bytes === undefined || bytes.length === 0 ? allocateBytes(firstBytes) : bytes
  buffer.length = 0
}

/** Returns what is written; the caller owns its buffer and may transfer it. */
export function detachBytes(buffer: GrowingBuffer): Uint8Array {
  const written = buffer.bytes.subarray(0, buffer.length)
  buffer.bytes = noBytes
  buffer.length = 0
  return written
}

/** Makes the whole buffer of `detachBytes` writable again. */
export const wholeBuffer = ({ buffer }: Uint8Array): Uint8Array => new Uint8Array(buffer)

/** A separate buffer, not cleared: only written bytes are ever returned. */
function allocateBytes(bytes: number): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer, byteOffset, length)
}
