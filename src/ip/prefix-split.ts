// Hot path: no allocation, throw, closure, BigInt or regular expression.
//
// Addresses as words, most significant first, and the fewest prefixes that cover a range. A range
// is of four words: IPv4 lies below ::/96, so its prefixes are 96 bits longer here. An odd range of
// IPv6 has up to 254: with big integers, 16,000 such entries of a list took most of a minute.

import { compareWords } from './address.ts'

/** `out` becomes the number before `words`, which is not 0; they may be the same. */
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

/** `address` may be read until it returns. */
export type TakePrefix = (address: Uint32Array, length: number) => void

/**
 * Hands over the fewest prefixes that cover `from` to `to`, both inclusive, in order. Each is the
 * widest that begins where the previous one ended: as wide as its first address has zero bits at
 * its end, and no wider than what is left.
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

/** The highest n for which 2^n addresses from `current` on end at or below `last`. */
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

/** Adds 2^bits in place; whether the sum lies behind the last address. */
export function addPower(all: Uint32Array, from: number, words: number, bits: number): boolean {
  // Shifts, for `**` took most of the time of a million prefixes.
  let carry = (1 << (bits & 31)) >>> 0
  for (let i = words - 1 - (bits >>> 5); i >= 0 && carry > 0; i--) {
    const sum = all[from + i]! + carry
    all[from + i] = sum
    carry = sum > 0xffff_ffff ? 1 : 0
  }
  return carry > 0 || bits === words * 32
}
