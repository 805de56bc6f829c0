// Single fields of the hand-kept tables: each reader gives the value, or says at the row's place
// what is wrong with it and gives undefined. Which columns a table has is network-tables.ts.

import { parseDay, type Day } from '../../src/base/day.ts'
import type { StrictCsvRow } from '../../src/base/strict-csv.ts'
import { hasHostBits, parsePrefix, type Range } from '../../src/ip/range.ts'

/** The field of a column; '' where a row leaves its last ones out. */
export function fieldOf(row: StrictCsvRow, columns: readonly string[], column: string): string {
  return row.fields[columns.indexOf(column)] ?? ''
}

export function readAsn(
  row: StrictCsvRow,
  written: string,
  problems: string[],
): number | undefined {
  const asn = /^[1-9]\d{0,9}$/.test(written) ? Number(written) : 0
  if (asn !== 0 && asn <= 0xffff_ffff) return asn
  problems.push(`${row.place}: "${written}" is no AS number`)
  return undefined
}

export function readPrefix(row: StrictCsvRow, problems: string[]): Range | undefined {
  const written = row.fields[0] ?? ''
  const range = parsePrefix(written)
  if (range === undefined) problems.push(`${row.place}: "${written}" is no prefix`)
  else if (hasHostBits(written)) problems.push(`${row.place}: ${written} has host bits set`)
  else return range
  return undefined
}

/** The day of a row that names where it is from. */
export function readSourceDay(
  row: StrictCsvRow,
  { source, written }: { readonly source: string; readonly written: string },
  problems: string[],
): Day | undefined {
  const day = parseDay(written)
  if (!source.startsWith('https://')) problems.push(`${row.place}: "${source}" is no https URL`)
  if (day === undefined) problems.push(`${row.place}: "${written}" is no day`)
  return day
}
