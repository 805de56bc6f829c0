// Where the lines of the user's files have their address, according to the options: whole line, CSV
// column, log, JSON member; without options by each file's first lines. A column's name comes from
// the first line; a number means that there is no header. The delimiter is the most frequent one of
// the first line, or the one that Excel's `sep=;` names.

import { usageError } from '../../base/coded-error.ts'
import { splitCsvLine } from '../../base/text/csv.ts'
import { withoutByteOrderMark } from '../../base/text/byte-order-mark.ts'
import { parseMoment } from '../../base/time-text.ts'
import { proxyPresets } from '../../client/address/proxy-presets.ts'
import { trustOf } from '../../client/address/proxy-walk.ts'
import type { Trust } from '../../client/address/trusted-proxies.ts'
import type { Invocation } from '../../config/settings.ts'
import type { LineFormat } from '../../bulk/line-field.ts'
import { fieldsOf, type LogFormat } from '../../bulk/log-line.ts'
import { logForms } from '../../bulk/log-forms.ts'
import { guessFormat } from '../../bulk/log-guess.ts'

export interface DetectedFormat {
  readonly form: LineFormat
  readonly bytes: Uint8Array
  readonly headerLines: number
  /** For the user: `read as combined`, or what is missing; otherwise `''`. */
  readonly guess: string
}

export const inputName = (input: string): string => (input === '-' ? 'Standard input' : input)

type LineOptions = Partial<
  Pick<
    Invocation,
    'column' | 'delimiter' | 'jsonField' | 'log' | 'trust' | 'since' | 'until' | 'by'
  >
>

const lineEnd = 0x0a
const decoder = new TextDecoder()
const delimiters = [',', ';', '\t', '|'] as const

/** Throws `usage` on contradicting options. */
export function lineFormatDetector(
  options: LineOptions,
): (first: Uint8Array, input: string) => DetectedFormat {
  const { column, delimiter, jsonField, log } = options
  if ([column, jsonField, log].filter((one) => one !== undefined).length > 1) {
    throw usageError('Use only one of --column, --json-field and --log.')
  }
  if (delimiter !== undefined && column === undefined) {
    throw usageError('--delimiter needs --column.')
  }
  const logOptions = logOptionsOf(options)
  return (marked, input) => {
    const first = withoutByteOrderMark(marked)
    if (column !== undefined) {
      refuseTimes(options, `${inputName(input)} is read as CSV`)
      return detectCsvFormat({ column, delimiter, trust: logOptions.trust }, first, input)
    }
    const whole = { bytes: first, headerLines: 0, guess: '' }
    const form = statedFormat(options) ?? guessFormat(first)
    if (form.kind !== 'log') {
      refuseTimes(options, `${inputName(input)} is not a log of a known format`)
      return { ...whole, form }
    }
    const isGuess = jsonField === undefined && (log ?? 'auto') === 'auto'
    const isHeadless = logForms[form.form].hasFields && !/^#Fields:/m.test(decoder.decode(first))
    const guess = isHeadless ? headlessNote : isGuess ? `read as a log of format ${form.form}` : ''
    return { ...whole, form: { ...form, ...logOptions }, guess }
  }
}

const headlessNote =
  'it does not begin with a "#Fields:" line that names the columns; add one, or give the number of the address column: --column 9 --delimiter " "'

function statedFormat({ jsonField, log = 'auto' }: LineOptions): LineFormat | undefined {
  if (jsonField !== undefined) return { kind: 'log', form: 'json', path: pathOf(jsonField) }
  if (log === 'auto') return undefined
  return log === 'plain' ? { kind: 'plain' } : { kind: 'log', form: log }
}

type LogOptions = Pick<LogFormat, 'trust' | 'sinceMs' | 'untilMs' | 'by'>

function logOptionsOf({ trust, since, until, by }: LineOptions): LogOptions {
  const nowMs = Date.now()
  const momentOf = (text?: string) => (text === undefined ? undefined : parseMoment(text, nowMs))
  const words = trust === undefined ? undefined : readTrustWords(trust)
  return { trust: words, sinceMs: momentOf(since), untilMs: momentOf(until), by }
}

function readTrustWords(text: string): Trust {
  const trust: Trust = /^\d+$/.test(text) ? Number(text) : text.split(/, */)
  try {
    trustOf(trust)
    return trust
  } catch {
    const presets = Object.keys(proxyPresets).join(', ')
    throw usageError(
      `--trust ${text} is not valid: give the number of proxies in front, or their addresses, prefixes and presets (${presets}).`,
    )
  }
}

function refuseTimes({ since, until, by }: LineOptions, why: string): void {
  if ((since ?? until ?? by) === undefined) return
  throw usageError(
    `--since, --until and --by need the times of a log, but ${why}; name its format with --log.`,
  )
}

/** `request.remote_ip`; `\.` is a dot within a name. */
function pathOf(text: string): readonly string[] {
  return text.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))
}

function detectCsvFormat(
  how: {
    readonly column: string
    readonly delimiter: string | undefined
    readonly trust: Trust | undefined
  },
  first: Uint8Array,
  input: string,
): DetectedFormat {
  const { column, trust } = how
  const skipped = skippedLines(first)
  const begin = skipped.bytes
  const found = first.indexOf(lineEnd, begin)
  const end = found < 0 ? first.length : found
  const stated = how.delimiter === 'tab' ? '\t' : (how.delimiter ?? skipped.separator)
  const line = decoder.decode(first.subarray(begin, end))
  const delimiter = stated ?? delimiterOf(line, column, skipped.fields)
  const name = delimiterNames[delimiter] ?? `"${delimiter}"`
  const guess = stated === undefined ? `read as CSV separated by ${name} (--delimiter)` : ''
  const form = (index: number): LineFormat => ({
    kind: 'csv',
    column: index,
    delimiter: delimiter.charCodeAt(0),
    trust,
  })
  const isNumber = /^[1-9]\d{0,3}$/.test(column)
  const names = skipped.fields ?? splitCsvLine(line, delimiter).values
  const commented = skipped.comment.replace(/^\s*#\s*/, '')
  const above = isNumber ? -1 : splitCsvLine(commented, delimiter).values.indexOf(column)
  const isAbove = skipped.fields === undefined && !names.includes(column) && above >= 0
  const index = isNumber
    ? Number(column) - 1
    : isAbove
      ? above
      : names.indexOf(skipped.fields === undefined ? column : column.toLowerCase())
  if (index < 0) {
    throw usageError(`${input} has no column ${column}; its columns are ${names.join(', ')}.`)
  }
  if (skipped.fields !== undefined && how.delimiter === undefined && !isNumber) {
    // A later `#Fields:` may name them in another order.
    const { fields } = skipped
    const form: LineFormat = { kind: 'log', form: 'w3c', path: [names[index]!], fields, trust }
    return { form, bytes: first.subarray(begin), headerLines: skipped.lines, guess }
  }
  const headerLines = skipped.lines + (isNumber || isAbove || skipped.fields !== undefined ? 0 : 1)
  const bytes = first.subarray(headerLines === skipped.lines ? begin : end + 1)
  return { form: form(index), bytes, headerLines, guess }
}

const delimiterNames: Readonly<Record<string, string>> = { '\t': 'a tab', ' ': 'a space' }

/** Comments, of which `#Fields:` is a header, and Excel's `sep=;`, before the header. */
function skippedLines(first: Uint8Array) {
  let bytes = 0
  let lines = 0
  let separator: string | undefined
  let fields: readonly string[] | undefined
  /** The last, perhaps a header: `#ip,count`. */
  let comment = ''
  for (;;) {
    const end = first.indexOf(lineEnd, bytes)
    const line = decoder.decode(first.subarray(bytes, end < 0 ? first.length : end))
    const named = /^"?sep=(.)"?\r?$/.exec(line)?.[1]
    if (end < 0 || (named === undefined && !/^\s*(?:#|$)/.test(line))) break
    separator ??= named
    fields = fieldsOf(line) ?? fields
    if (line.trim() !== '') comment = line
    bytes = end + 1
    lines += 1
  }
  return { bytes, lines, separator, fields, comment }
}

/** The most frequent outside quotes; blanks where there is no other, and the line is not a column's name. */
function delimiterOf(line: string, column: string, fields: readonly string[] | undefined): string {
  if (fields !== undefined) return line.includes('\t') ? '\t' : ' '
  const plain = line.replaceAll(/"[^"]*"/g, '')
  const counts = delimiters.map((one) => plain.split(one).length)
  const most = Math.max(...counts)
  if (most === 1 && plain.includes(' ') && plain.trim() !== column) return ' '
  return delimiters[counts.indexOf(most)]!
}
