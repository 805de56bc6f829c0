// Entries as texts and keys.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bigintToWords, maxAddress, prefixRange } from '../../src/ip/range.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import {
  formatEntryKey,
  isWide,
  keyOfRange,
  parseEntryKey,
  rangeOfKey,
} from '../../src/lists/list-entry.ts'

const range = fc
  .tuple(fc.constantFrom(4, 6), fc.bigInt({ min: 0n, max: maxAddress(6) }), fc.nat(128))
  .map(([family, value, length]) => {
    const own = family === 4 ? 4 : 6
    return prefixRange(own, value & maxAddress(own), Math.min(length, own === 4 ? 32 : 128))
  })

describe('a key', () => {
  it('is what its text means, and back', () => {
    const property = fc.property(range, (one) => {
      const key = keyOfRange(one)
      expect(rangeOfKey(key)).toEqual(one)
      const isInsideMapped = one.family === 6 && one.first >> 32n === 0xffffn
      fc.pre(!isInsideMapped)
      expect(parseEntryKey(formatEntryKey(key))).toBe(key)
      const size = one.last - one.first + 1n
      expect(isWide(key)).toBe(size > 1n << (one.family === 4 ? 24n : 109n))
    })
    fc.assert(property, { numRuns: 3000 })
  })

  it('is wide from one address more than the widest prefix on', () => {
    const isWideText = (text: string): boolean => isWide(parseEntryKey(text) as string)
    expect(isWideText('9.0.0.1-10.0.0.0')).toBe(false)
    expect(isWideText('9.0.0.0-10.0.0.0')).toBe(true)
    expect(isWideText('2a00::1-2a00:2000::')).toBe(false)
    expect(isWideText('2a00::-2a00:2000::')).toBe(true)
  })

  it('of a single address is that of its range, in every form of the text', () => {
    const words = new Uint32Array(4)
    const address = fc.bigInt({ min: 0n, max: maxAddress(6) })
    const property = fc.property(address, (value) => {
      bigintToWords(6, value, words)
      const text = formatAddress(6, words)
      expect(parseEntryKey(text)).toBe(parseEntryKey(`${text}/128`))
    })
    fc.assert(property)
    expect(parseEntryKey('::ffff:192.0.2.1')).toBe(parseEntryKey('192.0.2.1/32'))
    expect(parseEntryKey('192.0.2.1-192.0.2.1')).toBe('4c0000201c0000201')
    expect(parseEntryKey('as64496')).toBe('a0000fbf0')
    for (const text of ['', 'x', '1.2.3', '1.2.3.4/33', 'AS0', 'AS4294967296', '9.9.9.9-9.9.9.8']) {
      expect(parseEntryKey(text)).toHaveProperty('fault')
    }
  })
})
