// The finer IPv6 indexes and the wider ones of IPv4: that searches through them find what a plain
// search over all starts finds, and that verification knows every wrong element.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  indexBitsFor,
  ipv4StartSections,
  ipv6KeySections,
} from '../../../../build/write/address-sections.ts'
import {
  bucketKeys,
  ipv6IndexBuckets,
  secondLevel,
  thirdLevel,
} from '../../../../src/schema/table-layout.ts'
import type { SectionViews } from '../../../../src/schema/table-sections.ts'
import { verifyIpv6Index } from '../../../../src/table/file/verify/verify-ipv6-index.ts'
import { neighborhoodOf } from '../../../../src/table/explain/neighborhood.ts'
import { ipv4StartList, ipv6KeyList } from '../../piece-lists.ts'
import { searchIpv4, searchIpv6 } from '../../../../src/table/lookup/search.ts'
import { readTableView } from '../../../../src/table/file/table-view.ts'
import { smallContent } from '../../small-table.ts'
import { inForm } from '../../../form.ts'
import { encodedTable } from '../../encoded-table.ts'

const keyEnd = ipv6IndexBuckets * bucketKeys
const small = smallContent()

/**
 * A crowd: `count` keys from `first` on, each up to 2^width behind the one before, so that their
 * slots are filled evenly or, where width leaps, hardly at all.
 */
const crowds = fc.array(
  fc.record({
    first: fc.oneof(
      fc.nat({ max: 2 ** 20 - 1 }).map((bucket) => bucket * bucketKeys),
      fc.maxSafeNat().map((key) => key % keyEnd),
      fc.constantFrom(0, keyEnd - bucketKeys, keyEnd - 100),
    ),
    widths: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 3 }),
    count: fc.integer({ min: 1, max: 700 }),
    seed: fc.nat(),
  }),
  { minLength: 1, maxLength: 5 },
)

type Crowds = typeof crowds extends fc.Arbitrary<infer Value> ? Value : never

function keysOf(from: Crowds): Float64Array {
  const keys = new Set([0])
  for (const { first, widths, count, seed } of from) {
    let key = first
    let state = seed
    for (let at = 0; at < count && key < keyEnd; at++) {
      keys.add(key)
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      key += 1 + Math.floor((state / 2 ** 32) * 2 ** widths[at % widths.length]!)
    }
  }
  return Float64Array.from(keys).sort()
}

/** Record i is i. */
function ipv6Views(keys: Float64Array): SectionViews {
  const ipv6_records = Uint32Array.from(keys, (_, at) => at)
  return { ...small.views, ipv6_records, ...ipv6KeySections(keys) }
}

function wordsOf(key: number): Uint32Array {
  const top = 0x2000_0000 + Math.floor(key / 2 ** 23)
  return Uint32Array.of(top, (key % 2 ** 23) * 512 + 5, 6, 7)
}

/** Crowds in one slot, and over many. */
const mixed: Crowds = [
  { first: 2 ** 40, widths: [3], count: 300, seed: 1 },
  { first: 2 ** 41, widths: [25], count: 200, seed: 1 },
]

/** The slow twin: the last start at or below, by looking at all. */
function scan(starts: Uint32Array | Float64Array, value: number): number {
  return starts.findLastIndex((start) => start <= value)
}

function around(starts: Uint32Array | Float64Array, end: number): number[] {
  const near = [...starts].flatMap((start) => [start - 1, start, start + 1])
  return [...near, end - 1].filter((value) => value >= 0 && value < end)
}

const untouched = (section: string, at: number, why: string): never => {
  throw new Error(`${section} ${at}: ${why}`)
}

describe('the finer indexes of IPv6', () => {
  it('lead to what a scan finds', () => {
    const numRuns = inForm({ short: 10, full: 25 })
    const seen = { second: 0, third: 0 }
    const property = fc.property(crowds, (from) => {
      const keys = keysOf(from)
      const views = ipv6Views(keys)
      verifyIpv6Index(views, untouched)
      expect(ipv6KeyList(views)).toEqual(keys)
      if (views.ipv6_second.some((rank) => rank > 0)) seen.second++
      if (views.ipv6_third.some((rank) => rank > 0)) seen.third++
      const sample = around(keys, keyEnd).filter(
        (_, at, all) => at % Math.ceil(all.length / 100) === 0,
      )
      for (const key of sample) {
        expect(searchIpv6(views, wordsOf(key))).toBe(scan(keys, key))
      }
    })
    fc.assert(property, { numRuns })
    // The generator would show nothing without crowds.
    expect(seen.second).toBeGreaterThan(numRuns / 5)
    expect(seen.third).toBeGreaterThan(numRuns / 12.5)
  })

  it('are known as wrong by any element that is changed', () => {
    const keys = keysOf(mixed)
    const views = ipv6Views(keys)
    const wrong = fc.constantFrom(1, -1, 2 ** 31, keys.length)
    for (const name of ['ipv6_second', 'ipv6_third'] as const) {
      const section = views[name]
      expect(section.some((rank) => rank > 0)).toBe(true)
      const property = fc.property(fc.nat({ max: section.length - 1 }), wrong, (at, by) => {
        const changed = section.slice()
        changed[at]! += by
        expect(() => verifyIpv6Index({ ...views, [name]: changed }, untouched)).toThrow(/ipv6_/)
      })
      fc.assert(property, { numRuns: 6 })
    }
  })

  it('are known as wrong from their first element on, where no slot is', () => {
    const sparse = { first: bucketKeys, widths: [30], count: 64, seed: 1 }
    const views = ipv6Views(keysOf([sparse, ...mixed]))
    for (const name of ['ipv6_second', 'ipv6_third'] as const) {
      const changed = views[name].slice()
      expect(changed[0]).toBe(0)
      changed[0] = 1
      const verify = (): void => verifyIpv6Index({ ...views, [name]: changed }, untouched)
      expect(verify).toThrow(`${name} 0: it is not zero where no slot is`)
    }
  })

  it('never make a search endless or throw, whatever they say', () => {
    const keys = keysOf(mixed)
    const views = ipv6Views(keys)
    const words = [...keys].map((key) => wordsOf(key))
    for (const value of [0, 1, keys.length, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) {
      const filled = (one: Uint32Array, step: number): Uint32Array =>
        one.map((rank, at) => (at % step === 0 ? value : rank))
      for (const step of [1, 2]) {
        const ipv6_second = filled(views.ipv6_second, step)
        const ipv6_third = filled(views.ipv6_third, step)
        const hostile = { ...views, ipv6_second, ipv6_third }
        expect(() => words.forEach((one) => searchIpv6(hostile, one))).not.toThrow()
      }
    }
  })

  it('have room between those of their neighbours, at the bounds of what is crowded', () => {
    for (const count of [secondLevel, thirdLevel].flatMap(({ crowded }) => [
      crowded,
      crowded + 1,
    ])) {
      const full = { first: 7 * bucketKeys, widths: [0], count: count + 1, seed: 3 }
      const keys = keysOf([
        full,
        { ...full, first: 8 * bucketKeys },
        { ...full, first: 9 * bucketKeys },
      ])
      const views = ipv6Views(keys)
      verifyIpv6Index(views, untouched)
      for (const key of around(keys, keyEnd)) {
        expect(searchIpv6(views, wordsOf(key))).toBe(scan(keys, key))
      }
    }
  })
})

describe('the IPv4 index', () => {
  it('is wider for more pieces', () => {
    const counts = [1, 20 * 2 ** 16, 20 * 2 ** 16 + 1, 4_300_000, 20 * 2 ** 20]
    expect(counts.map(indexBitsFor)).toEqual([16, 16, 17, 18, 20])
  })

  it('is finer where no cache would hold it', () => {
    expect([20 * 2 ** 20 + 1, 25e6, 50e6, 4e9].map(indexBitsFor)).toEqual([23, 23, 24, 24])
  })

  it('leads to what a scan finds, however wide it is', () => {
    const starts = fc.uniqueArray(
      fc.oneof(
        fc.integer({ min: 1, max: 2 ** 32 - 1 }),
        fc.integer({ min: 1, max: 2 ** 24 - 1 }).map((block) => block * 256),
        fc.integer({ min: 0x0808_0000, max: 0x0808_0400 }),
      ),
      { maxLength: 60 },
    )
    const property = fc.property(starts, fc.constantFrom(16, 18, 20, 22), (some, bits) => {
      const sorted = Uint32Array.from([0, ...some]).sort()
      const ipv4_records = Uint32Array.from(sorted, (_, at) => at)
      const views = { ...small.views, ipv4_records, ...ipv4StartSections(sorted, bits) }
      expect([...ipv4StartList(views)]).toEqual([...sorted])
      for (const value of around(sorted, 2 ** 32)) {
        expect(searchIpv4(views, value)).toBe(scan(sorted, value))
      }
    })
    fc.assert(property, { numRuns: 5 })
  })

  const withIndex = (bits: number, length = 2 ** bits + 1): Uint8Array => {
    const starts = ipv4StartSections(ipv4StartList(small.views), bits)
    const ipv4_index = starts.ipv4_index.subarray(0, length)
    return encodedTable({ ...small, views: { ...small.views, ...starts, ipv4_index } }).bytes
  }

  it('is read from a table as wide as it is, also by neighborhoods', () => {
    const wide = readTableView(withIndex(22), 'wide').views
    const usual = readTableView(withIndex(16), 'usual').views
    expect([wide, usual].map(({ ipv4_index }) => ipv4_index.length)).toEqual([
      2 ** 22 + 1,
      2 ** 16 + 1,
    ])
    for (const address of [0x0901_0203, 0x0b05_0505, 0x0a00_0001, 0xffff_ffff]) {
      expect(searchIpv4(wide, address)).toBe(searchIpv4(usual, address))
      const words = Uint32Array.of(address, 0, 0, 0)
      const place = { family: 4, words, network: 1 } as const
      expect(neighborhoodOf(wide, place)).toEqual(neighborhoodOf(usual, place))
    }
  })

  it('of a damaged table is walked no further than a /20 can be cut', () => {
    const neighborhood = (pieces: number) => (): unknown => {
      const starts = new Uint32Array(1 + pieces).fill(0x0901_0001)
      starts[0] = 0
      const ipv4_records = new Uint32Array(starts.length)
      const views = { ...small.views, ipv4_records, ...ipv4StartSections(starts, 16) }
      const words = Uint32Array.of(0x0901_0203, 0, 0, 0)
      return neighborhoodOf(views, { family: 4, words, network: 0 })
    }
    expect(neighborhood(4097)).not.toThrow()
    expect(neighborhood(4098)).toThrow(/ipv4_starts .* the starts do not ascend/)
  })

  it('is refused when a table is opened with one of another length', () => {
    for (const [bits, length] of [
      [15, 2 ** 15 + 1],
      [21, 2 ** 21],
      [21, 2 ** 20 + 2],
    ] as const) {
      const bytes = withIndex(bits, length)
      expect(() => readTableView(bytes, 'other')).toThrow(/section ipv4_index/)
    }
  })
})
