// Lines of a file to answers, in a pool thread or, where there are few, in the program itself:
// finds the address of each line, looks it up, and writes its answer behind the last one, in bytes
// throughout. Skips empty lines; a line that names no address gets a line that says so.

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

/** Of each piece: a few show a user that the file holds something else. */
const badLinesKept = 3
/** Longer texts are cut off in `badLines`. */
const badCharsMax = 200
const lineEnd = 0x0a

const lookupBatch = newLookupBatch()
const span: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const output = newGrowingBuffer()

/**
 * Writes into the buffer `into` where there is one, else into a fresh one. `decide` is what
 * `how.policy` decides, of the same table.
 */
export function answerLines(
  table: OpenTable,
  lines: Uint8Array,
  how: LineTask,
  into?: Uint8Array,
  decide?: Decide,
): LinesResult {
  resetBuffer(output, into)
  // A piece that failed may have left something.
  clearOutput()
  lookupBatch.count = 0
  const { form } = how
  const badLines: BadLine[] = []
  const counter = counterOf(table, lines, how)
  const sink =
    counter === undefined ? writingSink(table, how, decide) : lineCounterSink(counter, table)
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
          // Its line comes behind those before it.
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

/** Of each line of the batch what was read beside its address; none where that is read in place. */
const entries: (LogEntry | undefined)[] = Array.from({ length: lookupBatchMax })

/** Of the words' forms, where no line is left out by its time. */
function isReadInPlace(form: LineFormat): boolean {
  if (form.kind !== 'log') return true
  const { by, sinceMs, untilMs } = form
  const isTimed = by !== undefined || sinceMs !== undefined || untilMs !== undefined
  return !isTimed && logForms[form.form].word !== undefined
}

/** Reads a line that names no address in place. */
function lineReaderOf(form: LineFormat): LineReader {
  if (form.kind === 'log') return newLineReader(form)
  return (line) => {
    // Of `;ip;n` the first column is empty.
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
  // A comment may hold an address in its second word; the line's reader tells.
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

/** NULs of megabytes become one, and half of a surrogate pair U+FFFD, as in the API. */
const quotable = (text: string): string => Buffer.from(text).toString().replaceAll(/\0+/g, '\0')

/** `undefined` where the line is read, and its address in `query`. */
function unreadOf(read: LogEntry | UnreadLine, query: Query): UnreadLine | undefined {
  if ('reason' in read) return { ...read, text: quotable(read.text) }
  const { address } = read
  const bytes = encoder.encode(address)
  if (parseQuery(query, bytes, 0, bytes.length)) return undefined
  return { reason: 'no address', text: quotable(address) }
}

/** Most lines end sooner than a call of `indexOf` takes. */
const shortLineMax = 64

/** Where the line ends that begins at `from`, at the latest at `end`. */
function lineEndIndex(bytes: Uint8Array, from: number, end: number): number {
  const near = Math.min(from + shortLineMax, end)
  for (let at = from; at < near; at++) if (bytes[at] === lineEnd) return at
  const found = bytes.indexOf(lineEnd, near)
  return found < 0 ? end : found
}

const emptyLine: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }

function isEmpty(bytes: Uint8Array, from: number, to: number): boolean {
  // Nearly every line begins with what is no white space.
  if (from < to && bytes[from]! > 0x20) return false
  emptyLine.bytes = bytes
  emptyLine.from = from
  emptyLine.to = to
  trimSpan(emptyLine)
  return emptyLine.from === emptyLine.to
}

/** Gets the addresses, in their order, and the lines that name none. */
interface LineSink {
  /** Reads ahead what `onAddress` will read. */
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
    const { prefetch, write, writeInvalid } = rowsOf(
      table,
      format === 'csv' ? fields : undefined,
      width,
    )
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

function lineCounterSink({ add }: LineCounter, { reader }: OpenTable): LineSink {
  return {
    prefetch: (batch) => prefetchLocationRuns(batch, reader.views),
    onAddress: add,
    onInvalid: () => undefined,
  }
}

/** Past the output buffer: long texts are copied faster whole. */
function appendLine(body: Uint8Array): void {
  reserveBytes(output, body.length + 1)
  output.bytes.set(body, output.length)
  output.length += body.length + 1
  output.bytes[output.length - 1] = lineEnd
}

/** Row writers keep texts; they are made once for a table and choice of columns. */
let cachedRows:
  { readonly table: OpenTable; readonly names: string; readonly rows: RowWriter } | undefined

/** Without `fields`, the short lines for people. */
function rowsOf(
  table: OpenTable,
  fields: LineTask['fields'] | undefined,
  width: number,
): RowWriter {
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
  /** Answers as JSON lines, as rows of CSV, as lines for people; or only counts, of logs too. */
  readonly output: CheckFormat | 'tally' | 'addresses'
  readonly fields: readonly CheckField[]
  /** Of JSON lines: what decides them; absent without policies. */
  readonly policy?: ChosenPolicy | undefined
  /** Of lines for people, the column of addresses; that of IPv4 by default. */
  readonly addressWidth?: number
  /** Why no line of this piece is to be read. */
  readonly refused?: BadReason | undefined
}

/** How many lines were not read, by why. */
export type BadReasons = Partial<Record<BadReason, number>>

interface BadLine {
  /** Among the lines of its piece, from 0. */
  readonly line: number
  readonly reason: BadReason
  /** The text in place of the address, or the line, cut off where it is long. */
  readonly text: string
}

export interface LinesResult {
  readonly kind: 'lined'
  /** A line of output for each line that is not empty. */
  readonly out: Uint8Array
  /** Lines, empty ones too; those that name an address; those that should and do not. */
  readonly lines: number
  readonly addresses: number
  readonly bad: number
  readonly badLines: readonly BadLine[]
  readonly reasons: Readonly<BadReasons>
  /** Absent unless `output` is `tally` or `addresses`, which has no paths and statuses. */
  readonly tally: LineTally | undefined
}
