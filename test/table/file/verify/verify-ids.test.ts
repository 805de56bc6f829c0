// Every id of a table is below the number of what it names: the first one that names nothing is
// refused at its place.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { messageOf } from '../../../../src/base/coded-error.ts'
import { accuracies } from '../../../../src/model/kind.ts'
import {
  countryWords,
  evidenceRangeWords,
  evidenceWords,
  networkWords,
  recordWords,
  runElementWords,
  tailGroupFlag,
  verdictWords,
} from '../../../../src/schema/table-layout.ts'
import { verifyTable } from '../../../../src/table/file/verify/verify-table.ts'
import { removeFolder } from '../../../remove-folder.ts'
import { encodedTable } from '../../encoded-table.ts'
import { smallContent } from '../../small-table.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-ids-'))
afterAll(() => removeFolder(folder))

const content = smallContent()
const { views } = content

const strings = views.string_offsets.length - 1
const records = views.records.length / recordWords
const evidenceLists = views.evidence_lists.length - 1
const networks = views.networks.length / networkWords
const countries = views.countries.length / countryWords
const runs = views.runs.length / runElementWords
const verdicts = views.verdicts.length / verdictWords
const evidence = views.evidence.length / evidenceWords

/** [section, word of the first row, the first id that names nothing] */
const ids = [
  ['ipv4_records', 0, records],
  ['ipv6_records', 0, records],
  ['ipv6_records', 0, tailGroupFlag + views.ipv6_tail_groups.length - 1],
  ['records', 0, networks + 1],
  ['records', 1, views.location_runs.length + 1],
  ['records', 2, verdicts],
  ['records', 3, evidenceLists],
  ['networks', 1, strings],
  ['networks', 3, evidenceLists],
  ['countries', 0, strings],
  ['countries', countryWords - 1, strings],
  ['regions', 0, countries + 1],
  ['regions', 1, strings],
  ['regions', 2, strings],
  ['regions', 3, accuracies.length],
  ['regions', 4, runs],
  ['regions', 5, runs],
  ['network_runs', 0, runs],
  ['location_runs', 0, runs],
  ['verdicts', 1, strings],
  ['verdicts', 4, strings],
  ['verdicts', 5, views.reason_lists.length - 1],
  ['evidence_ids', 0, evidence],
  ['evidence', 1, strings],
] as const

function verified(section: (typeof ids)[number][0], word: number, value: number): string {
  const words = views[section].slice()
  words[word] = value
  const path = join(folder, 'table')
  writeFileSync(path, encodedTable({ ...content, views: { ...views, [section]: words } }).bytes)
  try {
    verifyTable(path)
    return 'sound'
  } catch (error) {
    return messageOf(error)
  }
}

it('the table that is forged here is sound by itself', () => {
  expect(verified('records', 0, views.records[0]!)).toBe('sound')
})

it.each(ids)('in %s, word %i, names nothing from %i on', (section, word, end) => {
  const refused = `id ${end} is not below ${end}`
  expect(verified(section, word, end)).toMatch(new RegExp(`section ${section} at .*: ${refused}`))
})

it('evidence of IPv6 names a range that there is', () => {
  const ranges = views.evidence_ranges.length / evidenceRangeWords
  const isIpv6 = (row: number): boolean => (views.evidence[row]! & (1 << 24)) !== 0
  const row = Array.from({ length: evidence }, (_, id) => id * evidenceWords).find(isIpv6)!
  expect(verified('evidence', row + 4, ranges)).toMatch(/section evidence at .*: unknown range/)
  expect(verified('evidence', row + 4, ranges - 1)).not.toMatch(/unknown range/)
})

// Ids that begin at 1, and those behind a flag.
it.each(
  ids.filter(([section, word]) =>
    /^(?:ipv6_records|records|regions) [01]$/.test(`${section} ${word}`),
  ),
)('in %s, word %i, names something below %i', (section, word, end) => {
  expect(verified(section, word, end - 1)).not.toMatch(/ is not below /)
})
