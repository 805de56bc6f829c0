// Hot path: no allocation, throw, closure or regular expression.
//
// Finds the address field in one line of a file, by its form: the whole line, a column of CSV, the
// first words of an access log. The caller validates the address. A field of CSV ends with its
// line, so that a stray quote costs one line. The twin of `findColumn` is csv-parse, in the tests.

import type { Trust } from '../client/address/trusted-proxies.ts'
import { logForms } from './log-forms.ts'
import type { LogFormat } from './log-line.ts'

/** Where a file's lines have their address. */
export type LineFormat =
  | { readonly kind: 'plain' }
  /** `column` counts from 0; `delimiter` is a byte. */
  | {
      readonly kind: 'csv'
      readonly column: number
      readonly delimiter: number
      readonly trust?: Trust | undefined
    }
  | LogFormat

/** Text in a buffer: bytes[from … to). */
export interface Span {
  bytes: Uint8Array
  from: number
  to: number
}

const quote = 0x22
const space = 0x20

/** Writes the address field of bytes[from … to) to `out`; empty if there is none. */
export function findLineField(
  form: LineFormat,
  bytes: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  out: Span,
): void {
  out.bytes = bytes
  out.from = from
  out.to = to
  if (form.kind === 'csv') findColumn(form.column, form.delimiter, out)
  else if (form.kind === 'log') {
    const word = logForms[form.form].word ?? Infinity
    findWord(word > 0 && hasTimeInFront(bytes, from) ? Infinity : word, out)
    if (out.to + 1 < to && isAddressByte(bytes[out.to + 1]!)) out.from = out.to
  }
  trimSpan(out)
}

/** Narrows the line in `span` to its column, without quotes. */
function findColumn(column: number, delimiter: number, span: Span): void {
  const { bytes, to } = span
  let at = span.from
  for (let index = 0; ; index++) {
    const begin = at
    const quoted = bytes[at] === quote
    if (quoted) {
      at += 1
      // A doubled quote escapes one; addresses have none.
      while (at < to && (bytes[at] !== quote || bytes[at + 1] === quote)) {
        at += bytes[at] === quote ? 2 : 1
      }
    }
    const end = Math.min(at, to)
    while (at < to && bytes[at] !== delimiter) at += 1
    if (index === column) {
      span.from = quoted ? begin + 1 : begin
      span.to = quoted ? end : at
      return
    }
    if (at >= to) break
    at += 1
  }
  span.from = to
}

function findWord(word: number, span: Span): void {
  const { bytes, to } = span
  let at = span.from
  for (let index = 0; at < to; index++) {
    const begin = at
    while (at < to && bytes[at] !== space) at += 1
    if (index === word) {
      span.from = begin
      span.to = at
      return
    }
    at += 1
  }
  span.from = to
}

/** `<134>` or `2026-08-22T`: syslog, where the second word may be a host's address. */
function hasTimeInFront(bytes: Uint8Array, from: number): boolean {
  return bytes[from] === 0x3c || (bytes[from + 4] === 0x2d && bytes[from + 10] === 0x54)
}

/** First byte of a peer after forwarded addresses: digits, `:`, `[`, `a` to `f`. */
function isAddressByte(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x3a) || byte === 0x5b || (letter >= 0x61 && letter <= 0x66)
}

/** Trims spaces, tabs, and the carriage return of a line end. */
export function trimSpan(span: Span): void {
  const { bytes } = span
  while (span.from < span.to && isSpace(bytes[span.from]!)) span.from += 1
  while (span.to > span.from && isSpace(bytes[span.to - 1]!)) span.to -= 1
}

function isSpace(byte: number): boolean {
  return byte === space || (byte >= 0x09 && byte <= 0x0d)
}
