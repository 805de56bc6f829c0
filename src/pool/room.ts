// Bytes that grow: an answer for each line of a piece, one behind the other. What is given away is
// replaced by fresh room of about the size that the last piece needed.

export interface Room {
  bytes: Uint8Array
  /** How many of them are written. */
  at: number
}

export function newRoom(bytes: number): Room {
  return { bytes: freshBytes(bytes), at: 0 }
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

/** What is written, with the buffer that it lies in: it may be transferred. */
export function giveAway(room: Room): Uint8Array {
  const given = room.bytes.subarray(0, room.at)
  room.bytes = freshBytes(room.bytes.length)
  room.at = 0
  return given
}

/** A buffer of its own, not cleared: only what is written is ever given away. */
function freshBytes(bytes: number): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.allocUnsafeSlow(bytes)
  return new Uint8Array(buffer, byteOffset, length)
}
