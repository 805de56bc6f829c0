// The client's reader of addresses against the server's parser, its twin: the same texts pass, with
// the same value.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressGroups, unmapped } from '../../../src/client/address/address-text.ts'
import { newAddressWords } from '../../../src/ip/address.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'

function byServer(text: string): readonly number[] | undefined {
  const words = newAddressWords()
  const family = parseAddress(text, words)
  const groups = [...words].flatMap((word) => [word >>> 16, word & 0xffff])
  return family === 0 ? undefined : groups.slice(0, family === 4 ? 2 : 8)
}

/** Texts near addresses: their parts in any order. */
const part = fc.oneof(
  fc.constantFrom(':', '::', '.', '%', '/', '[', ']', ' ', '0', '00', '-'),
  fc.nat({ max: 300 }).map(String),
  fc.nat({ max: 0x1ffff }).map((value) => value.toString(16)),
)
const nearAddress = fc.array(part, { maxLength: 17 }).map((parts) => parts.join(''))
/** Most of these are addresses. */
const groups = fc.array(fc.nat({ max: 0xffff }), { minLength: 5, maxLength: 8 })
const nearIpv6 = fc
  .tuple(groups, fc.nat({ max: 8 }), fc.constantFrom('', '1.2.3.4', '1.2.3.256'), fc.boolean())
  .map(([values, gap, quad, upper]) => {
    const texts = values.map((value) => value.toString(16))
    const text = [texts.slice(0, gap).join(':'), texts.slice(gap).join(':')].join('::') + quad
    return upper ? text.toUpperCase() : text
  })

describe('the text of an address', () => {
  it.each([
    ['192.0.2.1'],
    ['1:2:3:4:5:6:7:8'],
    ['::'],
    ['1::'],
    ['::1'],
    ['1:2:3:4:5:6:7::'],
    ['::2:3:4:5:6:7:8'],
    ['1:2:3:4:5:6:1.2.3.4'],
    ['::ffff:192.0.2.1'],
    ['FFFF:ffff:ffff:ffff:ffff:ffff:255.255.255.255'],
  ])('%s is one', (text) => {
    expect(addressGroups(text)).toEqual(byServer(text))
    expect(addressGroups(text)).toBeDefined()
  })

  it('is one here exactly where it is one for the server', () => {
    const same = (text: string): void => {
      expect(addressGroups(text)).toEqual(byServer(text))
    }
    fc.assert(fc.property(nearAddress, same), { numRuns: 2000 })
    fc.assert(fc.property(nearIpv6, same), { numRuns: 2000 })
    fc.assert(fc.property(fc.string(), same))
  })

  it('is none where it is no text', () => {
    expect([undefined, null, 7, {}, []].map(addressGroups)).toEqual(Array(5).fill(undefined))
  })

  it('of IPv4 mapped into IPv6 is that of IPv4', () => {
    const texts = ['::ffff:192.0.2.1', '::ffff:c000:201', '::fffe:192.0.2.1', '192.0.2.1', '::1']
    expect(texts.map((text) => unmapped(addressGroups(text) ?? []))).toEqual([
      '192.0.2.1',
      '192.0.2.1',
      undefined,
      undefined,
      undefined,
    ])
  })
})
