// Numbers of 128 bits, and ranges as the fewest prefixes, held to the bigints of src/ip/range.ts.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bitAt, sharedBits, splitRange, writeBefore } from '../../src/ip/prefix-split.ts'
import { compareWords, newAddressWords } from '../../src/ip/address.ts'
import { bigintToWords, wordsToBigint } from '../../src/ip/range.ts'
import { rangeToPrefixes } from './addresses.ts'
import { formatAddress } from '../../src/ip/format-address.ts'

/** Also of few bits, at any place. */
const value = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 255n }), fc.integer({ min: 0, max: 120 }))
    .map(([bits, shift]) => bits << BigInt(shift)),
)
const wordsOf = (number: bigint): Uint32Array => {
  const words = newAddressWords()
  bigintToWords(6, number, words)
  return words
}

describe('numbers of four words', () => {
  it('compare, and have bits, as bigints do', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [left, right] = [wordsOf(a), wordsOf(b)]
        expect(Math.sign(compareWords(left, 0, right, 0, 4))).toBe(a < b ? -1 : a > b ? 1 : 0)
        const text = (number: bigint): string => number.toString(2).padStart(128, '0')
        const shared = /^1*/.exec(text(((1n << 128n) - 1n) ^ a ^ b))?.[0].length
        expect(sharedBits(left, right)).toBe(shared)
        expect(Array.from({ length: 128 }, (_, place) => bitAt(left, place)).join('')).toBe(text(a))
      }),
    )
  })

  it('have the number before them', () => {
    fc.assert(
      fc.property(value, (a) => {
        fc.pre(a > 0n)
        const words = wordsOf(a)
        writeBefore(words, words)
        expect(wordsToBigint(6, words)).toBe(a - 1n)
      }),
    )
    const words = Uint32Array.of(1, 0, 0, 0)
    writeBefore(words, words)
    expect([...words]).toEqual([0, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff])
  })
})

describe('splitRange', () => {
  const split = (first: bigint, last: bigint): string[] => {
    const prefixes: string[] = []
    splitRange(wordsOf(first), wordsOf(last), (address, length) => {
      prefixes.push(`${formatAddress(6, address)}/${length}`)
    })
    return prefixes
  }

  it('gives the prefixes that bigints give', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [first, last] = a < b ? [a, b] : [b, a]
        expect(split(first, last)).toEqual(rangeToPrefixes({ family: 6, first, last }))
      }),
    )
  })

  it.each([
    [0n, (1n << 128n) - 1n, ['::/0']],
    [0n, 0n, ['::/128']],
    [(1n << 128n) - 1n, (1n << 128n) - 1n, ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128']],
    [1n, 6n, ['::1/128', '::2/127', '::4/127', '::6/128']],
    [0xffff_ffffn, 1n << 32n, ['::ffff:ffff/128', '::1:0:0/128']],
  ])('splits %s to %s', (first, last, prefixes) => {
    expect(split(first, last)).toEqual(prefixes)
  })
})
