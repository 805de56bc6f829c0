// Format `csv`: columns named by a header line or the option `columns`; # begins comments; values
// may be quoted. One line is one entry, so a stray quote costs only its line.
//
// Options: `separator` (default `,`), `columns` (without a usable header), `skip` (prefix of lines
// to ignore), and the columns: `address`, or `first` and `last`, or `asn`; `provider`, `name`,
// `class`; `label` is a fixed text for the whole file.

import { splitCsvLine } from '../../src/base/text/csv.ts'
import { asnText } from './format-asns.ts'
import type { Entry, FormatOptions, Parser } from './entry.ts'
import { readOptions, refuseOption, textOption, textsOption } from './format-options.ts'
import { parseLines } from './format-list.ts'
import { wrongFormat } from './parse-counts.ts'

const columnRoles = ['address', 'first', 'last', 'asn', 'provider', 'name', 'class'] as const
type ColumnRole = (typeof columnRoles)[number]

const column = textOption.optional()
const shape = {
  separator: textOption.length(1, 'one character').default(','),
  columns: textsOption.optional(),
  label: textOption.optional(),
  skip: textOption.optional(),
  address: column,
  first: column,
  last: column,
  asn: column,
  provider: column,
  name: column,
  class: column,
} as const
type CsvOptions = ReturnType<typeof csvOptions>

export function csvOptions(options: FormatOptions) {
  const read = readOptions(shape, options)
  const { columns, address, first, last, asn } = read
  const wrong = columnRoles.find((role) => {
    const name = read[role]
    return name !== undefined && columns?.includes(name) === false
  })
  if (wrong !== undefined) refuseOption(wrong, 'one of the columns')
  const whats = [address, first && last, asn].filter((one) => one !== undefined)
  if (whats.length !== 1 || (first === undefined) !== (last === undefined)) {
    refuseOption('address', 'given, or first and last, or asn')
  }
  return read
}

export const parseCsv: Parser = async (chunks, sink, options) => {
  const settings = csvOptions(options)
  let indexes =
    settings.columns === undefined ? undefined : indexesOf(settings, settings.columns, '')
  await parseLines(chunks, sink, (text, place, comment) => {
    if (text.trim() === '') return
    if (text.startsWith('#')) return comment(text)
    if (settings.skip !== undefined && text.startsWith(settings.skip)) return
    const { values, clearCount } = splitCsvLine(text, settings.separator)
    if (indexes === undefined) {
      indexes = indexesOf(settings, values, place)
      return
    }
    // A stray quote only matters up to the last column that is read.
    const doubtful = clearCount < values.length && Math.max(...indexes.values()) >= clearCount
    if (doubtful) return sink.drop('stray quote', place, text)
    const entry = entryOf(values, indexes, settings.label, place)
    if (typeof entry === 'string') sink.drop(entry, place, text)
    else sink.entry(entry)
  })
  if (indexes === undefined) throw wrongFormat('the file', 'has no header line')
}

type Indexes = ReadonlyMap<ColumnRole, number>

function indexesOf(settings: CsvOptions, header: readonly string[], place: string): Indexes {
  const indexes = new Map<ColumnRole, number>()
  for (const role of columnRoles) {
    const column = settings[role]
    const index = column === undefined ? -1 : header.indexOf(column)
    if (column === undefined) continue
    if (index < 0) throw wrongFormat(place, `has no column "${column}"`, header.join(', '))
    indexes.set(role, index)
  }
  return indexes
}

/** Returns the reason if there is no entry. */
function entryOf(
  values: readonly string[],
  indexes: Indexes,
  label: string | undefined,
  place: string,
): Entry | string {
  const value = (role: ColumnRole): string => {
    const index = indexes.get(role)
    return index === undefined ? '' : (values[index] ?? '')
  }
  const asn = indexes.has('asn') ? asnText(value('asn')) : undefined
  if (indexes.has('asn') && asn === undefined) return 'no AS number'
  if (indexes.has('address') && value('address') === '') return 'no address'
  if (indexes.has('first') && (value('first') === '' || value('last') === '')) {
    return 'no first and last address'
  }
  const text = asn ?? (indexes.has('address') ? value('address') : '')
  const shown = label ?? value('class')
  return {
    text: text === '' ? `${value('first')}-${value('last')}` : text,
    place,
    ...(value('provider') === '' ? {} : { provider: value('provider') }),
    ...(value('name') === '' ? {} : { name: value('name') }),
    ...(shown === '' ? {} : { label: shown }),
  }
}
