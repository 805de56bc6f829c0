// Hot path: no allocation, throw, closure, BigInt or regular expression.
//
// Addresses as words, most significant first, and the fewest prefixes that cover a range. Ranges
// have four words: IPv4 is below ::/96, so its prefixes are 96 bits longer here. An odd range of
// IPv6 has up to 254 prefixes: with bigints, 16,000 such list entries took most of a minute.

import { compareWords } from './address.ts'

/** Sets `out` to the number before `words`, which is not 0; they may be the same array. */
export function writeBefore(words: Uint32Array, out: Uint32Array): void {
  out.set(words)
  for (let i = out.length - 1; i >= 0; i--) {
    out[i]! -= 1
    if (out[i] !== 0xffff_ffff) return
  }
}

export function bitAt(words: Uint32Array, place: number): 0 | 1 {
  return ((words[place >>> 5]! >>> (31 - (place & 31))) & 1) as 0 | 1
}

export function sharedBits(a: Uint32Array, b: Uint32Array): number {
  for (let word = 0; word < 4; word++) {
    const other = (a[word]! ^ b[word]!) >>> 0
    if (other !== 0) return word * 32 + Math.clz32(other)
  }
  return 128
}

const current = new Uint32Array(4)

/** `address` is valid until it returns. */
export type TakePrefix = (address: Uint32Array, length: number) => void

/**
 * Calls `take` with the fewest prefixes that cover `from` to `to`, inclusive, in order. Each is the
 * widest that begins after the last one: as wide as the trailing zero bits of its first address
 * allow, and no wider than the rest.
 */
export function splitRange(from: Uint32Array, to: Uint32Array, take: TakePrefix): void {
  current.set(from)
  for (;;) {
    const hostBits = Math.min(zeroBitsAtEnd(), powerUpTo(to))
    take(current, 128 - hostBits)
    if (addPower(current, 0, 4, hostBits) || compareWords(current, 0, to, 0, 4) > 0) return
  }
}

function zeroBitsAtEnd(): number {
  for (let word = 3; word >= 0; word--) {
    const value = current[word]!
    if (value !== 0) return (3 - word) * 32 + 31 - Math.clz32(value & -value)
  }
  return 128
}

/** The highest n for which 2^n addresses from `current` end at or before `last`. */
function powerUpTo(last: Uint32Array): number {
  let power = 0
  let carry = 1
  for (let i = 3; i >= 0; i--) {
    const size = last[i]! - current[i]! + carry
    carry = size < 0 ? -1 : Number(size > 0xffff_ffff)
    const word = size >>> 0
    if (word !== 0) power = (4 - i) * 32 - 1 - Math.clz32(word)
  }
  return carry === 1 ? 128 : power
}

/** Adds 2^bits in place; returns whether the sum is past the last address. */
export function addPower(all: Uint32Array, from: number, words: number, bits: number): boolean {
  // Shifts: `**` took most of the time of a million prefixes.
  let carry = (1 << (bits & 31)) >>> 0
  for (let i = words - 1 - (bits >>> 5); i >= 0 && carry > 0; i--) {
    const sum = all[from + i]! + carry
    all[from + i] = sum
    carry = sum > 0xffff_ffff ? 1 : 0
  }
  return carry > 0 || bits === words * 32
}
