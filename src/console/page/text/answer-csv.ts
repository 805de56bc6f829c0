// Rows of addresses as CSV; texts are guarded against spreadsheet formulas
// (src/bulk/rows/csv-cell.ts).

import { csvCell } from '../../../bulk/rows/csv-cell.ts'
import type { AddressRows } from '../../../api/admin-answers.ts'

export type AddressRow = AddressRows['rows'][number]
export type JudgedRow = Exclude<AddressRow, { readonly error: string }>

export const isJudged = (row: AddressRow): row is JudgedRow => !('error' in row)

const columns = [
  'ip',
  'classification',
  'risk_score',
  'risk_level',
  'asn',
  'network',
  'network_type',
  'country',
  'provider',
  'reasons',
  'lists',
  'action',
] as const

/** RFC 4180 with a header; the last column has errors. */
export function answerCsv(rows: readonly AddressRow[]): string {
  const lines = rows.map((row) => {
    if (!isJudged(row)) {
      return [csvCell(row.ip), ...columns.slice(1).map(() => ''), csvCell(row.error)].join(',')
    }
    return [...columns.map((name) => cell(row[name])), ''].join(',')
  })
  return [[...columns, 'error'].join(','), ...lines, ''].join('\r\n')
}

function cell(value: string | number | readonly string[]): string {
  if (typeof value === 'number') return String(value)
  return csvCell(typeof value === 'string' ? value : value.join(' '))
}
