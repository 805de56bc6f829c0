// Hot path: no allocation, throw, closure, BigInt or regular expression.
//
// 128-bit numbers as four words, most significant first, and the fewest prefixes that cover a
// range. IPv4 lies below ::/96, so its prefixes are 96 bits longer here.

import { compareWords } from '../ip/address.ts'

/** `out` becomes the number before `words`, which is not 0; they may be the same. */
export function writeBefore(words: Uint32Array, out: Uint32Array): void {
  subtractInto(words, one, out)
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

const one = Uint32Array.of(0, 0, 0, 1)
const size = new Uint32Array(4)
const first = new Uint32Array(4)

/** `address` may be read until it returns. */
export type TakePrefix = (address: Uint32Array, length: number) => void

/**
 * Hands over the fewest prefixes that cover `from` to `to`, both inclusive, in order. Each is the
 * widest that begins where the previous one ended: as wide as its first address has zero bits at
 * its end, and no wider than what is left.
 */
export function splitRange(from: Uint32Array, to: Uint32Array, take: TakePrefix): void {
  first.set(from)
  for (;;) {
    subtractInto(to, first, size)
    const hostBits = Math.min(zeroBitsAtEnd(first), bitsWithin(size))
    take(first, 128 - hostBits)
    if (!addPower(first, hostBits) || compareWords(first, 0, to, 0, 4) > 0) return
  }
}

function subtractInto(a: Uint32Array, b: Uint32Array, out: Uint32Array): void {
  let borrow = 0
  for (let word = 3; word >= 0; word--) {
    const value = a[word]! - b[word]! - borrow
    out[word] = value
    borrow = value < 0 ? 1 : 0
  }
}

function zeroBitsAtEnd(words: Uint32Array): number {
  for (let word = 3; word >= 0; word--) {
    const value = words[word]!
    if (value !== 0) return (3 - word) * 32 + 31 - Math.clz32(value & -value)
  }
  return 128
}

/** The highest h with 2^h - 1 <= words. */
function bitsWithin(words: Uint32Array): number {
  let top = 0
  while (top < 4 && words[top] === 0) top++
  if (top === 4) return 0
  const bits = (3 - top) * 32 + 32 - Math.clz32(words[top]!)
  let ones = (words[top]! & (words[top]! + 1)) === 0
  for (let word = top + 1; ones && word < 4; word++) ones = words[word] === 0xffff_ffff
  return ones ? bits : bits - 1
}

/** Adds 2^power; returns whether the sum fits into 128 bits. */
function addPower(words: Uint32Array, power: number): boolean {
  if (power === 128) return false
  let word = 3 - (power >>> 5)
  let value = words[word]! + 2 ** (power & 31)
  words[word] = value
  while (value > 0xffff_ffff) {
    if (word === 0) return false
    word--
    value = words[word]! + 1
    words[word] = value
  }
  return true
}
