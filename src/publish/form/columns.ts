// Rows of 32-bit words to columns and back: unchanged columns are those of yesterday, and what
// changes compresses.
//
//   rows      a0 b0 c0 a1 b1 c1 a2 b2 c2         words = 3
//   columns   a0 a1 a2 b0 b1 b2 c0 c1 c2
//   steps     a0 a1-a0 a2-a1 …                   where a column is kept as the steps of its values
//
// Steps, modulo 2³², are for values that count upwards: one more row changes one step, not all values
// behind it. Invariant, tested: `fromPlanes` is the inverse of `toPlanes`.

/** 0 words: the bytes stay as they are. */
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
  return bytesOf(to)
}

/** `out` has as many bytes and is aligned to four. */
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

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}
