// The line splitter against csv-parse as its twin, and stray quotes.

import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitCsvLine } from '../../../src/base/text/csv.ts'

function twin(line: string, separator: string): readonly string[] {
  const records = parse(line, { delimiter: separator, ltrim: true, rtrim: true })
  return (records[0] ?? ['']).map((value) => value.trim())
}

describe('one line', () => {
  const value = fc.string({ unit: fc.constantFrom('a', 'Z', '"', ',', ';', ' ', 'é', '#', '1') })
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`

  it('splits as csv-parse splits it', () => {
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(',', ';'),
        (values, separator) => {
          const line = values.map(quote).join(separator)
          expect(splitCsvLine(line, separator).values).toEqual(twin(line, separator))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('splits unquoted values as csv-parse splits them', () => {
    const plain = fc.string({ unit: fc.constantFrom('a', ' ', ';', '1', '.'), maxLength: 5 })
    fc.assert(
      fc.property(fc.array(plain, { minLength: 2, maxLength: 6 }), (values) => {
        const line = values.join(',')
        expect(splitCsvLine(line, ',').values).toEqual(twin(line, ','))
      }),
    )
  })

  it.each([
    ['a,b', ['a', 'b'], 2],
    ['', [''], 1],
    [',', ['', ''], 2],
    ['a,', ['a', ''], 2],
    [' a , "b, c" ,d', ['a', 'b, c', 'd'], 3],
    ['"a ""b"" c"', ['a "b" c'], 1],
    ['""', [''], 1],
    ['a"b,c', ['a"b', 'c'], 2],
    ['a,"b,c', ['a', '"b,c'], 1],
    ['a,"b" c,d', ['a', '"b" c,d'], 1],
    // As bgp.tools writes it: the quote inside is not doubled.
    ['AS42,"""WoodyNet", Inc."', ['AS42', '"WoodyNet', 'Inc."'], 3],
    ['AS7,"""Cranbrook School","', ['AS7', '"Cranbrook School', '"'], 2],
  ])('%s', (line, values, clearCount) => {
    expect(splitCsvLine(line, ',')).toEqual({ values, clearCount })
  })

  it('takes no quote inside a bare value where it is strict', () => {
    expect(splitCsvLine('x,a"b,c', ',', true)).toEqual({ values: ['x', 'a"b'], clearCount: 1 })
    expect(splitCsvLine('"a ""b""",c', ',', true)).toEqual({
      values: ['a "b"', 'c'],
      clearCount: 2,
    })
  })
})
