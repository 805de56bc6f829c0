// `iprisk table info FILE` and `iprisk table verify FILE`.

import { formatDay } from '../../base/day.ts'
import { formatMajor } from '../../schema/table-layout.ts'
import { sectionNames } from '../../schema/table-sections.ts'
import { openTable } from '../../table/open-table.ts'
import { verifyTable } from '../../table/file/verify/verify-table.ts'
import { alignColumns } from '../../base/align-columns.ts'
import { formatCount, formatMegabytes } from '../../base/number-format.ts'
import { type Io, exitCodes } from '../terminal/io.ts'

export function tableInfo(path: string, io: Io): number {
  const table = openTable(path)
  const { views } = table.reader
  io.out(`table     ${table.id}`)
  io.out(`as of     ${formatDay(table.asOf)}`)
  io.out(`format    version ${formatMajor}`)
  io.out(`size      ${formatMegabytes(table.bytes)} MB`)
  io.out('')
  const sections = sectionNames.map((name) => [
    name,
    formatCount(views[name].length),
    formatMegabytes(views[name].byteLength),
  ])
  for (const line of alignColumns([['section', 'elements', 'MB'], ...sections], 1)) io.out(line)
  io.out('')
  const sources = table.sources.map(({ id, kind, day, entries, licence, provider }) => [
    id,
    kind,
    formatDay(day),
    formatCount(entries),
    licence,
    provider,
  ])
  const head = ['source', 'kind', 'day', 'entries', 'licence', 'provider']
  for (const line of alignColumns([head, ...sources], 6)) io.out(line)
  table.close()
  return exitCodes.done
}

/** Throws what `verifyTable` throws; the message names section and offset. */
export function tableVerify(path: string, io: Io): number {
  const { id, bytes } = verifyTable(path)
  io.out(
    `${path} is whole: table ${id}, ${formatMegabytes(bytes)} MB, every checksum and id in order`,
  )
  return exitCodes.done
}
