// What a table changed against the one before it, counted against what is known of both.

import { afterAll, expect, it } from 'vitest'
import { tableChanges } from '../../src/compare/table-changes.ts'
import { openTable } from '../../src/table/open-table.ts'
import { otherTable } from '../serve/small-tables.ts'
import { listed } from '../table/small-table.ts'

type Entry = (typeof listed)[number]

const more: readonly Entry[] = [
  ['2a02:1:2:3::/64', 'vpn', 'Example VPN'],
  ['2a02:1:2:4::/63', 'vpn', 'Example VPN'],
  ['2a02:ffff:8000::/40', 'hosting', 'Example Hosting'],
  // Two addresses of one /64, and one of another.
  ['2a02:7::5', 'vpn', 'Example VPN'],
  ['2a02:7::9', 'vpn', 'Example VPN'],
  ['2a02:7:0:1::1', 'vpn', 'Example VPN'],
  ['13.7.0.0/24', 'vpn', 'Example VPN'],
]
const gone = '2a00:1:2:3::/64'
const open = (day: string, entries: readonly Entry[]) => openTable(otherTable(day, entries))
const before = open('2026-08-24', listed)
const after = open('2026-08-25', [...listed.filter(([text]) => text !== gone), ...more])
afterAll(() => [before, after].forEach((table) => table.close()))

it('counts IPv4 addresses and /64s by class and network', () => {
  const changes = tableChanges(after, before)
  expect(changes).toMatchObject({ status: 'done', addresses_changed: 256 })
  expect(changes.largest).toMatchObject([{ prefix: '13.7.0.0-13.7.0.255', from: 'clean' }])
  const lines = 1 + 3 + 2 + 2 ** 24
  expect(changes.ipv6?.lines_changed).toBe(lines)
  expect(changes.ipv6?.classes).toEqual([
    { from: 'clean', to: 'hosting', addresses: 2 ** 24 },
    { from: 'clean', to: 'vpn', addresses: 5 },
    { from: 'proxy', to: 'clean', addresses: 1 },
  ])
  const networks = changes.ipv6?.networks ?? []
  expect(networks.reduce((sum, { addresses }) => sum + addresses, 0)).toBe(lines)
})

it('finds nothing between a table and itself', () => {
  expect(tableChanges(after, after)).toMatchObject({
    addresses_changed: 0,
    classes: [],
    ipv6: { lines_changed: 0, classes: [], networks: [] },
  })
})
