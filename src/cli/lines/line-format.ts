// Where the lines of the user's files have their address, by the options: whole line, CSV column,
// access log, JSON member. A column's name comes from each file's first line; a number means that
// there is no header. The delimiter is the most frequent one of the first line.

import { usageError } from '../../base/coded-error.ts'
import { withoutByteOrderMark } from '../../base/text/byte-order-mark.ts'
import type { Invocation } from '../../config/settings.ts'
import { type LineFormat, type Span, findLineField } from '../../bulk/line-field.ts'
import { guessLogFormat, logWords } from '../../bulk/log-guess.ts'

export interface DetectedFormat {
  readonly form: LineFormat
  /** The piece without its header. */
  readonly bytes: Uint8Array
  readonly headerLines: number
}

/** Begins error messages. */
export const inputName = (input: string): string => (input === '-' ? 'Standard input' : input)

const lineEnd = 0x0a
const decoder = new TextDecoder()
const delimiters = [',', ';', '\t', '|'] as const

/** Throws `usage` for contradicting options. */
export function lineFormatDetector(
  options: Pick<Invocation, 'column' | 'jsonField' | 'log'>,
): (first: Uint8Array, input: string) => DetectedFormat {
  const { column, jsonField, log } = options
  if ([column, jsonField, log].filter((one) => one !== undefined).length > 1) {
    throw usageError('Only one of --column, --json-field and --log can say where the address is.')
  }
  const always = (form: LineFormat) => (first: Uint8Array) => ({
    form,
    bytes: withoutByteOrderMark(first),
    headerLines: 0,
  })
  if (jsonField !== undefined) return always({ kind: 'json', path: pathOf(jsonField) })
  if (log !== undefined) return always({ kind: 'log', word: logWords[log] })
  if (column === undefined) {
    return (first, input) => {
      refuseLog(first, input)
      return always({ kind: 'plain' })(first)
    }
  }
  return (first, input) => detectCsvFormat(column, withoutByteOrderMark(first), input)
}

/** An access log read as addresses would be all bad lines. */
function refuseLog(first: Uint8Array, input: string): void {
  const guess = guessLogFormat(withoutByteOrderMark(first))
  if (guess === undefined) return
  throw usageError(
    `${inputName(input)} looks like an access log: name its form with --log ${guess}.`,
  )
}

/** `request.remote_ip`; `\.` is a dot within a name. */
function pathOf(text: string): readonly string[] {
  return text.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))
}

function detectCsvFormat(column: string, first: Uint8Array, input: string): DetectedFormat {
  const found = first.indexOf(lineEnd)
  const end = found < 0 ? first.length : found
  const delimiter = delimiterOf(decoder.decode(first.subarray(0, end)))
  const form = (index: number): LineFormat => ({
    kind: 'csv',
    column: index,
    delimiter: delimiter.charCodeAt(0),
  })
  if (/^[1-9]\d{0,3}$/.test(column)) {
    return { form: form(Number(column) - 1), bytes: first, headerLines: 0 }
  }
  const names = namesOf(first.subarray(0, end), form)
  const index = names.indexOf(column)
  if (index < 0) {
    throw usageError(`${input} has no column ${column}; its first line names ${names.join(', ')}.`)
  }
  return { form: form(index), bytes: first.subarray(end + 1), headerLines: 1 }
}

/** Finds cells as in other lines; strips quotes behind a space, too. */
function namesOf(line: Uint8Array, form: (column: number) => LineFormat): readonly string[] {
  const names: string[] = []
  const cell: Span = { bytes: line, from: 0, to: 0 }
  for (;;) {
    findLineField(form(names.length), line, { from: 0, to: line.length }, cell)
    // Past the last cell.
    if (cell.from === line.length) return names
    const text = decoder.decode(line.subarray(cell.from, cell.to))
    names.push(text.replace(/^"(.*)"$/, '$1'))
  }
}

function delimiterOf(line: string): string {
  const plain = line.replaceAll(/"[^"]*"/g, '')
  let most: string = delimiters[0]
  for (const one of delimiters) {
    if (plain.split(one).length > plain.split(most).length) most = one
  }
  return most
}
