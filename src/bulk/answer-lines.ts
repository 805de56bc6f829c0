// Lines of a file to answers, in a pool thread or, where there are few, in the program itself: the
// address of each line is found, judged, and its answer put behind the last one, as bytes from
// beginning to end. Empty lines are skipped; a line that names no address gets a line that says so.

import { invalidAddress } from '../api/api-error.ts'
import { type Query, parseQuery } from '../table/lookup/query.ts'
import {
  type LookupBatch,
  lookupBatchMax,
  locateBatch,
  newLookupBatch,
  prefetchLocations,
  prefetchRuns,
} from '../table/lookup/lookup-batch.ts'
import type { Located } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import { openTextRows } from './text-row.ts'
import { type Span, findLineField, trimSpan } from './line-field.ts'
import { detachBytes, reserveBytes, newGrowingBuffer, resetBuffer } from './growing-buffer.ts'
import { type RowWriter, openCsvRows } from './csv-row.ts'
import { parseIpv4Line, copyToPage } from './ipv4-line.ts'
import { clearOutput, flushOutput } from './output-buffer.ts'
import { type LineCounter, newLineCounter } from './line-tally.ts'
import type { BadLine, LineWork, LinesResult } from './line-work.ts'

/** Of each piece; a file of other things altogether is understood after a few. */
const badLinesKept = 5
/** Longer texts are cut off where they are told. */
const badCharsMax = 200
const lineEnd = 0x0a

const lookupBatch = newLookupBatch()
const span: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const output = newGrowingBuffer()

/** `into`: bytes that may be written to; without them, fresh ones. */
export function answerLines(
  table: OpenTable,
  lines: Uint8Array,
  how: LineWork,
  into?: Uint8Array,
): LinesResult {
  resetBuffer(output, into)
  // Of a piece that failed something may be left.
  clearOutput()
  lookupBatch.count = 0
  const { form } = how
  const badLines: BadLine[] = []
  const tallying =
    how.output === 'tally'
      ? newLineCounter(table.reader.views, (lines.length >>> 1) + 1)
      : undefined
  const taker = tallying === undefined ? writingSink(table, how) : lineCounterSink(tallying, table)
  const counts = { lines: 0, addresses: 0, bad: 0 }
  const page = form.kind === 'plain' ? copyToPage(lines) : undefined
  const bytes = page ?? lines
  const end = lines.length
  for (let from = 0, to = 0; from < end; from = to + 1) {
    counts.lines += 1
    const next = lookupBatch.queries[lookupBatch.count]!
    to = page === undefined ? -1 : parseIpv4Line(next, from)
    if (to < 0) {
      to = lineEndIndex(bytes, from, end)
      if (isEmpty(bytes, from, to)) continue
      findLineField(form, bytes, { from, to }, span)
      if (!parseQuery(next, span.bytes, span.from, span.to)) {
        // It stands behind those before it.
        flushBatch(table, taker)
        counts.bad += 1
        const text = decoder.decode(span.bytes.subarray(span.from, span.to))
        taker.onInvalid(text)
        if (badLines.length < badLinesKept) {
          badLines.push({ line: counts.lines - 1, text: text.slice(0, badCharsMax) })
        }
        continue
      }
    }
    counts.addresses += 1
    lookupBatch.count += 1
    if (lookupBatch.count === lookupBatchMax) flushBatch(table, taker)
  }
  flushBatch(table, taker)
  flushOutput(output)
  return { kind: 'lined', out: detachBytes(output), ...counts, badLines, tally: tallying?.tally() }
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

/** What becomes of addresses, in their order, and of lines that name none. */
interface LineSink {
  /** Reads ahead what `good` will read. */
  readonly prefetch: (group: LookupBatch) => void
  readonly onAddress: (query: Query, located: Located) => void
  readonly onInvalid: (text: string) => void
}

function flushBatch({ reader }: OpenTable, { prefetch, onAddress }: LineSink): void {
  locateBatch(lookupBatch, reader.views)
  prefetch(lookupBatch)
  for (let i = 0; i < lookupBatch.count; i++)
    onAddress(lookupBatch.queries[i]!, lookupBatch.located[i]!)
  lookupBatch.count = 0
}

function writingSink(table: OpenTable, { output: give, fields }: LineWork): LineSink {
  if (give === 'csv' || give === 'text') {
    const { prefetch, write, writeInvalid } = rowsOf(table, give === 'csv' ? fields : undefined)
    return {
      prefetch,
      onAddress: (query, located) => write(query, located, output),
      onInvalid: (text) => writeInvalid(text, output),
    }
  }
  return {
    prefetch: (group) => prefetchRuns(group, table.reader.views),
    onAddress: (query, located) => appendLine(table.answer(query, located).body),
    onInvalid: (text) => appendLine(encoder.encode(invalidAddressJson(text))),
  }
}

function lineCounterSink({ add }: LineCounter, { reader }: OpenTable): LineSink {
  return {
    prefetch: (group) => prefetchLocations(group, reader.views),
    onAddress: add,
    onInvalid: () => undefined,
  }
}

/** Straight to the room: long texts are copied faster whole. */
function appendLine(body: Uint8Array): void {
  reserveBytes(output, body.length + 1)
  output.bytes.set(body, output.length)
  output.length += body.length + 1
  output.bytes[output.length - 1] = lineEnd
}

/** The error object of a text that is no address, as batches have it. */
export function invalidAddressJson(ip: string): string {
  return JSON.stringify({ ip, error: invalidAddress })
}

/** What rows keep is made once a table and choice of columns. */
let cachedRows:
  { readonly table: OpenTable; readonly names: string; readonly rows: RowWriter } | undefined

/** Without columns, the short lines for people. */
function rowsOf(table: OpenTable, fields: LineWork['fields'] | undefined): RowWriter {
  const names = fields?.join() ?? ''
  if (cachedRows?.table !== table || cachedRows.names !== names) {
    const rows =
      fields === undefined ? openTextRows(table.reader) : openCsvRows(table.reader, fields)
    cachedRows = { table, names, rows }
  }
  return cachedRows.rows
}
