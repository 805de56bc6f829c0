// Arbitrary addresses for the tests of src/ip. Uniform words alone would hardly ever show a run of
// zeros, a carry or a boundary, so half of the groups are taken from values that do.

import * as fc from 'fast-check'
import type { Family } from '../../src/ip/address.ts'
import { addressBits, formatRange, type Range } from '../../src/ip/range.ts'

const telling = [0, 0, 0, 1, 0xffff, 0xfffe, 0x8000, 0x64, 0xff9b, 0x2001, 0x2002, 0xdb8, 0xa00]

export const groupArbitrary = fc.oneof(fc.constantFrom(...telling), fc.nat(0xffff))

const wordArbitrary = fc
  .tuple(groupArbitrary, groupArbitrary)
  .map(([high, low]) => ((high << 16) | low) >>> 0)

export const ipv4Words = wordArbitrary.map((value) => Uint32Array.of(value, 0, 0, 0))

export const ipv6Words = fc
  .tuple(wordArbitrary, wordArbitrary, wordArbitrary, wordArbitrary)
  .map((words) => Uint32Array.from(words))

/** Either family, with its words. */
export const addressArbitrary: fc.Arbitrary<readonly [Family, Uint32Array]> = fc.oneof(
  ipv4Words.map((words) => [4, words] as const),
  ipv6Words.map((words) => [6, words] as const),
)

/** The bytes of an address, most significant first, as ipaddr.js wants them. */
export function bytesOf(family: Family, words: Uint32Array): number[] {
  return Array.from({ length: family === 4 ? 4 : 16 }, (_, at) => {
    return (words[at >> 2]! >>> (24 - 8 * (at & 3))) & 0xff
  })
}

/** The words of bytes, the inverse of `bytesOf`. */
export function wordsOf(bytes: readonly number[]): Uint32Array {
  const words = new Uint32Array(4)
  bytes.forEach((byte, at) => {
    words[at >> 2] = words[at >> 2]! | (byte << (24 - 8 * (at & 3)))
  })
  return words
}

/** How many addresses the ranges of a set hold. */
export function addressCount(set: readonly Range[]): bigint {
  return set.reduce((sum, { first, last }) => sum + last - first + 1n, 0n)
}

/** The fewest prefixes that together are the range, in order, each with its length. */
export function rangeToPrefixes({ family, first: begin, last }: Range): string[] {
  const prefixes: string[] = []
  for (let first = begin; first <= last;) {
    let hostBits = 0n
    // Widen while `first` stays aligned and the prefix stays inside the range.
    while (hostBits < addressBits(family)) {
      const mask = (2n << hostBits) - 1n
      if ((first & mask) !== 0n || (first | mask) > last) break
      hostBits++
    }
    const text = formatRange({ family, first, last: first })
    prefixes.push(`${text}/${addressBits(family) - Number(hostBits)}`)
    first += 1n << hostBits
  }
  return prefixes
}
