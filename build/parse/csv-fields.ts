// Hot within the build: finds the fields of a CSV row in a buffer, without decoding or copying. RFC
// 4180 quotes: `""` inside a quoted field stands for one `"`, and line ends inside belong to it;
// between tabs a quote is content. So is white space.

/** A longer row is damage (an unclosed quote), not data. */
export const rowBytesMax = 65_536
/** Further fields are counted, not kept. */
export const fieldsMax = 64

const LF = 0x0a
const CR = 0x0d
export const COMMA = 0x2c
const QUOTE = 0x22

/** The last row read. Field i is bytes[starts[i], ends[i]), without quotes. */
export type CsvFields = ReturnType<typeof newCsvFields>

export function newCsvFields() {
  return {
    separator: COMMA as number,
    starts: new Uint32Array(fieldsMax),
    ends: new Uint32Array(fieldsMax),
    /** 1 if the field contains `""` for `"`. */
    doubled: new Uint8Array(fieldsMax),
    /** Includes fields that were not kept. An empty line has one empty field. */
    fieldCount: 0,
    /** Line ends in the row, its own included. */
    lineCount: 0,
    /** Text beside a closing quote, or over `rowBytesMax`: the fields are invalid. */
    broken: false,
  }
}

interface CsvInput {
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
  readonly final: boolean
  readonly row: CsvFields
}

/**
 * Returns where the next row begins, or -1 if this one does not end before `to` and more bytes may
 * follow. With `final`, `to` is the end of the file. A row over `rowBytesMax` is broken and ends
 * with its first line.
 */
export function readCsvFields(options: CsvInput): number {
  const { bytes, from, to, final, row } = options
  const { separator } = row
  row.fieldCount = 0
  row.lineCount = 1
  row.broken = false
  let at = from
  for (;;) {
    const quoted = at < to && bytes[at] === QUOTE && separator === COMMA
    const start = quoted ? at + 1 : at
    let end: number
    let doubled = 0
    if (quoted) {
      at++
      for (;;) {
        while (at < to && bytes[at] !== QUOTE) {
          if (bytes[at] === LF) row.lineCount++
          at++
        }
        if (at >= to) return unended(options)
        if (bytes[at + 1] !== QUOTE || at + 1 >= to) break
        doubled = 1
        at += 2
      }
      end = at
      at++
      if (at < to && bytes[at] === CR && at + 1 < to && bytes[at + 1] === LF) at++
      if (at < to && bytes[at] !== separator && bytes[at] !== LF) {
        row.broken = true
        while (at < to && bytes[at] !== LF) at++
      }
    } else {
      while (at < to && bytes[at] !== separator && bytes[at] !== LF) at++
      end = at
      if (end > start && at < to && bytes[at] === LF && bytes[end - 1] === CR) end--
    }
    if (at >= to && !final) return unended(options)
    if (row.fieldCount < fieldsMax) {
      row.starts[row.fieldCount] = start
      row.ends[row.fieldCount] = end
      row.doubled[row.fieldCount] = doubled
    }
    row.fieldCount++
    if (at >= to) return to
    if (bytes[at] === LF) return at + 1
    at++
  }
}

function unended(options: CsvInput): number {
  const { bytes, from, to, final, row } = options
  if (!final && to - from < rowBytesMax) return -1
  row.broken = true
  row.lineCount = 1
  const lineEnd = bytes.indexOf(LF, from)
  return lineEnd < 0 || lineEnd >= to ? to : lineEnd + 1
}
