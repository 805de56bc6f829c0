// The filter before the look-up in own lists: it keeps nearly all addresses from the look-up, and
// none that an entry covers, also inside what is wide.

import { expect, it } from 'vitest'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { decodeListFile } from '../../src/lists/compile/list-file.ts'
import { mayCoverIpv4, mayCoverIpv6 } from '../../src/lists/list-filter.ts'
import { listBytes, plainList } from './matcher-of.ts'

function filterOf(...entries: readonly string[]): (text: string) => boolean {
  const sections = decodeListFile(listBytes([plainList('a', 'block', ...entries)]), 'test')
  return (text) => {
    const words = newAddressWords()
    const family = parseAddress(text, words)
    if (family === 4) return mayCoverIpv4(sections.filter4, words[0]!)
    return mayCoverIpv6(sections, words)
  }
}

const ipv4 = (i: number): string => `${20 + (i % 60)}.${(i * 7) % 256}.${(i * 13) % 256}.1`
const ipv6 = (i: number): string => `2a0${i % 8}:${(i * 31) % 4096}:${(i * 17) % 4096}:7::1`

it('keeps nearly all that is on no list from the look-up', () => {
  const listed = Array.from({ length: 2000 }, (_, i) => [
    `150.${i % 200}.${Math.floor(i / 8) % 256}.0/27`,
    `2c0f:${i.toString(16)}::/64`,
  ]).flat()
  const mayCover = filterOf(...listed)
  for (const address of [ipv4, ipv6]) {
    const through = Array.from({ length: 5000 }, (_, i) => address(i)).filter(mayCover)
    expect(through.length).toBeLessThan(500)
  }
  expect(listed.every((text) => mayCover(text.replace(/\/\d+$/, '').replace(/::$/, '::5')))).toBe(
    true,
  )
})

it('has one bit in sixteen for each prefix, in a power of two', () => {
  const sizes = [1, 2, 100].map((count) => {
    const entries = Array.from({ length: count }, (_, i) => `10.0.${i}.0/24`)
    const { filter4 } = decodeListFile(listBytes([plainList('a', 'block', ...entries)]), 'test')
    return filter4.length - 1
  })
  expect(sizes).toEqual([1, 2, 64])
})

it.each([
  ['10.0.0.0/8', ['10.0.0.0', '10.77.3.9', '10.255.255.255'], '11.0.0.1'],
  ['0.0.0.0/1', ['0.0.0.0', '99.1.2.3', '127.255.255.255'], undefined],
  ['203.0.113.7-203.0.114.9', ['203.0.113.200', '203.0.114.0'], '203.0.115.1'],
  ['255.255.255.255', ['255.255.255.255'], '9.9.9.9'],
  ['2a00::/19', ['2a00::', '2a00:1234:5::1', '2a00:1fff:ffff:ffff::'], '2a00:4000::1'],
  ['2000::/3', ['2000::', '2a01:4f8::1', '3fff:ffff::1'], undefined],
  ['2a01:4f8::/48', ['2a01:4f8::', '2a01:4f8:0:ffff::1'], '2a02::1'],
  ['2a01:4f8:0:fff0::/60', ['2a01:4f8:0:fff0::', '2a01:4f8:0:ffff::1'], '2a01:4f8:9::1'],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], '2::'],
])('lets through what %s covers', (entry, inside, outside) => {
  const mayCover = filterOf(entry)
  expect(inside.filter((text) => !mayCover(text))).toEqual([])
  expect(outside === undefined ? false : mayCover(outside)).toBe(false)
})
