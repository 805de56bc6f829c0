// Bogons. The committed registry, the program's prefixes and the hand-written comparisons are held
// together: isBogon = bogonRanges = a linear scan over the CSV at both sides of every boundary and
// on random addresses.

import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import type { Family } from '../../src/ip/address.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { maxAddress, prefixRange, wordsToBigint, bigintToWords } from '../../src/ip/range.ts'
import { rangeSetContains, toRangeSet } from '../../src/ip/range-set.ts'
import { bogonRanges, isBogon } from '../../src/ip/special-purpose.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import { ipv4Words, ipv6Words } from './addresses.ts'

interface Row {
  readonly first: bigint
  readonly last: bigint
  readonly length: number
  readonly reachable: boolean | undefined
}

const truth = { True: true, False: false, 'N/A': undefined } as const

function readCsv(family: Family): readonly Record<string, string>[] {
  const file = new URL(`../../data/iana/ipv${family}-special-registry.csv`, import.meta.url)
  return parse<Record<string, string>>(readFileSync(file), { columns: true })
}

/** The rows of the CSV as ranges, read by ipaddr.js. */
function readRows(family: Family): readonly Row[] {
  return readCsv(family).map((row) => {
    const [address, length] = ipaddr.parseCIDR(row['Address Block']!)
    const value = address.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
    const { first, last } = prefixRange(family, value, length)
    if (first !== value) throw new Error(`${row['Address Block']} has host bits`)
    const reachable = truth[row['Globally Reachable'] as keyof typeof truth]
    return { first, last, length, reachable }
  })
}

const rows = { 4: readRows(4), 6: readRows(6) } as const

/** The contract's sentence (3.8), word by word, as a linear scan. */
function twin(family: Family, value: bigint): boolean {
  if (family === 4) {
    if (value >> 28n === 0xen) return true // multicast
    if (value >> 24n === 0n || value >> 28n === 0xfn) return true // 0.0.0.0/8, 240.0.0.0/4
    if (value >> 8n === 0xc05863n) return false // 192.88.99.0/24 is looked up
  } else {
    if (value >> 32n === 0x64ff9bn << 64n) return false // 64:ff9b::/96
    if (value >> 125n !== 1n) return true // outside 2000::/3
    if (value >> 96n === 0x20010000n) return false // Teredo: by the embedded address
  }
  let best: Row | undefined
  for (const row of rows[family]) {
    const covers = row.first <= value && value <= row.last && row.reachable !== undefined
    if (covers && (best === undefined || row.length > best.length)) best = row
  }
  return best?.reachable === false
}

function bogon(family: Family, value: bigint): boolean {
  const words = newAddressWords()
  bigintToWords(family, value, words)
  return isBogon(family, words)
}

function bogonText(text: string): boolean {
  const words = newAddressWords()
  const family = parseAddress(text, words)
  if (family === 0) throw new Error(`${text} is no address`)
  return isBogon(family, words)
}

function show(family: Family, value: bigint): string {
  const words = newAddressWords()
  bigintToWords(family, value, words)
  return formatAddress(family, words)
}

// prettier-ignore
const bogons = [
  '0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.1', '100.127.255.255',
  '127.0.0.1', '169.254.1.1', '172.16.0.0', '172.31.255.255', '192.0.0.0', '192.0.0.8',
  '192.0.0.11', '192.0.0.170', '192.0.0.255', '192.0.2.1', '192.168.0.1', '198.18.0.0',
  '198.19.255.255', '198.51.100.24', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.0',
  '255.255.255.255', '::', '::1', '::1.2.3.4', '::ffff:8.8.8.8', '64:ff9b:1::1', '64:ff9b::1:0:0',
  '64:ff9a:ffff::', '100::1', '100:0:0:1::1', '1fff:ffff::', '2001:1::', '2001:1::4',
  '2001:1::1:0:1', '2001:1:0:1::1', '2001:2::1', '2001:2:1::1', '2001:4::1', '2001:4:111::',
  '2001:4:113::', '2001:5::', '2001:10::1', '2001:1f:ffff::', '2001:40::', '2001:1ff:ffff::',
  '2001:db8::1', '2001:db8:ffff::', '3fff::', '3fff:fff:ffff::', '4000::', '5f00::1', 'fc00::1',
  'fd12::1', 'fe80::1', 'fec0::1', 'ff02::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]

// prettier-ignore
const ordinary = [
  '1.0.0.0', '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0',
  '126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255',
  '172.32.0.0', '191.255.255.255', '192.0.0.9', '192.0.0.10', '192.0.1.0', '192.0.3.0',
  '192.31.196.1', '192.52.193.1', '192.88.99.0', '192.88.99.1', '192.88.99.2', '192.88.99.255',
  '192.167.255.255', '192.169.0.0', '192.175.48.1', '198.17.255.255', '198.20.0.0',
  '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255',
  '64:ff9b::8.8.8.8', '64:ff9b::10.0.0.1', '2000::', '2001::1', '2001:0:ffff::', '2001:1::1',
  '2001:1::2', '2001:1::3', '2001:3::', '2001:3:ffff::', '2001:4:112::', '2001:4:112:ffff::',
  '2001:20::', '2001:2f:ffff::', '2001:30::', '2001:3f:ffff::', '2001:200::', '2001:db7:ffff::',
  '2001:db9::', '2002::', '2002:a00:1::', '2003::', '2606:4700:4700::1111', '2620:4f:8000::1',
  '3ffe::1', '3fff:1000::', '3fff:ffff::',
]

describe('the registry', () => {
  it.each([4, 6] as const)('of IPv%i has only words that are known', (family) => {
    const words = readCsv(family).map((row) => row['Globally Reachable']!)
    expect(words.length).toBeGreaterThan(20)
    expect(Object.keys(truth)).toEqual(expect.arrayContaining([...new Set(words)]))
  })
})

describe('isBogon', () => {
  it.each(bogons)('%s is a bogon', (text) => {
    expect(bogonText(text)).toBe(true)
  })

  it.each(ordinary)('%s is ordinary', (text) => {
    expect(bogonText(text)).toBe(false)
  })

  it.each([4, 6] as const)('agrees with the linear scan at every boundary, IPv%i', (family) => {
    const differences: string[] = []
    const ranges = bogonRanges(family)
    const edges = [...rows[family], ...ranges].flatMap(({ first, last }) => [first, last])
    // Every prefix of 8 bits as well, which finds a comparison with the wrong shift.
    const step = maxAddress(family) + 1n
    for (let top = 0n; top < 256n; top++) edges.push((top * step) / 256n)
    for (const edge of edges) {
      for (const value of [edge - 1n, edge, edge + 1n]) {
        if (value < 0n || value > maxAddress(family)) continue
        const found = [bogon(family, value), rangeSetContains(ranges, value)]
        if (found.some((one) => one !== twin(family, value))) differences.push(show(family, value))
      }
    }
    expect(differences).toEqual([])
  })

  it('agrees with the linear scan address by address around some /24 of IPv4', () => {
    const words = newAddressWords()
    let differences = 0
    for (const prefix of [0xc00000, 0xc00002, 0xc05863, 0xc01fc4, 0xc63364, 0xcb0071, 0x640040]) {
      for (let value = (prefix - 1) * 256; value < (prefix + 2) * 256; value++) {
        words[0] = value
        if (isBogon(4, words) !== twin(4, BigInt(value))) differences++
      }
    }
    expect(differences).toBe(0)
  })

  it('agrees with the linear scan on every second group of 2001::/16', () => {
    const differences: string[] = []
    for (let group = 0n; group < 0x10000n; group++) {
      const base = ((0x2001n << 16n) | group) << 96n
      if (bogon(6, base) !== twin(6, base)) differences.push(show(6, base))
    }
    expect(differences).toEqual([])
  })

  it('agrees with the linear scan and with bogonRanges on random addresses', () => {
    const ranges = { 4: bogonRanges(4), 6: bogonRanges(6) } as const
    const near = fc
      .tuple(ipv6Words, fc.constantFrom(...rows[6]), fc.nat(128))
      .map(([words, row, bits]) => {
        // The top bits of an entry, the others random: inside it, or in a neighbour.
        const keep = (maxAddress(6) >> BigInt(bits)) ^ maxAddress(6)
        const value = (row.first & keep) | (wordsToBigint(6, words) & ~keep & maxAddress(6))
        return [6, value] as const
      })
    const any = fc.oneof(
      ipv4Words.map((words) => [4, wordsToBigint(4, words)] as const),
      ipv6Words.map((words) => [6, wordsToBigint(6, words)] as const),
      near,
    )
    fc.assert(
      fc.property(any, ([family, value]) => {
        const expected = twin(family, value)
        expect(bogon(family, value)).toBe(expected)
        expect(rangeSetContains(ranges[family], value)).toBe(expected)
      }),
      { numRuns: 8_000 },
    )
  })
})

describe('bogonRanges', () => {
  it.each([4, 6] as const)('is a range set, IPv%i', (family) => {
    const set = bogonRanges(family)
    expect(toRangeSet(set)).toEqual(set)
    expect(set.every((range) => range.family === family)).toBe(true)
  })

  it('begins and ends where the families do', () => {
    expect(bogonRanges(4).at(0)!.first).toBe(0n)
    expect(bogonRanges(4).at(-1)!.last).toBe(maxAddress(4))
    expect(bogonRanges(6).at(0)!.first).toBe(0n)
    expect(bogonRanges(6).at(-1)!.last).toBe(maxAddress(6))
  })
})
