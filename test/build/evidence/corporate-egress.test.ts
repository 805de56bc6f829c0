// Corporate egress that its operator publishes: prefixes of networks, and no evidence.

import { expect, it } from 'vitest'
import { corporateEgress } from '../../../build/evidence/operator-ranges.ts'
import type { ParsedSnapshot } from '../../../build/evidence/read-snapshots.ts'
import { catalogueFolder, loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { newParseCounts } from '../../../build/parse/parse-counts.ts'
import type { Day } from '../../../src/base/day.ts'
import { formatRange } from '../../../src/ip/range.ts'

const catalogue = loadCatalogue(catalogueFolder)

function file(id: string, texts: readonly string[], label: string): ParsedSnapshot {
  const feed = catalogue.find((one) => one.id === id)
  if (feed === undefined) throw new Error(`no feed ${id}`)
  const entries = texts.map((text, at) => ({ text, place: `line ${at + 1}`, label }))
  return { feed, entries, tally: newParseCounts('x'), day: 1 as Day, problem: undefined }
}

it('stands behind the prefixes that are kept by hand, named by its operator', () => {
  const { corporatePrefixes } = loadNetworkTables()
  const files = [file('corporate-zscaler', ['9.0.0.0/23', '2a00:1::/40'], 'corporate')]
  const rows = corporateEgress({ corporatePrefixes }, files)
  expect(rows.slice(0, corporatePrefixes.length)).toEqual(corporatePrefixes)
  const added = rows.slice(corporatePrefixes.length)
  expect(added.map(({ range, name, note }) => [formatRange(range), name, note])).toEqual([
    ['9.0.0.0/23', 'Zscaler', 'corporate-zscaler'],
    ['2a00:1::/40', 'Zscaler', 'corporate-zscaler'],
  ])
})

it.each([
  ['a prefix that is wider than the feed may list', 'corporate-zscaler', '9.0.0.0/8', 'corporate'],
  ['special-purpose space', 'corporate-zscaler', '10.1.0.0/20', 'corporate'],
  ['an AS', 'corporate-zscaler', 'AS100', 'corporate'],
  ['what is no prefix', 'corporate-zscaler', 'example', 'corporate'],
  ['a prefix that is called something else', 'corporate-zscaler', '9.0.0.0/23', 'hosting'],
  ['a list of addresses', 'hosting-aws', '9.0.0.0/23', 'corporate'],
])('is not %s', (_what, id, text, label) => {
  expect(corporateEgress({ corporatePrefixes: [] }, [file(id, [text], label)])).toEqual([])
})
