// Converts an export's CSV lines to Parquet with typed columns, by DuckDB in bounded memory.

import { dirname } from 'node:path'
import { replaceWith } from '../src/base/system/atomic-file.ts'
import type { ParquetColumn } from '../src/export/run-export.ts'
import { copyToParquetSql, sqlQuote, withDuckDb } from './history/duckdb.ts'

const sqlTypes: Readonly<Record<ParquetColumn['type'], string>> = {
  text: 'varchar',
  truth: 'boolean',
  small: 'utinyint',
  whole: 'uinteger',
  decimal: 'double',
}

/** Enough for any export: nothing is sorted. */
const memoryBytes = 500_000_000

/** Writes the lines, which have no header, to `target` atomically. */
export async function writeParquetExport(
  lines: string,
  target: string,
  columns: readonly ParquetColumn[],
  about: Readonly<Record<string, string>>,
): Promise<void> {
  const types = columns.map(({ name, type }) => `${sqlQuote(name)}: ${sqlQuote(sqlTypes[type])}`)
  // An empty cell is an empty text, not null.
  const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => sqlQuote(name))
  const read =
    `(select * from read_csv(${sqlQuote(lines)}, auto_detect = false, header = false, ` +
    `delim = ',', quote = '"', escape = '"', new_line = '\\n', ` +
    `columns = {${types.join(', ')}}, force_not_null = [${texts.join(', ')}]))`
  await replaceWith(target, 0o644, (temporary) =>
    withDuckDb({ spill: dirname(temporary), memoryBytes }, (duck) =>
      duck.run(copyToParquetSql(read, temporary, about)),
    ),
  )
}
