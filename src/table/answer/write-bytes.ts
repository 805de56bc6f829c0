// Hot path: no allocation, throw, closure or regular expression but in `utf8Bytes`.
//
// Each function writes at `at` and returns the end; the caller guarantees the room.

const zero = 0x30

/** Up to here division is integral, five times as fast. */
const intMax = 2 ** 31 - 1

export function utf8Bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'utf8'))
}

/** A loop, for up to some twenty bytes; `writeRun` of answer-writer.ts is for more. */
export function writeBytes(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) out[at + i] = bytes[i]!
  return at + bytes.length
}

export function writeSlice(
  out: Uint8Array,
  at: number,
  source: Uint8Array,
  from: number,
  to: number,
): number {
  for (let i = from, j = at; i < to; i++, j++) out[j] = source[i]!
  return at + to - from
}

export function writeInteger(out: Uint8Array, at: number, value: number): number {
  let digits = 1
  for (let limit = 10; digits < 16 && value >= limit; limit *= 10) digits++
  let rest = value
  let i = at + digits - 1
  for (; rest > intMax; i--) {
    const next = Math.floor(rest / 10)
    out[i] = zero + (rest - next * 10)
    rest = next
  }
  let whole = rest | 0
  for (; i >= at; i--) {
    const next = (whole / 10) | 0
    out[i] = zero + (whole - next * 10)
    whole = next
  }
  return at + digits
}
