// `iprisk table info FILE` and `iprisk table verify FILE`.

import { formatDay } from '../../base/day.ts'
import { formatMajor } from '../../schema/table-layout.ts'
import { sectionNames } from '../../schema/table-sections.ts'
import { coverageReportOf, coverageToday } from '../../table/answer/table-coverage.ts'
import { takeTableCopy } from '../../table/open-copied-table.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'
import { verifyTable } from '../../table/file/verify/verify-table.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount, formatMegabytes } from '../../base/text/number-format.ts'
import { coverageLines } from '../terminal/coverage-lines.ts'
import { type Command, printResult } from '../terminal/io.ts'

export const tableInfo: Command<void> = ({ invocation: { json } }, io, [path = '']) => {
  const table = openTable(path)
  try {
    printResult(io, json, tableFacts(table, io.now), () => tableLines(table, io.now))
  } finally {
    table.close()
  }
}

function tableFacts(table: OpenTable, now: number): object {
  const { views } = table.reader
  const sections = sectionNames.map((name) => ({
    name,
    elements: views[name].length,
    bytes: views[name].byteLength,
  }))
  const sources = table.sources.map((source) => ({ ...source, day: formatDay(source.day) }))
  const { id, asOf, bytes } = table
  const coverage = coverageReportOf(coverageToday(table, now), now)
  return { id, as_of: formatDay(asOf), format: formatMajor, bytes, coverage, sections, sources }
}

function tableLines(table: OpenTable, now: number): readonly string[] {
  const { views } = table.reader
  const sections = sectionNames.map((name) => [
    name,
    formatCount(views[name].length),
    formatMegabytes(views[name].byteLength),
  ])
  const sources = table.sources.map(({ id, kind, day, entries, licence, provider }) => [
    id,
    kind,
    formatDay(day),
    formatCount(entries),
    licence,
    provider,
  ])
  const head = ['source', 'kind', 'day', 'entries', 'licence', 'provider']
  return [
    `table     ${table.id}`,
    `as of     ${formatDay(table.asOf)}`,
    `format    version ${formatMajor}`,
    `size      ${formatMegabytes(table.bytes)} MB`,
    '',
    ...coverageLines(coverageReportOf(coverageToday(table, now), now)),
    '',
    ...alignColumns([['section', 'elements', 'MB'], ...sections], 1),
    '',
    ...alignColumns([head, ...sources], 6),
  ]
}

/** Verifies a copy, because the file may be truncated meanwhile. */
export const tableVerify: Command<void> = ({ invocation: { json } }, io, [path = '']) => {
  const copy = takeTableCopy(path)
  try {
    const { id, bytes } = verifyTable(path, undefined, copy.path)
    const size = formatMegabytes(bytes)
    printResult(io, json, { path, id, bytes, whole: true }, () => [
      `${path} is intact: table ${id}, ${size} MB, all checksums and ids match`,
    ])
  } finally {
    copy.release()
  }
}
