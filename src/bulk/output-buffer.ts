// Hot path: no allocation, throw or closure.
//
// Where lines of output are put together: one array for all of them, so that compiled code knows where
// it is and how long (a third of the time of a growing array's). What stands in it goes to the room of
// the piece in large parts.
// Who begins a piece clears it, who ends one empties it to the room.

import { runElementBytes } from '../schema/table-layout.ts'
import { type Room, putPart } from './growing-buffer.ts'

const stageBytes = 1 << 15
const stage = new Uint8Array(stageBytes)
const view = new DataView(stage.buffer)

/** How many bytes of it are written. */
let staged = 0

/** Forgets what stands in it. */
export function clearStage(): void {
  staged = 0
}

/** All of it goes to the room. */
export function unstage(room: Room): void {
  putPart(room, stage.subarray(0, staged))
  staged = 0
}

/** Whether so many bytes more have a place here, if need be after `unstage`. */
function fits(room: Room, bytes: number): boolean {
  if (staged + bytes <= stageBytes) return true
  unstage(room)
  return bytes <= stageBytes
}

export function stageByte(room: Room, byte: number): void {
  if (staged === stageBytes) unstage(room)
  stage[staged] = byte
  staged += 1
}

/** A loop: what comes this way is short. */
export function stageSpan(room: Room, source: Uint8Array, from: number, to: number): void {
  if (!fits(room, to - from)) {
    putPart(room, source.subarray(from, to))
    return
  }
  let at = staged
  for (let i = from; i < to; i++) stage[at++] = source[i]!
  staged = at
}

/**
 * Text of UTF-8, eight bytes at a time, though it begins anywhere; `source` has seven bytes more. What
 * those are is no matter: as a double they could change nothing but themselves (table-layout.ts).
 */
export function stageView(room: Room, source: DataView, from: number, to: number): void {
  if (!fits(room, to - from + runElementBytes)) {
    putPart(room, new Uint8Array(source.buffer, source.byteOffset + from, to - from))
    return
  }
  let at = staged
  for (let i = from; i < to; i += runElementBytes, at += runElementBytes) {
    view.setFloat64(at, source.getFloat64(i, true), true)
  }
  staged += to - from
}

/** Not hot. */
export function stageText(room: Room, text: string): void {
  const bytes = Buffer.from(text)
  stageSpan(room, bytes, 0, bytes.length)
}

/** `bytes` of the text that begins at element `from` of `data`, eight at a time (see table-layout.ts). */
export function stageRun(room: Room, data: Float64Array, from: number, bytes: number): void {
  // The last element may reach beyond the text.
  if (!fits(room, bytes + runElementBytes)) {
    const at = data.byteOffset + from * runElementBytes
    putPart(room, new Uint8Array(data.buffer, at, bytes))
    return
  }
  const end = staged + bytes
  for (let to = staged, i = from; to < end; to += runElementBytes, i++) {
    view.setFloat64(to, data[i]!, true)
  }
  staged = end
}
