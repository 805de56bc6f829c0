// The hot searches against a plain scan of the pieces that the sections were made from.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Layer, valueAt } from '../../../build/layer/layer.ts'
import { ipv4Sections, ipv6Sections } from '../../../build/write/address-sections.ts'
import { maxAddress, bigintToWords } from '../../../src/ip/range.ts'
import type { SectionViews } from '../../../src/schema/table-sections.ts'
import { searchIpv4, searchIpv6 } from '../../../src/table/lookup/search.ts'
import { inForm } from '../../form.ts'

function piecesOf(family: 4 | 6, starts: readonly bigint[]): Layer {
  const sorted = [...new Set([0n, ...starts])].sort((a, b) => (a < b ? -1 : 1))
  const words = new Uint32Array(4)
  const flat: number[] = []
  for (const start of sorted) {
    bigintToWords(family, start, words)
    flat.push(...(family === 4 ? [words[0]!] : words))
  }
  return {
    family,
    count: sorted.length,
    starts: Uint32Array.from(flat),
    // Neighbours differ, and some values recur.
    values: Uint32Array.from(sorted, (_, index) => index % 1000),
  }
}

function around(starts: readonly bigint[], inside: (value: bigint) => boolean): bigint[] {
  return starts.flatMap((start) => [start - 1n, start, start + 1n]).filter(inside)
}

const ipv4 = fc.oneof(
  fc.bigInt({ min: 0n, max: maxAddress(4) }),
  fc.bigInt({ min: 0n, max: 0xf_ffffn }).map((bucket) => bucket << 12n),
  fc.bigInt({ min: 0x0808_0000n, max: 0x0808_0040n }),
  fc.constantFrom(0n, 1n, maxAddress(4), maxAddress(4) - 1n),
)

const low64 = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }))
const ipv6 = fc
  .tuple(
    fc.oneof(
      fc.bigInt({ min: 0x2000n << 48n, max: (0x4000n << 48n) - 1n }),
      fc.bigInt({ min: 0n, max: 0x300n }).map((n) => (0x2a01_04f8n << 32n) | n),
      fc.bigInt({ min: 0n, max: 0xf_ffffn }).map((bucket) => (1n << 61n) | (bucket << 41n)),
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    ),
    low64,
  )
  .map(([high, low]) => (high << 64n) | low)

const first6 = 0x2000n << 112n
const last6 = (0x4000n << 112n) - 1n

describe('searchIpv4', () => {
  it('finds the piece that a scan finds', () => {
    fc.assert(
      fc.property(fc.array(ipv4, { maxLength: 60 }), fc.array(ipv4), (starts, others) => {
        const pieces = piecesOf(4, starts)
        const views = ipv4Sections(pieces) as SectionViews
        const layer = pieces
        const words = new Uint32Array(4)
        const inside = (value: bigint): boolean => value >= 0n && value <= maxAddress(4)
        for (const value of [...around(starts, inside), ...others]) {
          bigintToWords(4, value, words)
          expect(searchIpv4(views, words[0]!)).toBe(valueAt(layer, words))
        }
      }),
      { numRuns: inForm({ short: 8, full: 60 }) },
    )
  })
})

describe('searchIpv6', () => {
  it('finds the piece that a scan finds, with and without tails', () => {
    fc.assert(
      fc.property(fc.array(ipv6, { maxLength: 60 }), fc.array(ipv6), (starts, others) => {
        const pieces = piecesOf(6, starts)
        const views = ipv6Sections(pieces) as SectionViews
        const layer = pieces
        const words = new Uint32Array(4)
        const inside = (value: bigint): boolean => value >= first6 && value <= last6
        const asked = [...around(starts, inside), ...others.filter(inside), first6, last6]
        for (const value of asked) {
          bigintToWords(6, value, words)
          expect(searchIpv6(views, words)).toBe(valueAt(layer, words))
        }
      }),
      { numRuns: inForm({ short: 8, full: 60 }) },
    )
  })

  it('keeps neighbours inside one /64 apart', () => {
    const at = (0x2a01_04f8_0001_0002n << 64n) | 5n
    const pieces = piecesOf(6, [at, at + 1n, at + 3n])
    const views = ipv6Sections(pieces) as SectionViews
    const words = new Uint32Array(4)
    const found = [-1n, 0n, 1n, 2n, 3n, 4n, 1n << 70n].map((step) => {
      bigintToWords(6, at + step, words)
      return searchIpv6(views, words)
    })
    expect(found).toEqual([0, 1, 2, 2, 3, 3, 3])
    expect(views.ipv6_tail_records.length).toBe(4)
  })
})
