// The tables of operators' own space: a row counts while its owner announces all of it.

import { describe, expect, it } from 'vitest'
import { announcedRanges, operatorsFiles } from '../../../build/evidence/operator-ranges.ts'
import { newParseCounts } from '../../../build/parse/parse-counts.ts'
import { catalogueFolder, loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import type { Layer } from '../../../build/layer/layer.ts'
import type { Day } from '../../../src/base/day.ts'
import { parsePrefix } from '../../../src/ip/range.ts'
import { hosterTableId } from '../../../src/score/finding/hosting-finding.ts'

const asOf = 20_000 as Day

/**
 * AS 100 holds 9.0.0.0/23 and 2a00::/32, AS 200 9.0.2.0/24, AS 101, the same owner's, 9.0.4.0/24
 * and, as a network of other traits, 9.0.5.0 to 9.0.5.9 behind it; nobody holds the rest.
 */
const ipv4: Layer = {
  family: 4,
  count: 7,
  starts: Uint32Array.of(0, 0x09000000, 0x09000200, 0x09000300, 0x09000400, 0x09000500, 0x0900050a),
  values: Uint32Array.of(0, 1, 2, 0, 3, 4, 0),
}
const ipv6: Layer = {
  family: 6,
  count: 3,
  starts: Uint32Array.of(0, 0, 0, 0, 0x2a000000, 0, 0, 0, 0x2a000001, 0, 0, 0),
  values: Uint32Array.of(0, 1, 0),
}
const space = {
  networks: [
    { asn: 100, organization: 'Operator S.A.' },
    { asn: 200, organization: 'Stranger Ltd' },
    { asn: 101, organization: 'OPERATOR S A' },
    { asn: 101, organization: 'OPERATOR S A' },
  ],
  layers: { 4: ipv4, 6: ipv6 },
}
const none = { torOperators: [], vpnOperators: [], hostingPrefixes: [] }
const from = { source: 'https://example.org/', day: 1 as Day }

function filesOf(tables: Parameters<typeof operatorsFiles>[0], besideConsensus = false) {
  const state = besideConsensus ? 'full' : 'partly'
  return operatorsFiles(tables, { space, asOf, byFeeds: { tor: { state, newest: asOf } } })
}

function readTor(prefixes: readonly (readonly [string, number])[], besideConsensus = false) {
  const rows = prefixes.map(([prefix, asn]) => ({
    range: parsePrefix(prefix)!,
    asn,
    name: 'Operator',
    ...from,
  }))
  return filesOf({ ...none, torOperators: rows }, besideConsensus)[0]
}

function readVpn(...written: readonly string[]) {
  const rows = written.map((text) => {
    const asn = text.startsWith('AS') ? Number(text.slice(2)) : undefined
    const range = asn === undefined ? parsePrefix(text)! : undefined
    return { asn, range, owner: 'Operator', name: 'Service', ...from }
  })
  return filesOf({ ...none, vpnOperators: rows })[1]
}

describe('a row of Tor operators', () => {
  it.each([
    ['9.0.0.0/24', 100, undefined],
    ['9.0.0.0/23', 100, undefined],
    ['9.0.2.0/24', 200, undefined],
    ['2a00::/32', 100, undefined],
    ['2a00:0:0:1::/64', 100, undefined],
    ['9.0.0.0/24', 200, 'announced by another owner: 9.0.0.0/24 by AS100 Operator S.A.'],
    ['9.0.0.0/22', 100, 'announced by another owner: 9.0.0.0/22 by AS200 Stranger Ltd'],
    ['9.0.3.0/24', 100, 'no longer announced: 9.0.3.0/24'],
    ['255.255.255.0/24', 100, 'no longer announced: 255.255.255.0/24'],
    ['2a00::/31', 100, 'no longer announced: 2a00::/31'],
    ['::/128', 100, 'no longer announced: ::'],
  ])('%s of AS%i: %s', (prefix, asn, problem) => {
    const { entries, tally } = readTor([[prefix, asn]])
    expect(entries).toHaveLength(problem === undefined ? 1 : 0)
    expect(tally.bad.join()).toContain(problem ?? '')
    expect(tally.entryCount).toBe(1)
  })

  it('names its operator, and is of the day on which it was checked', () => {
    const { entries, day } = readTor([['9.0.0.0/24', 100]])
    expect(entries).toEqual([{ text: '9.0.0.0/24', place: 'Operator', provider: 'Operator' }])
    expect(day).toBe(asOf)
  })

  it('is a listed range without a consensus, and less than a signal beside a fresh one', () => {
    const rangeMatch = 0.9
    expect(readTor([]).feed.weight).toBe(1)
    expect(readTor([], true).feed.weight * rangeMatch).toBeLessThan(0.25)
    expect(readTor([], true).feed).toMatchObject({ kind: 'tor', assurance: 'good', files: [] })
    const consensus = loadCatalogue(catalogueFolder).find(({ id }) => id === 'tor-exits-onionoo')
    expect(readTor([]).feed.group).toBe(consensus?.group)
  })
})

describe('a row of prefixes that rent servers', () => {
  it('counts while its AS announces all of it, as a range by the table of hosters', () => {
    const rows = (['9.0.0.0/24', '9.0.2.0/23', '9.0.4.0/24'] as const).map((prefix) => ({
      range: parsePrefix(prefix)!,
      asn: 100,
      name: 'Carrier',
      ...from,
    }))
    const { feed, entries, tally, day } = filesOf({ ...none, hostingPrefixes: rows })[2]
    expect(entries).toEqual([{ text: '9.0.0.0/24', place: 'Carrier', provider: 'Carrier' }])
    expect(tally.bad).toEqual([
      'data/tables/hosting-prefixes.csv:Carrier: announced by another owner: 9.0.2.0/23 by AS200 Stranger Ltd',
      'data/tables/hosting-prefixes.csv:Carrier: announced by another owner: 9.0.4.0/24 by AS101 OPERATOR S A',
    ])
    expect(feed).toMatchObject({ id: hosterTableId, kind: 'hosting', assurance: 'good', weight: 1 })
    expect(day).toBe(asOf)
  })
})

describe('a row of VPN operators', () => {
  it.each([
    ['AS100', ['9.0.0.0/23', '2a00::/32']],
    // Two networks of one AS that touch are one range.
    ['AS101', ['9.0.4.0-9.0.5.9']],
    ['9.0.0.0/24', ['9.0.0.0/24']],
    // By its owner's other AS.
    ['9.0.4.0/24', ['9.0.4.0/24']],
    // What nobody announces is left out.
    ['9.0.5.0/24', ['9.0.5.0-9.0.5.9']],
    ['9.0.4.0/23', ['9.0.4.0-9.0.5.9']],
    ['2a00::/31', ['2a00::/32']],
  ])('%s is all of %j', (written, texts) => {
    const { entries, tally } = readVpn(written)
    expect(entries.map(({ text }) => text)).toEqual(texts)
    expect(entries[0]).toMatchObject({ place: 'Service', provider: 'Service' })
    expect(tally).toMatchObject({ entryCount: texts.length, dropCount: 0 })
  })

  it.each([
    ['AS200', 'announced by another owner: AS200 by AS200 Stranger Ltd'],
    ['AS300', 'no longer announced: AS300'],
    ['9.0.2.0/24', 'announced by another owner: 9.0.2.0/24 by AS200 Stranger Ltd'],
    ['9.0.0.0/22', 'announced by another owner: 9.0.0.0/22 by AS200 Stranger Ltd'],
    ['9.0.3.0/24', 'no longer announced: 9.0.3.0/24'],
  ])('%s does not count: %s', (written, problem) => {
    const { entries, tally } = readVpn(written, 'AS100')
    expect(entries).toHaveLength(2)
    expect(tally.bad).toEqual([`data/tables/vpn-operators.csv:Service: ${problem}`])
    expect(tally).toMatchObject({ entryCount: 3, dropCount: 1 })
  })

  it('is a listed range of medium confidence, a voice of its own', () => {
    const { feed, day } = readVpn()
    expect(feed).toMatchObject({ kind: 'vpn', assurance: 'good', weight: 1, files: [] })
    expect(loadCatalogue(catalogueFolder).map(({ group }) => group)).not.toContain(feed.group)
    expect(day).toBe(asOf)
  })
})

describe('ASes of a blocklist', () => {
  const entries = ['AS101', 'AS999', '198.51.100.7'].map((text) => ({ text, place: text }))
  const fileOf = (id: string) => {
    const feed = loadCatalogue(catalogueFolder).find((one) => one.id === id)!
    return { feed, tally: newParseCounts(id), entries, day: asOf, problem: undefined }
  }

  it('are read as what they announce; addresses stay', () => {
    const [file] = announcedRanges([fileOf('block-ddrimus')], space)
    expect(file?.entries.map(({ text }) => text)).toEqual(['9.0.4.0-9.0.5.9', '198.51.100.7'])
  })

  it('of a list of hosters stay facts of ASes', () => {
    const file = fileOf('hosting-asn-x4b')
    expect(announcedRanges([file], space)).toEqual([file])
  })
})
