// The text formats of an export: csv (`first,last,classification,…`; RFC 4180, guarded for
// spreadsheets) and the lines converted to Parquet, with a row for each range; the formats of
// list-formats.ts, with a row for each prefix.

import { csvCell } from '../bulk/rows/csv-cell.ts'
import { splitRange } from '../ip/prefix-split.ts'
import { type ExportField, fieldValue } from '../bulk/rows/answer-fields.ts'
import type { ExportFile } from './export-file.ts'
import { type PrefixFormat, openList, valueText } from './list-formats.ts'
import type { RunSink } from './value-runs.ts'
import type { ExportValues } from './export-values.ts'
import type { Family } from '../ip/address.ts'

export interface RowWriter extends RunSink {
  /** Completes the file; returns the number of rows. */
  readonly finish: () => number
}

export interface RowWriterOptions {
  readonly file: ExportFile
  readonly book: ExportValues
  readonly fields: readonly ExportField[]
  /** One line. */
  readonly title: string
}

const keptTexts = 1 << 16

/** A cache by slot: neighbouring ranges often share a few values. */
function cachedTexts(textOf: (value: number) => string): (value: number) => string {
  const values = new Int32Array(keptTexts).fill(-1)
  const texts: string[] = Array.from({ length: keptTexts }, () => '')
  return (value) => {
    const slot = value & (keptTexts - 1)
    if (values[slot] !== value) {
      values[slot] = value
      texts[slot] = textOf(value)
    }
    return texts[slot]!
  }
}

type Cell = (text: string) => string

/** RFC 4180, for programs that run no formulas. */
const plainCell: Cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

function cellsOf({ book, fields }: RowWriterOptions, cell: Cell): (value: number) => string {
  return cachedTexts((value) => {
    const parts = book.parts(value)
    return fields
      .map((field) => {
        const said = fieldValue(field, parts) ?? ''
        return `,${typeof said === 'string' ? cell(said) : String(said)}`
      })
      .join('')
  })
}

/** `isTyped`: with all `rangeColumns`. */
function rangeRows(options: RowWriterOptions, cell: Cell, isTyped: boolean): RowWriter {
  const { file } = options
  const textOf = cellsOf(options, cell)
  let rows = 0
  return {
    run: (first, last, value, family) => {
      rows++
      if (isTyped) file.text(`${family},`)
      file.address(first, family)
      file.text(',')
      file.address(last, family)
      if (isTyped) file.text(`,${hexOf(first, family)},${hexOf(last, family)}`)
      file.text(textOf(value))
      file.text('\n')
    },
    finish: () => rows,
  }
}

export function csvRows(options: RowWriterOptions): RowWriter {
  const { file, fields } = options
  file.text(`${['first', 'last', ...fields.map(({ name }) => name)].join(',')}\n`)
  return rangeRows(options, csvCell, false)
}

export const columnRows = (options: RowWriterOptions): RowWriter =>
  rangeRows(options, plainCell, true)

const hexDigits = 8
const hexOf = (words: Uint32Array, family: Family): string => {
  const own = family === 4 ? words.subarray(3) : words
  return Array.from(own, (word) => word.toString(16).padStart(hexDigits, '0')).join('')
}

/** With hexadecimal bounds, by which ranges can be joined. */
export const rangeColumns = ['family', 'first', 'last', 'first_hex', 'last_hex'] as const

/** The fewest prefixes of each range, with the value of one field or none. */
export function prefixRows(
  format: PrefixFormat,
  { file, book, fields: [field], title }: RowWriterOptions,
): RowWriter {
  const valueOf = cachedTexts((value) =>
    field === undefined
      ? ''
      : valueText(format, String(fieldValue(field, book.parts(value)) ?? '')),
  )
  const setOf = (family: Family): string => `iprisk${family}`
  const list = openList(file, format, { name: 'iprisk', setOf, families: [4, 6], title })
  let rows = 0
  return {
    run: (first, last, number, family) => {
      const value = field === undefined ? undefined : valueOf(number)
      splitRange(first, last, (address, length) => {
        rows++
        list.add({ family, address, length: family === 4 ? length - 96 : length, value })
      })
    },
    finish: () => {
      list.end()
      return rows
    },
  }
}
