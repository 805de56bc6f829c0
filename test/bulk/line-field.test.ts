// Where the address stands in a line: CSV against csv-parse, logs and JSON against split and parse.

import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LineFormat, type Span, findLineField } from '../../src/bulk/line-field.ts'

const encoder = new TextEncoder()

function found(form: LineFormat, line: string): string {
  const bytes = encoder.encode(`before\n${line}\nbehind`)
  const from = 7
  const out: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }
  findLineField(form, bytes, { from, to: bytes.length - 7 }, out)
  return Buffer.from(out.bytes.subarray(out.from, out.to)).toString()
}

const csv = (column: number, delimiter = ','): LineFormat => ({
  kind: 'csv',
  column,
  delimiter: delimiter.charCodeAt(0),
})

describe('a column of CSV', () => {
  it('is what csv-parse says, for every line that is right', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '1', '.', ':', ' ', '"', ',', ';', 'é') })
    const row = fc.array(cell, { minLength: 1, maxLength: 6 })
    const written = (cells: readonly string[], delimiter: string): string =>
      cells
        .map((text) =>
          /["\s]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text,
        )
        .join(delimiter)
    fc.assert(
      fc.property(row, fc.nat(6), fc.constantFrom(',', ';', '\t', '|'), (cells, column, mark) => {
        const line = written(cells, mark)
        const parsed = parse(line, { delimiter: mark, relax_column_count: true })
        // Doubled quotes stay as they are: no address has any.
        const wanted = (parsed[0]?.[column] ?? '').replaceAll('"', '""').trim()
        expect(found(csv(column, mark), line)).toBe(wanted)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['9.1.2.3', 0, '9.1.2.3'],
    ['a,9.1.2.3,b\r', 1, '9.1.2.3'],
    ['a,b, 9.1.2.3 \r', 2, '9.1.2.3'],
    ['a,b', 2, ''],
    ['"a,b",9.1.2.3', 1, '9.1.2.3'],
    ['"stray,9.1.2.3', 0, 'stray,9.1.2.3'],
    [',,', 2, ''],
  ])('of %j, number %i, is %j', (line, column, wanted) => {
    expect(found(csv(column), line)).toBe(wanted)
  })
})

describe('a word of a log', () => {
  const combined = '9.1.2.3 - ann [22/Aug/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 12 "-" "curl"'

  it.each([
    [combined, 'combined', '9.1.2.3'],
    [`example.org:443 ${combined}`, 'vhost_combined', '9.1.2.3'],
    ['9.1.2.3', 'common', '9.1.2.3'],
    ['9.1.2.3', 'vhost_combined', ''],
    [`9.1.2.3 ${combined}`, 'combined', ''],
    [`2026-08-22T00:00:01Z 10.0.0.5 apache2: example.org:80 ${combined}`, 'vhost_combined', ''],
    [`<134>x 10.0.0.5 apache2: example.org:80 ${combined}`, 'vhost_combined', ''],
    [combined, 'haproxy', ''],
  ] as const)('of %j, as %s, is %j', (line, form, wanted) => {
    expect(found({ kind: 'log', form }, line)).toBe(wanted)
  })
})
