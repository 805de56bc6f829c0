// Bytes that grow: an answer for each line of a piece, one behind the other. Room comes from whoever
// took what was written before, so that megabytes are not allocated for each piece.

export interface Room {
  bytes: Uint8Array
  /** How many of them are written. */
  at: number
}

const firstBytes = 1 << 16
const noBytes = new Uint8Array(0)

export function newRoom(): Room {
  return { bytes: noBytes, at: 0 }
}

/** Afterwards so many more bytes fit behind `at`. */
export function makeRoom(room: Room, bytes: number): void {
  if (room.at + bytes <= room.bytes.length) return
  const larger = freshBytes((room.at + bytes) * 2)
  larger.set(room.bytes.subarray(0, room.at))
  room.bytes = larger
}

export function putPart(room: Room, part: Uint8Array): void {
  makeRoom(room, part.length)
  room.bytes.set(part, room.at)
  room.at += part.length
}

/** Goes on in these bytes, or in fresh ones where there are none. */
export function useRoom(room: Room, bytes: Uint8Array | undefined): void {
  room.bytes = bytes === undefined || bytes.length === 0 ? freshBytes(firstBytes) : bytes
  room.at = 0
}

/** What is written, with the buffer that it lies in: it may be transferred. */
export function giveAway(room: Room): Uint8Array {
  const given = room.bytes.subarray(0, room.at)
  room.bytes = noBytes
  room.at = 0
  return given
}

/** All of the bytes that something was given away of. */
export function wholeOf({ buffer }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer)
}

/** A buffer of its own, not cleared: only what is written is ever given away. */
function freshBytes(bytes: number): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer, byteOffset, length)
}
