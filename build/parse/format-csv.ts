// Format `csv`: separated columns, by the names of a header line or of the option `columns`.
// Comment lines begin with #; values may be quoted, also after blanks. One line is one entry: no
// feed breaks a quoted value over lines, so a stray quote costs its own line and not the rest.
//
// Options: `separator` (default `,`), `columns` (where the file has no header, or one that is
// written as a comment), `skip` (what lines begin with that are no rows), and which column is what:
// `address`, or `first` and `last`, or `asn`; `provider`, `name`, `class`; `label` is a fixed text
// for the whole file.

import { splitCsvLine } from '../../src/base/text/csv.ts'
import { asnText } from './format-asns.ts'
import type { Entry, FormatOptions, Parser } from './entry.ts'
import { refuseUnknownOptions, refuseOption, textOption, textsOption } from './format-options.ts'
import { parseLines } from './format-list.ts'
import { wrongFormat } from './parse-counts.ts'

const columnRoles = ['address', 'first', 'last', 'asn', 'provider', 'name', 'class'] as const
type ColumnRole = (typeof columnRoles)[number]

interface CsvOptions {
  readonly separator: string
  readonly columns: readonly string[] | undefined
  readonly label: string | undefined
  readonly skip: string | undefined
  /** The column name for each role that the file has. */
  readonly roles: ReadonlyMap<ColumnRole, string>
}

export function csvOptions(options: FormatOptions): CsvOptions {
  refuseUnknownOptions(options, ['separator', 'columns', 'label', 'skip', ...columnRoles])
  const separator = textOption(options, 'separator') ?? ','
  if (separator.length !== 1) refuseOption('separator', 'one character')
  const columns = textsOption(options, 'columns')
  const roles = new Map<ColumnRole, string>()
  for (const role of columnRoles) {
    const column = textOption(options, role)
    if (column === undefined) continue
    if (columns?.includes(column) === false) refuseOption(role, 'one of the columns')
    roles.set(role, column)
  }
  const whats = [roles.has('address'), roles.has('first') && roles.has('last'), roles.has('asn')]
  if (whats.filter(Boolean).length !== 1 || roles.has('first') !== roles.has('last')) {
    refuseOption('address', 'given, or first and last, or asn')
  }
  const [label, skip] = [textOption(options, 'label'), textOption(options, 'skip')]
  return { separator, columns, label, skip, roles }
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
    // A stray quote costs the line only where it touches a column that is read.
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
  for (const [role, column] of settings.roles) {
    const index = header.indexOf(column)
    if (index < 0) throw wrongFormat(place, `has no column "${column}"`, header.join(', '))
    indexes.set(role, index)
  }
  return indexes
}

/** The entry, or why there is none. */
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
