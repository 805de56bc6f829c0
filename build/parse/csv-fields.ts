// Hot within the build: CSV by bytes. Finds the fields of one row at a time in a buffer and leaves
// it to the caller to read them; nothing is decoded or copied here. Quotes as RFC 4180 has them: a
// field that begins with `"` reaches to the closing one, `""` inside stands for one `"`, and line
// ends inside it belong to it, but between tabs a quote is content. White space is content.

/** A row longer than this is damage (a quote that never closes), not data. */
export const rowBytesMax = 65_536
/** Fields beyond these are counted, not kept. */
export const fieldsMax = 64

const LF = 0x0a
const CR = 0x0d
export const COMMA = 0x2c
const QUOTE = 0x22

/** The row that was read last. Field i is bytes[starts[i], ends[i]), without its quotes. */
export type CsvFields = ReturnType<typeof newCsvFields>

export function newCsvFields() {
  return {
    separator: COMMA as number,
    starts: new Uint32Array(fieldsMax),
    ends: new Uint32Array(fieldsMax),
    /** 1 where the field has `""` inside that stands for `"`. */
    doubled: new Uint8Array(fieldsMax),
    /** Fields in the row, kept or not. An empty line has one, empty. */
    fieldCount: 0,
    /** Line ends that the row holds, its own included. */
    lineCount: 0,
    /** Text beside a closing quote, or a row above `rowBytesMax`: the fields mean nothing. */
    broken: false,
  }
}

/** The bytes from `from` to `to`, and where to put their row. */
interface CsvInput {
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
  readonly final: boolean
  readonly row: CsvFields
}

/**
 * Reads the row that begins at `from` and says where the next one does; -1 where the row has no end
 * before `to` and more bytes may follow. With `final`, `to` is the end of the file and of the row.
 * A row that grows above `rowBytesMax` is broken and ends with its first line.
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
