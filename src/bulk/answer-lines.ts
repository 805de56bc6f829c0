// Answers the lines of a file, in a pool thread or, for few lines, in the program itself: finds
// each line's address, looks it up and appends its answer, in bytes throughout. Skips empty lines;
// a line without an address gets an error line.

import { invalidAddressJson } from '../api/input-fault.ts'
import type { CheckField, CheckFormat } from '../config/line-formats.ts'
import type { ChosenPolicy } from '../model/policy-form.ts'
import type { Decide } from '../policy/decide-by.ts'
import { extendAnswer } from '../table/answer/answer-writer.ts'
import type { Located } from '../table/lookup/locate.ts'
import {
  locateBatch,
  type LookupBatch,
  lookupBatchMax,
  newLookupBatch,
  prefetchLocationRuns,
  prefetchRuns,
} from '../table/lookup/lookup-batch.ts'
import { parseQuery, type Query } from '../table/lookup/query.ts'
import type { OpenTable } from '../table/open-table.ts'
import { detachBytes, newGrowingBuffer, reserveBytes, resetBuffer } from './growing-buffer.ts'
import { findLineField, type LineFormat, type Span, trimSpan } from './line-field.ts'
import { logForms } from './log-forms.ts'
import {
  type BadReason,
  type LineReader,
  type LogEntry,
  type UnreadLine,
  isComment,
  newLineReader,
  chooseAddress,
} from './log-line.ts'
import { type LineCounter, type LineTally, newLineCounter } from './line-tally.ts'
import { clearOutput, flushOutput } from './output-buffer.ts'
import { openCsvRows, type RowWriter } from './rows/csv-row.ts'
import { copyToPage, parseIpv4Line } from './rows/ipv4-line.ts'
import { ipv4Chars, openTextRows } from './rows/text-row.ts'

/** Per piece: enough to show a user that the file is not what was meant. */
const badLinesKept = 3
const badCharsMax = 200
const lineEnd = 0x0a

const lookupBatch = newLookupBatch()
const span: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const output = newGrowingBuffer()

/**
 * Writes into the buffer `into`, or a new one. `decide` is `how.policy` opened on the same table.
 */
export function answerLines(
  table: OpenTable,
  lines: Uint8Array,
  how: LineTask,
  into?: Uint8Array,
  decide?: Decide,
): LinesResult {
  resetBuffer(output, into)
  // A failed piece may have left something.
  clearOutput()
  lookupBatch.count = 0
  const { form } = how
  const badLines: BadLine[] = []
  const counter = counterOf(table, lines, how)
  const sink =
    counter === undefined ? writingSink(table, how, decide) : countingSink(counter, table)
  const counts = { lines: 0, addresses: 0, bad: 0 }
  const reasons: BadReasons = {}
  const readLine = lineReaderOf(form)
  const isFast = how.refused === undefined && isReadInPlace(form)
  const page = isFast && form.kind === 'plain' ? copyToPage(lines) : undefined
  const bytes = page ?? lines
  const end = lines.length
  for (let from = 0, to = 0; from < end; from = to + 1) {
    counts.lines += 1
    const next = lookupBatch.queries[lookupBatch.count]!
    to = page === undefined ? -1 : parseIpv4Line(next, from)
    if (to < 0) {
      to = lineEndIndex(bytes, from, end)
      if (isEmpty(bytes, from, to)) continue
      entries[lookupBatch.count] = undefined
      if (!isFast || !isReadAt(form, bytes, from, to, next)) {
        const line = decoder.decode(bytes.subarray(from, to))
        const read = how.refused === undefined ? readLine(line) : refusedLine(line, how.refused)
        if (read === undefined) continue
        const bad = unreadOf(read, next)
        if (bad === undefined) entries[lookupBatch.count] = read as LogEntry
        else {
          // Flushed to keep the order of lines.
          flushBatch(table, sink)
          counts.bad += 1
          const { reason, text } = bad
          reasons[reason] = (reasons[reason] ?? 0) + 1
          sink.onInvalid(text)
          if (badLines.length < badLinesKept) {
            badLines.push({ line: counts.lines - 1, reason, text: text.slice(0, badCharsMax) })
          }
          continue
        }
      }
    }
    counts.addresses += 1
    lookupBatch.count += 1
    if (lookupBatch.count === lookupBatchMax) flushBatch(table, sink)
  }
  flushBatch(table, sink)
  flushOutput(output)
  return {
    kind: 'lined',
    out: detachBytes(output),
    ...counts,
    badLines,
    reasons,
    tally: counter?.tally(),
  }
}

function counterOf(
  { reader: { views } }: OpenTable,
  { length }: Uint8Array,
  { form, output: what }: LineTask,
): LineCounter | undefined {
  if (what !== 'tally' && what !== 'addresses') return undefined
  const log = form.kind === 'log' && what === 'tally' ? { by: form.by } : undefined
  return newLineCounter(views, (length >>> 1) + 1, log)
}

/** Keyed by line of the batch: its log entry; `undefined` if read in place. */
const entries: (LogEntry | undefined)[] = Array.from({ length: lookupBatchMax })

/** Forms by `word`, without a filter by time. */
function isReadInPlace(form: LineFormat): boolean {
  if (form.kind !== 'log') return true
  const { by, sinceMs, untilMs } = form
  const isTimed = by !== undefined || sinceMs !== undefined || untilMs !== undefined
  return !isTimed && logForms[form.form].word !== undefined
}

/** Reads lines whose address was not found in place. */
function lineReaderOf(form: LineFormat): LineReader {
  if (form.kind === 'log') return newLineReader(form)
  return (line) => {
    // In `;ip;n` the first column is empty.
    const isCell = form.kind === 'csv' && line.trimStart().charCodeAt(0) === form.delimiter
    if (isComment(line) && !isCell) return undefined
    const text = spanText()
    if (line.includes('\0')) return { reason: 'NUL bytes', text }
    const address = form.kind === 'csv' ? chooseAddress(text, undefined, form.trust) : undefined
    if (address === undefined) return { reason: 'no address', text }
    return { address, path: '', status: '', timeMs: NaN }
  }
}

const spanText = (): string => decoder.decode(span.bytes.subarray(span.from, span.to))

function isReadAt(
  form: LineFormat,
  bytes: Uint8Array,
  from: number,
  to: number,
  query: Query,
): boolean {
  // A comment's second word may be an address; the slow path skips comments.
  if (form.kind === 'log' && mayBeComment(bytes, from, to)) return false
  place.from = from
  place.to = to
  findLineField(form, bytes, place, span)
  return parseQuery(query, span.bytes, span.from, span.to)
}

function mayBeComment(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from
  while (at < to && bytes[at]! <= 0x20) at += 1
  return bytes[at] === 0x23 || bytes[at] === 0x3b
}

const place = { from: 0, to: 0 }

function refusedLine(line: string, reason: BadReason): UnreadLine {
  return { reason: line.startsWith('\0') ? 'NUL bytes' : reason, text: quotable(line.trim()) }
}

/** Runs of NULs become one, and lone surrogates U+FFFD, as in the API. */
const quotable = (text: string): string => Buffer.from(text).toString().replaceAll(/\0+/g, '\0')

/** `undefined` if the line has an address, now in `query`. */
function unreadOf(read: LogEntry | UnreadLine, query: Query): UnreadLine | undefined {
  if ('reason' in read) return { ...read, text: quotable(read.text) }
  const { address } = read
  const bytes = encoder.encode(address)
  if (parseQuery(query, bytes, 0, bytes.length)) return undefined
  return { reason: 'no address', text: quotable(address) }
}

/** Most lines end before a call of `indexOf` would return. */
const shortLineMax = 64

function lineEndIndex(bytes: Uint8Array, from: number, end: number): number {
  const near = Math.min(from + shortLineMax, end)
  for (let at = from; at < near; at++) if (bytes[at] === lineEnd) return at
  const found = bytes.indexOf(lineEnd, near)
  return found < 0 ? end : found
}

const emptyLine: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }

function isEmpty(bytes: Uint8Array, from: number, to: number): boolean {
  // Nearly every line begins with a visible character.
  if (from < to && bytes[from]! > 0x20) return false
  emptyLine.bytes = bytes
  emptyLine.from = from
  emptyLine.to = to
  trimSpan(emptyLine)
  return emptyLine.from === emptyLine.to
}

/** Receives addresses and invalid lines in their order. */
interface LineSink {
  /** Reads ahead the data of `onAddress`. */
  readonly prefetch: (batch: LookupBatch) => void
  readonly onAddress: (query: Query, located: Located, entry?: LogEntry) => void
  readonly onInvalid: (text: string) => void
}

function flushBatch({ reader }: OpenTable, { prefetch, onAddress }: LineSink): void {
  locateBatch(lookupBatch, reader.views)
  prefetch(lookupBatch)
  for (let i = 0; i < lookupBatch.count; i++)
    onAddress(lookupBatch.queries[i]!, lookupBatch.located[i]!, entries[i])
  lookupBatch.count = 0
}

function writingSink(
  table: OpenTable,
  { output: format, fields, addressWidth: width = ipv4Chars }: LineTask,
  decide: Decide | undefined,
): LineSink {
  if (format === 'csv' || format === 'text') {
    const columns = format === 'csv' ? fields : undefined
    const { prefetch, write, writeInvalid } = rowsOf(table, columns, width)
    return {
      prefetch,
      onAddress: (query, located) => write(query, located, output),
      onInvalid: (text) => writeInvalid(text, output),
    }
  }
  return {
    prefetch: (batch) => prefetchRuns(batch, table.reader.views),
    onAddress: (query, located) => {
      const { body } = table.answer(query, located)
      appendLine(decide === undefined ? body : extendAnswer(body, decide(query, located).tail))
    },
    onInvalid: (text) => appendLine(encoder.encode(invalidAddressJson(text))),
  }
}

const countingSink = ({ add }: LineCounter, { reader }: OpenTable): LineSink => ({
  prefetch: (batch) => prefetchLocationRuns(batch, reader.views),
  onAddress: add,
  onInvalid: () => undefined,
})

/** Not through the output buffer: long texts are copied faster whole. */
function appendLine(body: Uint8Array): void {
  reserveBytes(output, body.length + 1)
  output.bytes.set(body, output.length)
  output.length += body.length + 1
  output.bytes[output.length - 1] = lineEnd
}

/** Row writers cache texts; made once by table and columns. */
let cachedRows: { table: OpenTable; names: string; rows: RowWriter } | undefined

/** Short lines for people without `fields`. */
function rowsOf(table: OpenTable, fields: LineTask['fields'] | undefined, width: number) {
  const names = fields?.join() ?? String(width)
  if (cachedRows?.table !== table || cachedRows.names !== names) {
    const rows =
      fields === undefined ? openTextRows(table.reader, width) : openCsvRows(table.reader, fields)
    cachedRows = { table, names, rows }
  }
  return cachedRows.rows
}

export interface LineTask {
  readonly form: LineFormat
  /** JSON lines, CSV, lines for people, or counts only, also of logs. */
  readonly output: CheckFormat | 'tally' | 'addresses'
  readonly fields: readonly CheckField[]
  /** Decides JSON lines; absent without policies. */
  readonly policy?: ChosenPolicy | undefined
  /** Address column width of lines for people; by default that of IPv4. */
  readonly addressWidth?: number
  /** Why lines of this piece are refused. */
  readonly refused?: BadReason | undefined
}

export type BadReasons = Partial<Record<BadReason, number>>

interface BadLine {
  /** In its piece, from 0. */
  readonly line: number
  readonly reason: BadReason
  /** In place of the address, or the line; cut off if long. */
  readonly text: string
}

export interface LinesResult {
  readonly kind: 'lined'
  /** One line of output for each line that is not empty. */
  readonly out: Uint8Array
  /** Lines include empty ones; `bad` are those with an invalid address. */
  readonly lines: number
  readonly addresses: number
  readonly bad: number
  readonly badLines: readonly BadLine[]
  readonly reasons: Readonly<BadReasons>
  /** With `output: 'tally'`, or `'addresses'`, which has no paths and statuses. */
  readonly tally: LineTally | undefined
}
