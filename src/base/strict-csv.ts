// The plain CSV of the hand-kept tables: `#` lines are comments, the first other line is the
// header, fields may be quoted. Strict, because a person wrote it and will read the problem: every
// odd line is named. Not for feeds and not for large files (build/networks/csv-fields.ts is).

import { splitCsvLine } from './text/csv-line.ts'

export interface StrictCsvRow {
  /** `file:line`. */
  readonly place: string
  /** One for each column, trimmed. */
  readonly fields: readonly string[]
}

export interface StrictCsv {
  readonly rows: readonly StrictCsvRow[]
  readonly problems: readonly string[]
}

/** Trailing columns may be left out of a row only where they are `note`. */
export function parseStrictCsv(options: {
  readonly path: string
  readonly text: string
  readonly columns: readonly string[]
}): StrictCsv {
  const { path, text, columns } = options
  const rows: StrictCsvRow[] = []
  const problems: string[] = []
  let sawComment = false
  let sawHeader = false
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${path}:${index + 1}`
    if (line.trim() === '') continue
    if (line.startsWith('#')) {
      sawComment = true
      continue
    }
    const { values: fields, clearCount } = splitCsvLine(line.trim(), ',', true)
    if (clearCount < fields.length) {
      problems.push(`${place}: broken quotes`)
    } else if (!sawHeader) {
      sawHeader = true
      if (fields.join() === columns.join()) continue
      problems.push(`${place}: the header is "${fields.join()}", not "${columns.join()}"`)
      return { rows, problems }
    } else if (fields.length > columns.length || fields.length < requiredCount(columns)) {
      problems.push(`${place}: ${fields.length} fields, not ${columns.length}`)
    } else {
      rows.push({ place, fields })
    }
  }
  if (!sawHeader) problems.push(`${path}: no header`)
  if (!sawComment) problems.push(`${path}: no comment that says what it is and where it is from`)
  return { rows, problems }
}

function requiredCount(columns: readonly string[]): number {
  return columns.at(-1) === 'note' ? columns.length - 1 : columns.length
}
