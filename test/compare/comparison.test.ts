// What counts as a change between two tables, how changes are counted, and what is above a threshold.

import { afterAll, expect, it } from 'vitest'
import {
  compareVerdicts,
  isAbove,
  newChangeCounter,
  percentOf,
} from '../../src/compare/comparison.ts'
import { openTable } from '../../src/table/open-table.ts'
import { otherTable } from '../serve/small-tables.ts'
import { listed } from '../table/small-table.ts'

const before = openTable(otherTable('2026-08-24', listed))
const after = openTable(
  otherTable('2026-08-25', [...listed, ['13.7.0.0/24', 'vpn', 'Example VPN']]),
)
afterAll(() => [before, after].forEach((table) => table.close()))

it('counts changes by both labels, the most frequent first', () => {
  const counter = newChangeCounter()
  const added = [
    counter.add('clean low', 'vpn high'),
    counter.add('allow', 'allow', 5),
    counter.add('allow', 'block', 3),
    counter.add('clean low', 'vpn high'),
  ]
  expect(added).toEqual([true, false, true, true])
  expect(counter.comparison()).toEqual({
    compared: 10,
    changed: 5,
    changes: [
      { from: 'allow', to: 'block', count: 3 },
      { from: 'clean low', to: 'vpn high', count: 2 },
    ],
  })
})

it('compares verdicts as whole answers say them, without those that are not counted', () => {
  const addresses = ['13.7.0.1', '13.7.0.2', '9.1.2.3', '127.0.0.1', '::1', '2002:d07:1::', 'x']
  const verdictOf = (table: typeof before, address: string): string => {
    const answer = table.check(address)
    return answer === undefined ? '' : `${answer.classification} ${answer.risk_level}`
  }
  const seen: string[] = []
  const { compared, changed } = compareVerdicts(before, after, addresses, (address, from, to) => {
    seen.push(address)
    expect([from, to]).toEqual([verdictOf(before, address), verdictOf(after, address)])
    return address !== '13.7.0.2'
  })
  expect(seen).toEqual(addresses.filter((one) => verdictOf(before, one) !== verdictOf(after, one)))
  expect(seen).toHaveLength(3)
  expect([compared, changed]).toEqual([7, 2])
})

it('is above a threshold by the exact share', () => {
  expect(isAbove({ changed: 50, compared: 20_000 }, 0.25)).toBe(false)
  expect(isAbove({ changed: 51, compared: 20_000 }, 0.25)).toBe(true)
  expect(isAbove({ changed: 1, compared: 3_000_000 }, 0)).toBe(true)
  expect(isAbove({ changed: 0, compared: 0 }, 0)).toBe(false)
  expect([percentOf(1, 3), percentOf(1, 3_000_000), percentOf(0, 0)]).toEqual([33.3333, 0, 0])
})
