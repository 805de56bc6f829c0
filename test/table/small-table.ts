// A small but whole table for tests: every section has content, both families, a tail group. Made
// by the compiler's own assemble and write, from documentation-style facts.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TableParts, assembleTable } from '../../build/assemble-table.ts'
import { newEvidenceBook } from '../../build/evidence/evidence-book.ts'
import {
  type Observation,
  flattenEvidence,
  newListInterner,
} from '../../build/layer/flatten-evidence.ts'
import type { Layer, Layers } from '../../build/layer/layer.ts'
import { pairLayers } from '../../build/layer/overlay.ts'
import { makePlaceRuns } from '../../build/places/place-runs.ts'
import { type TableContent, writeTable } from '../../build/write/write-table.ts'
import { type Day, parseDay } from '../../src/base/day.ts'
import { type Range, parseRange, bigintToWords } from '../../src/ip/range.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import { type TableCoverage, coveredKinds } from '../../src/model/coverage.ts'
import type { Kind } from '../../src/model/kind.ts'
import type { Location } from '../../src/api/check-answer.ts'
import { type Network, noTraits } from '../../src/model/network.ts'

export const asOf = parseDay('2026-08-22') as Day

/** Of a table whose feeds cover every kind. */
export const fullCoverage: TableCoverage = coveredKinds.map((kind) => ({
  kind,
  state: 'full',
  newest: asOf,
  addresses: 1000,
}))

/** The day of the table, by the clock. */
export const asOfMs = asOf * 86_400_000

const networks: readonly Network[] = [
  network(64496, 'Example Access', { type: 'isp', access: true }),
  network(64497, 'Example "Hosting" Ltd', { type: 'hosting' }),
  network(64498, 'Éxample Mobile', { type: 'mobile', access: true, mobile: true, shared: true }),
]

const locations: readonly Location[] = [
  place('DE', 'Berlin', { latitude: 52.52, longitude: 13.405, zip: '10115' }),
  place('DE', '', { latitude: -33.8688, longitude: -151.2093, zip: '' }),
]

/**
 * Network 1 holds 9.0.0.0/8 and 2a00::/16, network 2 11.0.0.0/8 and 2a01::/16, network 3 the next.
 */
export const networkRanges: readonly (readonly [string, number])[] = [
  ['9.0.0.0/8', 1],
  ['11.0.0.0/8', 2],
  ['12.0.0.0/8', 3],
  ['2a00::/16', 1],
  ['2a01::/16', 2],
  ['2a02::/16', 3],
]

export const listed: readonly (readonly [string, Kind, string])[] = [
  ['9.1.2.3', 'tor', ''],
  ['9.1.2.3', 'blocklist', ''],
  ['9.200.0.0/16', 'vpn', 'Example VPN'],
  ['11.0.0.0/8', 'hosting', 'Example Hosting'],
  ['11.1.1.1', 'vpn', 'Example VPN'],
  ['12.0.0.5', 'residential_proxy', ''],
  ['9.9.9.9', 'proxy', ''],
  ['11.66.0.0/16', 'bot', 'Examplebot'],
  ['9.77.0.0/24', 'relay', 'Example Relay'],
  ['2a01:4f8::/32', 'hosting', 'Example Hosting'],
  ['2a01:4f8::1', 'tor', ''],
  ['2a01:4f8::3', 'vpn', 'Example VPN'],
  ['2a00:1:2:3::/64', 'proxy', ''],
  ['2002:0b01:0102::/48', 'proxy', ''],
]

export function smallContent(entries = listed, coverage = fullCoverage): TableContent {
  return assembleTable({ ...smallParts(entries), coverage }).content
}

/** Writes the table into a new folder and gives its path. */
export function writeSmallTable(coverage = fullCoverage): string {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-table-')), 'small.iprisk')
  writeTable(path, smallContent(listed, coverage))
  return path
}

export function smallParts(
  entries = listed,
): TableParts & { readonly locations: readonly Location[]; readonly networkLayers: Layers } {
  const book = newEvidenceBook()
  const observations: Record<4 | 6, Observation[]> = { 4: [], 6: [] }
  for (const [text, kind, provider] of entries) {
    const range = parseRange(text) as Range
    const evidence = book.id({ source: 0, evidence: saying(kind, provider, range), range })
    observations[range.family].push({ first: range.first, last: range.last, evidence })
  }
  const lists = newListInterner()
  const ofAs = book.id({
    source: 1,
    evidence: saying('hosting', 'Example Hosting', undefined),
    range: undefined,
  })
  const networkLayers = { 4: layer(4, networkRanges), 6: layer(6, networkRanges) }
  const placeLayers = {
    4: layer(4, [
      ['9.0.0.0/9', 1],
      ['11.0.0.0/8', 2],
    ]),
    6: layer(6, [
      ['2a00::/16', 1],
      ['2a01:4f8::/33', 2],
    ]),
  }
  return {
    asOf,
    coverage: fullCoverage,
    sources: [source('test-feed', 3), source('table-hosting', 1)],
    networks,
    networkLayers,
    locations,
    placeRuns: makePlaceRuns(locations),
    pairs: pairLayers(networkLayers, placeLayers),
    book,
    lists,
    evidenceLayers: {
      4: flattenEvidence(4, observations[4], lists),
      6: flattenEvidence(6, observations[6], lists),
    },
    statementsOfAs: ({ asn }) => (asn === 64497 ? [ofAs] : []),
  }
}

function layer(family: 4 | 6, ranges: readonly (readonly [string, number])[]): Layer {
  const starts: number[] = []
  const values: number[] = []
  const words = new Uint32Array(4)
  const add = (start: bigint, value: number): void => {
    bigintToWords(family, start, words)
    starts.push(...(family === 4 ? [words[0]!] : words))
    values.push(value)
  }
  let next = 0n
  add(0n, 0)
  for (const [text, value] of ranges) {
    const range = parseRange(text) as Range
    if (range.family !== family) continue
    if (range.first === next) drop()
    add(range.first, value)
    next = range.last + 1n
    add(next, 0)
  }
  function drop(): void {
    values.pop()
    starts.length -= family === 4 ? 1 : 4
  }
  const count = values.length
  return { family, count, starts: Uint32Array.from(starts), values: Uint32Array.from(values) }
}

const voice = {
  group: 'test',
  weight: 0.95,
  weightLow: 0.9,
  weightHigh: 1,
  assurance: 'direct',
  rolling: false,
  asns: [],
} as const

/** Of the hosters' table where there is no range, else of the feed. */
function saying(kind: Kind, provider: string, range: Range | undefined): Evidence {
  const { weightLow: _low, weightHigh: _high, ...own } = voice
  const isExact = range !== undefined && range.first === range.last
  return {
    voice: { id: range === undefined ? 'table-hosting' : 'test-feed', ...own },
    kind,
    match: range === undefined ? 'as' : isExact ? 'exact' : 'range',
    provider,
    category: kind === 'bot' ? 'search_crawler' : undefined,
    lists: 1,
    firstSeen: asOf,
    lastSeen: asOf,
    daysListed: 1,
    daysObserved: 1,
  }
}

function source(id: string, entries: number) {
  return {
    id,
    kind: 'hosting',
    provider: 'Example',
    licence: 'CC0-1.0',
    homepage: 'https://example.com/',
    day: asOf,
    entries,
    voice,
  }
}

function network(asn: number, organization: string, traits: Partial<Network>): Network {
  return { asn, organization, ...noTraits, ...traits }
}

function place(code: string, city: string, at: Partial<Location>): Location {
  return {
    country_code: code,
    continent_code: 'EU',
    continent: 'Europe',
    country: 'Germany',
    state: city === '' ? '' : 'State of Berlin',
    city,
    zip: '',
    latitude: 0,
    longitude: 0,
    timezone: 'Europe/Berlin',
    currency_code: 'EUR',
    accuracy: city === '' ? 'country' : 'city',
    ...at,
  }
}
