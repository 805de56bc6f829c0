// Cells of CSV: no text is a formula, and each comes back as it was.

import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CheckField } from '../../../src/config/line-formats.ts'
import { answerLines } from '../../../src/bulk/answer-lines.ts'
import { csvCell } from '../../../src/bulk/rows/csv-cell.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { writeForgedTable } from '../../table/forged-table.ts'

const starts = ['=', '+', '-', '@', '\t', '\r', '\n', '\u0000', '＝', "'", ' ', '"', ',']
const text = fc
  .tuple(fc.string({ unit: fc.constantFrom(...starts) }), fc.string())
  .map((of) => of.join(''))

/** The inverse that README.md describes. */
function unguarded(cell: string): string {
  return /^['\s]*[=+\-@＋－＝＠\p{Cc}]/u.test(cell) && cell.startsWith("'") ? cell.slice(1) : cell
}

const parsed = (csv: string): readonly (readonly string[])[] =>
  parse(csv, { relax_column_count: true, record_delimiter: '\n' })

describe('a text as a cell', () => {
  it('never begins as a formula does, and comes back', () => {
    fc.assert(
      fc.property(text, (one) => {
        const cell = parsed(`${csvCell(one)},x\n`)[0]?.[0] ?? ''
        expect(cell).not.toMatch(/^\s*[=+\-@＋－＝＠\p{Cc}]/u)
        expect(unguarded(cell)).toBe(one)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['@Home', "'@Home"],
    ['- none', "'- none"],
    [' =1', "' =1"],
    ["'=1", "''=1"],
    ["'s-Gravenhage", "'s-Gravenhage"],
    ['Example "Hosting" Ltd', '"Example ""Hosting"" Ltd"'],
    ['1-2', '1-2'],
    ['', ''],
  ])('%j is %j', (one, cell) => {
    expect(csvCell(one)).toBe(cell)
  })
})

describe('rows', () => {
  it('guard every column of text and no number', () => {
    const path = writeForgedTable({ string: (one) => `=${one}` })
    const table = openTable(path)
    const fields: readonly CheckField[] = [
      'ip',
      'provider',
      'asn',
      'organization',
      'city',
      'country',
      'latitude',
      'longitude',
      'zip',
      'error',
    ]
    const lines = Buffer.from('11.66.0.1\n9.1.2.3\n=1+1\n-2\n')
    const work = { form: { kind: 'plain' }, output: 'csv', fields } as const
    const rows = parsed(Buffer.from(answerLines(table, lines, work).out).toString())
    table.close()
    expect(rows).toEqual([
      [
        '11.66.0.1',
        "'=Examplebot",
        '64497',
        `'=Example "Hosting" Ltd`,
        '',
        "'=Germany",
        '-33.8688',
        '-151.2093',
        '',
        '',
      ],
      [
        '9.1.2.3',
        '',
        '64496',
        "'=Example Access",
        "'=Berlin",
        "'=Germany",
        '52.52',
        '13.405',
        "'=10115",
        '',
      ],
      ["'=1+1", '', '', '', '', '', '', '', '', 'invalid_input'],
      ["'-2", '', '', '', '', '', '', '', '', 'invalid_input'],
    ])
  })
})
