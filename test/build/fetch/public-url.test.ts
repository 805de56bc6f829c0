// What is shown of an address, and where a mirror's files lie.

import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from '../../../build/fetch/fetch-error.ts'
import {
  basicAuthorization,
  publicUrl,
  mirrorUrl,
  parseWebUrl,
} from '../../../build/fetch/public-url.ts'

describe('publicUrl', () => {
  it.each([
    ['https://a.example/x?b=1&c=%20d', 'https://a.example/x?b=1&c=%20d'],
    ['https://u:p@a.example/x#part', 'https://a.example/x'],
    ['https://a.example/?license_key=s&edition=1', 'https://a.example/?license_key=***&edition=1'],
    [
      'https://a.example/?TOKEN=s&api-key=s&apikey=s',
      'https://a.example/?TOKEN=***&api-key=***&apikey=***',
    ],
    ['https://a.example/?monkey=1&keyboard=2', 'https://a.example/?monkey=1&keyboard=2'],
  ])('%s', (url, shown) => {
    expect(publicUrl(new URL(url))).toBe(shown)
  })
})

describe('underMirror', () => {
  it.each([
    ['http://m.example', 'http://m.example/feed/a.txt'],
    ['http://m.example/', 'http://m.example/feed/a.txt'],
    ['http://m.example/x/y', 'http://m.example/x/y/feed/a.txt'],
    ['http://m.example/x/y/', 'http://m.example/x/y/feed/a.txt'],
    ['http://m.example/x?sig=1', 'http://m.example/x/feed/a.txt?sig=1'],
  ])('%s', (base, url) => {
    expect(mirrorUrl(new URL(base), ['feed', 'a.txt']).href).toBe(url)
  })

  it('keeps a name in its folder', () => {
    expect(mirrorUrl(new URL('http://m.example'), ['feed', '../../x?y']).pathname).toBe(
      '/feed/..%2F..%2Fx%3Fy',
    )
  })
})

describe('webUrl', () => {
  it.each(['ftp://a.example/', 'file:///etc/passwd', 'a.example', '', 'http://'])(
    'refuses %j',
    (text) => {
      expect(() => parseWebUrl(text)).toThrow(/not an http or https address/)
    },
  )
})

describe('basicAuthorization', () => {
  it('decodes what the address encodes', () => {
    const expected = `Basic ${Buffer.from('ü:p@ss').toString('base64')}`
    expect(basicAuthorization(new URL('http://%C3%BC:p%40ss@a.example/'))).toBe(expected)
    expect(basicAuthorization(new URL('http://a.example/'))).toBeUndefined()
  })
})

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-08-22T12:00:00Z')
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 22 Aug 2026 12:00:30 GMT', 30_000],
    ['Sat, 22 Aug 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['99999999999999', undefined],
    [undefined, undefined],
  ])('%j', (text, ms) => {
    expect(parseRetryAfter(text, now)).toBe(ms)
  })
})
