// One line of CSV into its values: quotes as RFC 4180 has them, also after blanks, and none that
// reaches over the end of the line. The compiler's large files are read by bytes instead
// (build/networks/csv-fields.ts).

/** One line's values, trimmed, and the index of the first that a stray quote makes doubtful. */
export interface CsvLine {
  readonly values: readonly string[]
  /** `values.length` where none is doubtful. */
  readonly clearCount: number
}

/**
 * Splits one line. A stray quote ends it: the rest of the line is its last, doubtful value. A quote
 * inside a bare value is stray only by `strict`.
 */
export function splitCsvLine(line: string, separator: string, strict = false): CsvLine {
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

/** The value whose opening quote is at `start`, and the index behind its closing quote. */
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
