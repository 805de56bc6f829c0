// The plain CSV of the hand-kept tables: `#` lines are comments, the first other line is the
// header, fields may be quoted. Strict, because a person wrote it and will read the problem: every
// odd line is named. Not for feeds and not for large files (csv-row.ts is).

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
    const fields = splitFields(line)
    if (fields === undefined) {
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

/** The fields of one line, trimmed; undefined where quotes do not match. */
function splitFields(line: string): readonly string[] | undefined {
  const fields: string[] = []
  // White space around a bare field is in it: with \s* beside it the time would grow as its cube.
  const field = /(?:\s*"((?:[^"]|"")*)"\s*|([^",]*))(,|$)/y
  for (;;) {
    const match = field.exec(line)
    if (match === null) return undefined
    fields.push(match[1]?.replaceAll('""', '"') ?? (match[2] ?? '').trim())
    if (match[3] === '') return fields
  }
}
