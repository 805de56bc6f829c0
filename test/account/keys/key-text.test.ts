// The text of a key: its form, its inverse, and that every typing error is caught by the checksum.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatKeyText,
  isKeyId,
  parseKeyText,
  randomId,
  randomSecret,
} from '../../../src/account/keys/key-text.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base62 = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...digits.split('')), minLength: length, maxLength: length })
const parts = fc.record({ id: base62(12), secret: base62(32) })

/** CRC-32 bit by bit, as its definition has it. */
function slowCrc(text: string): number {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** Of a live key. */
const keyTextChars = 55

describe('the text of a key', () => {
  it('has the form of the contract', () => {
    for (let i = 0; i < 200; i += 1) {
      const text = formatKeyText({ id: randomId(), secret: randomSecret() })
      expect(text).toMatch(/^irk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/)
      expect(text).toHaveLength(keyTextChars)
    }
  })

  it('of a test key has a prefix of its own, which the checksum covers', () => {
    const key = { id: randomId(), secret: randomSecret() }
    const text = formatKeyText({ ...key, test: true })
    expect(text).toMatch(/^irkt_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/)
    expect(parseKeyText(text)).toEqual({ ...key, test: true })
    expect(parseKeyText(text.replace('irkt_', 'irk_'))).toBeUndefined()
    expect(parseKeyText(formatKeyText(key).replace('irk_', 'irkt_'))).toBeUndefined()
  })

  it('ends in the CRC-32 of all before, in base 62', () => {
    fc.assert(
      fc.property(parts, (key) => {
        const text = formatKeyText(key)
        let value = 0
        for (const digit of text.slice(-6)) value = value * 62 + digits.indexOf(digit)
        expect(value).toBe(slowCrc(text.slice(0, -6)))
      }),
    )
  })

  it('parses to what it was made of', () => {
    fc.assert(
      fc.property(parts, (key) => {
        expect(parseKeyText(formatKeyText(key))).toEqual(key)
      }),
    )
  })

  it('does not survive any change of one character', () => {
    const text = formatKeyText({ id: randomId(), secret: randomSecret() })
    for (let at = 0; at < text.length; at += 1) {
      for (const other of `${digits}_- é\0`) {
        if (other === text[at]) continue
        const changed = text.slice(0, at) + other + text.slice(at + 1)
        expect([at, other, parseKeyText(changed)]).toEqual([at, other, undefined])
      }
    }
  })

  it('does not survive two neighbours swapped, one left out or one doubled', () => {
    fc.assert(
      fc.property(parts, fc.nat(keyTextChars - 2), (key, at) => {
        const text = formatKeyText(key)
        const [left = '', right = ''] = [text[at], text[at + 1]]
        const swapped = text.slice(0, at) + right + left + text.slice(at + 2)
        expect(parseKeyText(swapped)).toEqual(left === right ? key : undefined)
        expect(parseKeyText(text.slice(0, at) + text.slice(at + 1))).toBeUndefined()
        expect(parseKeyText(text.slice(0, at) + left + text.slice(at))).toBeUndefined()
      }),
    )
  })

  it('takes nothing else', () => {
    const good = formatKeyText({ id: randomId(), secret: randomSecret() })
    const others = ['', 'irk_', good.toUpperCase(), ` ${good}`, `${good}\n`, 'x'.repeat(55)]
    for (const text of others) expect([text, parseKeyText(text)]).toEqual([text, undefined])
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        expect(parseKeyText(text)).toBeUndefined()
      }),
    )
  })
})

describe('random parts', () => {
  it('use every digit about equally often', () => {
    const counts = new Map<string, number>()
    const drawn = 40_000
    let all = ''
    while (all.length < drawn) all += randomSecret()
    for (const digit of all) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    // Pearson's statistic with 61 degrees of freedom: 140 is passed once in 10^7 runs.
    const expected = all.length / 62
    const statistic = digits
      .split('')
      .map((digit) => ((counts.get(digit) ?? 0) - expected) ** 2 / expected)
      .reduce((sum, part) => sum + part)
    expect(statistic).toBeLessThan(140)
  })

  it('never repeat', () => {
    const ids = Array.from({ length: 10_000 }, randomId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every(isKeyId)).toBe(true)
  })
})

it('tells ids from other text', () => {
  for (const text of ['', 'short', 'a'.repeat(13), 'a-aaaaaaaaaa', 'é'.repeat(12)]) {
    expect([text, isKeyId(text)]).toEqual([text, false])
  }
})

// What README gives to secret scanners.
const scannerPattern = /\birk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}\b/g

describe('a secret scanner', () => {
  it('finds every key in a text, and no id, half a key or other text', () => {
    const keys = Array.from({ length: 1000 }, () =>
      formatKeyText({ id: randomId(), secret: randomSecret() }),
    )
    const lines = keys.map((key, i) => `KEY_${i}="${key}", irk_${randomId()}, x${key}, ${key}y`)
    const found = lines.join('\n').match(scannerPattern)
    expect(found).toEqual(keys)
    expect(found?.every((key) => parseKeyText(key) !== undefined)).toBe(true)
  })
})

it('catches 100,000 random typing errors without a look-up', () => {
  // A generator with a seed: a failure comes again.
  let state = 20260822
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  let text = ''
  let caught = 0
  for (let i = 0; i < 100_000; i += 1) {
    if (i % 1000 === 0) text = formatKeyText({ id: randomId(), secret: randomSecret() })
    const at = random(keyTextChars - 1)
    const [here = '', next = ''] = [text[at], text[at + 1]]
    const other = digits.charAt((digits.indexOf(here) + 1 + random(61)) % 62)
    const swap = i % 2 === 0 && here !== next
    const typo = text.slice(0, at) + (swap ? next + here : other + next) + text.slice(at + 2)
    if (typo !== text && parseKeyText(typo) === undefined) caught += 1
  }
  expect(caught).toBe(100_000)
})
