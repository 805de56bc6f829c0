// What the doctor says of the editions of networks and places under a table.

import { expect, it } from 'vitest'
import { type Day, parseDay } from '../../../src/base/day.ts'
import { checkDataSets, dataSetDaysMax } from '../../../src/cli/doctor/check-files.ts'
import type { Source } from '../../../src/table/file/table-source.ts'

const day = parseDay('2026-06-05') as Day
const own = { provider: 'DB-IP', licence: 'CC-BY-4.0', homepage: 'https://db-ip.com/', entries: 1 }
const places: Source = { ...own, id: 'dbip-city-ipv4', kind: 'location', day }
const networks: Source = { ...own, id: 'ip-location-db-asn', kind: 'network', day }
const voice = { group: 'x', weight: 1, assurance: 'good', rolling: false } as const
const feed = {
  ...networks,
  id: 'asn-bgptools',
  voice: { ...voice, weightLow: 1, weightHigh: 1 },
} as unknown as Source

const msAfter = (days: number): number => (day + days) * 86_400_000

it('advises newer ones once they are too old, and says nothing of feeds', () => {
  const sources = [places, feed, networks]
  expect(checkDataSets(sources, msAfter(dataSetDaysMax))).toEqual([])
  const found = checkDataSets(sources, msAfter(dataSetDaysMax + 1))
  expect(found.map(({ code, severity }) => [code, severity])).toEqual([
    ['places_old', 'advice'],
    ['networks_old', 'advice'],
  ])
  expect(found[0]?.text).toMatch(/^The places .*dbip-city-ipv4.* 2026-06-05, .* ago\.$/)
  expect(found[0]?.fix).toMatch(/iprisk build/)
})

it('says where a newer one is kept out', () => {
  const kept = { ...places, quarantined: true }
  const [found] = checkDataSets([kept], msAfter(dataSetDaysMax + 1))
  expect(found?.text).toMatch(/ago\. A newer edition is quarantined\.$/)
  expect(found?.fix).toContain('iprisk build --force')
})
