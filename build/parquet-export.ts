// An export as Parquet: lines of CSV in, a file with typed columns out, by DuckDB, which streams
// them in bounded memory. Sorted as the lines are: by family and first address.

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

/** Enough for any export: it sorts nothing. */
const memoryBytes = 500_000_000

/** Writes the lines, which have no header, to `target`, all or nothing. */
export async function writeParquetExport(
  lines: string,
  target: string,
  columns: readonly ParquetColumn[],
  about: Readonly<Record<string, string>>,
): Promise<void> {
  const types = columns.map(({ name, type }) => `${sqlQuote(name)}: ${sqlQuote(sqlTypes[type])}`)
  // Text is never unknown: an empty cell is an empty text.
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
