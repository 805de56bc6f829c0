// Transposes rows of 32-bit words to columns and back: unchanged columns equal yesterday's, and
// changed ones compress.
//
//   rows      a0 b0 c0 a1 b1 c1 a2 b2 c2         words = 3
//   columns   a0 a1 a2 b0 b1 b2 c0 c1 c2
//   steps     a0 a1-a0 a2-a1 …                   for columns stored as differences
//
// Steps, modulo 2³², are for increasing values: an added row changes one step, not all later
// values. Invariant, tested: `fromPlanes` is the inverse of `toPlanes`.

/** 0 words: bytes stay unchanged. */
export interface Shape {
  readonly words: number
  readonly steps: boolean
}

/** `bytes` is a whole number of rows, aligned to four bytes. */
export function toPlanes(bytes: Uint8Array, { words, steps }: Shape): Uint8Array {
  if (words === 0 || (words === 1 && !steps)) return bytes
  const from = wordsOf(bytes)
  const to = new Uint32Array(from.length)
  const rows = from.length / words
  for (let column = 0, out = 0; column < words; column++) {
    let before = 0
    for (let row = 0, at = column; row < rows; row++, at += words) {
      const value = from[at]!
      to[out++] = steps ? value - before : value
      before = value
    }
  }
  return new Uint8Array(to.buffer)
}

/** `out` has the same length and is aligned to four bytes. */
export function fromPlanes(planes: Uint8Array, out: Uint8Array, { words, steps }: Shape): void {
  if (words === 0) {
    out.set(planes)
    return
  }
  const from = wordsOf(planes)
  const to = wordsOf(out)
  const rows = from.length / words
  for (let column = 0, at = 0; column < words; column++) {
    let before = 0
    for (let row = 0, into = column; row < rows; row++, into += words) {
      before = steps ? (before + from[at++]!) >>> 0 : from[at++]!
      to[into] = before
    }
  }
}

const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / 4)
