import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newCanaryIndex } from '../../../build/acceptance/entry-canaries.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import { type Range, formatRange, parseRange, bigintToWords } from '../../../src/ip/range.ts'
import { isBogon } from '../../../src/ip/special-purpose.ts'
import { canaryKinds, loadCanaries } from '../../../src/table/canaries.ts'
import { tables } from './acceptance-sample.ts'

const canaries = loadCanaries()
const index = newCanaryIndex(canaries, tables)
const range = (text: string): Range => {
  const parsed = parseRange(text)
  if (parsed === undefined) throw new Error(text)
  return parsed
}

describe('data/tables/canaries.csv', () => {
  it('has every kind, no more than a person keeps by hand', () => {
    expect(new Set(canaries.map(({ kind }) => kind))).toEqual(new Set(Object.keys(canaryKinds)))
    expect(canaries.length).toBeLessThanOrEqual(500)
  })

  it('has all thirteen root servers in both families', () => {
    const roots = canaries.filter(({ kind }) => kind === 'root_server')
    for (const family of [4, 6]) {
      const names = roots.filter((root) => root.range.family === family).map(({ name }) => name[0])
      expect(names.join('')).toBe('abcdefghijklm')
    }
  })

  it('calls special what the registries do, and nothing else', () => {
    const words = new Uint32Array(4)
    for (const { kind, range } of canaries) {
      bigintToWords(range.family, range.first, words)
      expect(isBogon(range.family, words), formatRange(range)).toBe(kind === 'special')
    }
  })

  it('agrees with the tables of resolvers and crawlers', () => {
    const holds = (rows: readonly { readonly range: Range }[], it: Range): boolean =>
      rows.some(
        ({ range: { family, first, last } }) =>
          family === it.family && first <= it.first && it.last <= last,
      )
    const rows = { resolver: tables.resolvers, search_engine: tables.crawlers }
    for (const kind of ['resolver', 'search_engine'] as const) {
      const unknown = canaries.filter((it) => it.kind === kind && !holds(rows[kind], it.range))
      expect(unknown.map(({ range }) => formatRange(range))).toEqual([])
    }
  })

  it('is refused with all of its problems, by line', () => {
    const folder = mkdtempSync(join(tmpdir(), 'iprisk-canaries-'))
    const rows = [
      '# A table for a test.',
      'prefix,kind,name,source,day',
      '8.8.8.8/24,resolver,Wrong bits,https://example.com/,2026-08-22',
      '8.8.8.8/32,oracle,,ftp://example.com/,yesterday',
    ]
    writeFileSync(join(folder, 'canaries.csv'), rows.join('\n'))
    expect(() => loadCanaries(folder)).toThrow(/5 problems[^]*:3: 8\.8\.8\.8\/24[^]*:4: "oracle"/)
    expect(() => loadCanaries(join(folder, 'none'))).toThrow(/ENOENT/)
  })
})

describe('the index', () => {
  it.each([
    ['blocklist', '8.8.8.8', 'resolver'],
    ['vpn', '1.1.1.0/28', 'resolver'],
    ['vpn', '2001:4860:4860::8888', 'resolver'],
    ['tor', '198.41.0.4', 'root_server'],
    ['proxy', '198.41.0.0/24', 'root_server'],
    ['blocklist', '66.249.66.1', 'search_engine'],
    ['vpn', '66.249.66.1', undefined],
    ['bot', '66.249.66.1', undefined],
    ['hosting', '8.8.8.0/24', undefined],
    ['blocklist', '9.9.8.255', undefined],
    ['blocklist', '9.9.10.0', undefined],
  ] as const)('a list of kind %s that names %s: %s', (kind, text, expected) => {
    expect(index.kindOf({ kind }, range(text))).toBe(expected)
  })

  it.each([
    ['vpn', '104.20.4.21', 'Cloudflare front ends'],
    ['vpn', '1.2.3.4', 'APNIC research, where 1.2.3.4 is an example'],
    ['blocklist', '104.16.0.0', 'Cloudflare front ends'],
    ['residential_proxy', '104.27.255.255', 'Cloudflare front ends'],
    ['proxy', '185.199.111.128/25', 'GitHub Pages'],
    // WARP and private relay; what reaches origins.
    ['vpn', '104.28.0.0', undefined],
    ['blocklist', '172.68.0.0', undefined],
    ['vpn', '104.15.255.255', undefined],
    // A network's operator may call it what it likes; other kinds say nothing of visitors.
    ['vpn', '104.20.4.0/24', undefined],
    ['hosting', '104.20.4.21', undefined],
    ['tor', '104.20.4.21', undefined],
    ['vpn', '2606:4700::1', undefined],
  ] as const)('a list of kind %s that names %s: infrastructure of %s', (kind, text, expected) => {
    expect(index.infrastructureOf({ kind }, range(text))).toBe(expected)
  })

  it("knows a resolver's whole range from a part of it", () => {
    expect(index.holdsResolver({ kind: 'vpn' }, range('8.8.8.0/24'))).toBe(true)
    expect(index.holdsResolver({ kind: 'vpn' }, range('8.8.0.0/16'))).toBe(true)
    expect(index.holdsResolver({ kind: 'vpn' }, range('8.8.8.0/25'))).toBe(false)
    expect(index.holdsResolver({ kind: 'vpn' }, range('208.67.222.222'))).toBe(false)
    expect(index.holdsResolver({ kind: 'hosting' }, range('8.8.8.0/24'))).toBe(false)
  })

  it('finds the same as a look at every row', () => {
    const words = new Uint32Array(4)
    const resolvers = [
      ...tables.resolvers,
      ...canaries.filter(({ kind }) => kind === 'resolver'),
    ].map(({ range }) => range)
    const near = resolvers.flatMap(({ family, first, last }) =>
      [first - 1n, first, last, last + 1n].map((value): Range => ({
        family,
        first: value,
        last: value,
      })),
    )
    for (const one of near) {
      expect(parseAddress(formatRange(one), words)).toBe(one.family)
      const slow = resolvers.some(
        (it) => it.family === one.family && it.first <= one.last && one.first <= it.last,
      )
      expect(index.kindOf({ kind: 'tor' }, one) === 'resolver', formatRange(one)).toBe(slow)
    }
  })
})
