// Reads a request's body: pieces, and room for them. A body that comes in one piece, as nearly all
// do, is used in place.
// Invariants: a piece is copied or used before its callback returns; `releaseBody` returns the
// room of a body; an unread body holds one byte. `isShredded` finds a sender whose many pieces cost
// more than they bring: for uWebSockets.js each chunk of a body is a call.

import { checkBodyBytesMax } from '../api/public-port.ts'
import { smallBodyBytes } from './exchange/body-budget.ts'
import type { Exchange } from './exchange/exchange.ts'

/**
 * Pieces of a body, and one more for each `bodyBytesAPieceMin` bytes: a sender that writes a check
 * byte by byte needs a hundred. Each costs a quarter of a microsecond, so a megabyte in the
 * smallest allowed pieces costs 20 ms.
 */
export const bodyPiecesFree = 256
const bodyBytesAPieceMin = 16

/** A body that is too large is read and discarded up to this, so that its sender sees the 413. */
export const discardedBytesMax = 1_048_576

export const noBytes = Buffer.alloc(0)

export type RequestBody = ReturnType<typeof newRequestBody>

export function newRequestBody() {
  return {
    contentLength: 0,
    bytesMax: 0,
    /** An endpoint reads it; otherwise only its first byte is kept. */
    isRead: false,
    /** What has come so far, if it comes in pieces. */
    buffered: noBytes,
    /** Room that the body holds (body-budget.ts). */
    reservedBytes: 0,
    /** No room: the body is only counted and discarded. */
    shed: false,
    bytes: 0,
    pieces: 0,
  }
}

export function resetBody(body: RequestBody, contentLength: number): void {
  body.contentLength = contentLength
  body.bytesMax = checkBodyBytesMax
  body.isRead = false
  body.buffered = noBytes
  body.reservedBytes = 0
  body.shed = false
  body.bytes = 0
  body.pieces = 0
}

export const bodyStates = { unfinished: 0, whole: 1, tooLarge: 2 } as const
export type BodyState = (typeof bodyStates)[keyof typeof bodyStates]

const { unfinished, whole, tooLarge } = bodyStates

export function isShredded({ pieces, bytes }: RequestBody): boolean {
  return pieces > bodyPiecesFree + bytes / bodyBytesAPieceMin
}

/** After `whole` the body is `wholeBody`, until `releaseBody`. */
export function takePiece(
  body: RequestBody,
  exchange: Exchange,
  piece: ArrayBuffer,
  isLast: boolean,
): BodyState {
  const { bytes: before, bytesMax, contentLength } = body
  const bytes = before + piece.byteLength
  body.bytes = bytes
  const done = isLast ? whole : unfinished
  if (bytes > bytesMax || contentLength > bytesMax) {
    releaseBody(body, exchange)
    return isLast || bytes > bytesMax + discardedBytesMax ? tooLarge : unfinished
  }
  if (isLast && before === 0) return whole
  if (body.shed || !body.isRead) {
    // Only `beginsLikeChunk` needs its first byte. Requests without a key get no room.
    if (before === 0) body.buffered = Buffer.from(piece.slice(0, 1))
  } else if (reserveBody(body, exchange)) {
    // Copied: the piece is dead after this call.
    Buffer.from(piece).copy(body.buffered, before)
  } else {
    const first = Buffer.allocUnsafeSlow(1)
    first[0] = (before === 0 ? new Uint8Array(piece) : body.buffered)[0]!
    releaseBody(body, exchange)
    body.buffered = first
    body.shed = true
  }
  return done
}

/** Or its first byte if it is not read. */
export function wholeBody(body: RequestBody, lastPiece: ArrayBuffer): Uint8Array {
  if (body.bytes === lastPiece.byteLength) return new Uint8Array(lastPiece)
  return body.shed || !body.isRead ? body.buffered : body.buffered.subarray(0, body.bytes)
}

function reserveBody(body: RequestBody, { key, service }: Exchange): boolean {
  const { buffered, reservedBytes, bytes, bytesMax, contentLength } = body
  if (buffered.length >= bytes) return true
  // A client's stated length is not a reason to reserve that much memory.
  const ahead = Math.min(contentLength, checkBodyBytesMax)
  const doubled = Math.min(buffered.length * 2, bytesMax)
  const wanted = Math.max(bytes, ahead, doubled, smallBodyBytes)
  if (!service.bodyBudget.reserve(key?.keyId ?? '', reservedBytes, wanted)) return false
  body.reservedBytes = wanted
  // Never a slice of Node's 8 KiB pool: the counted bytes are those held.
  body.buffered = Buffer.allocUnsafeSlow(wanted)
  buffered.copy(body.buffered)
  return true
}

export function releaseBody(body: RequestBody, { key, service }: Exchange): void {
  body.buffered = noBytes
  if (body.reservedBytes === 0) return
  service.bodyBudget.release(key?.keyId ?? '', body.reservedBytes)
  body.reservedBytes = 0
}
