// One line of CSV with RFC 4180 quotes, also after blanks. Large files: build/parse/csv-fields.ts.

/**
 * Trimmed values, and the number of values before a stray quote, after which the rest of the line
 * is one value. `strict`: a quote inside a bare value is stray too.
 */
export function splitCsvLine(line: string, separator: string, strict = false) {
  const values: string[] = []
  let at = 0
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t') at++
    const start = at
    if (line[at] === '"') {
      const quoted = quotedValue(line, at)
      at = quoted?.end ?? line.length
      while (line[at] === ' ' || line[at] === '\t') at++
      if (quoted === undefined || (at < line.length && line[at] !== separator)) {
        values.push(line.slice(start).trim())
        return { values, clearCount: values.length - 1 }
      }
      values.push(quoted.value.trim())
    } else {
      const found = line.indexOf(separator, at)
      at = found < 0 ? line.length : found
      values.push(line.slice(start, at).trim())
      if (strict && values.at(-1)?.includes('"')) return { values, clearCount: values.length - 1 }
    }
    if (at >= line.length) return { values, clearCount: values.length }
    at++
  }
}

/** `end` is the index after the closing quote. */
function quotedValue(
  line: string,
  start: number,
): { readonly value: string; readonly end: number } | undefined {
  let value = ''
  let at = start
  for (;;) {
    const quote = line.indexOf('"', at + 1)
    if (quote < 0) return undefined
    value += line.slice(at + 1, quote)
    if (line[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    at = quote + 1
  }
}

// The strict CSV of hand-kept tables: `#` lines are comments, the first other line is the header.

/**
 * Rows with their `file:line` and one trimmed field per column. Only a trailing `note` may be
 * missing.
 */
export function parseStrictCsv(options: {
  readonly path: string
  readonly text: string
  readonly columns: readonly string[]
}) {
  const { path, text, columns } = options
  const rows: { readonly place: string; readonly fields: readonly string[] }[] = []
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
  if (!sawComment) problems.push(`${path}: no comment with its content and origin`)
  return { rows, problems }
}

const requiredCount = (columns: readonly string[]): number =>
  columns.at(-1) === 'note' ? columns.length - 1 : columns.length
