// Lines of a file to answers, in a pool thread or, where there are few, in the program itself: the
// address of each line is found, judged, and its answer put behind the last one, as bytes from
// beginning to end. Empty lines are skipped; a line that names no address gets a line that says so.

import { invalidAddress } from '../api/error.ts'
import { type Asked, ask, newAsked } from '../table/asked.ts'
import type { OpenTable } from '../table/open.ts'
import { openBriefs } from './brief.ts'
import { type Span, find, trim } from './find.ts'
import { type Room, giveAway, makeRoom, newRoom, useRoom } from './room.ts'
import { type Rows, openRows } from './row.ts'
import { type BadLine, type ItemResult, type LineWork } from './task.ts'
import { newTallying } from './tally.ts'

type Lined = Extract<ItemResult, { kind: 'lined' }>

/** Of each piece; a file of other things altogether is understood after a few. */
const badLinesKept = 5
/** Longer texts are cut off where they are told. */
const badCharsMax = 200
const lineEnd = 0x0a

const asked = newAsked()
const span: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const room = newRoom()

/** `into`: bytes that may be written to; without them, fresh ones. */
export function answerLines(
  table: OpenTable,
  lines: Uint8Array,
  how: LineWork,
  into?: Uint8Array,
): Lined {
  useRoom(room, into)
  const { form } = how
  const badLines: BadLine[] = []
  const tallying =
    how.give === 'tally' ? newTallying(table.reader.views, (lines.length >>> 1) + 1) : undefined
  const put = tallying === undefined ? putterOf(table, how) : undefined
  const counts = { lines: 0, addresses: 0, bad: 0 }
  let from = 0
  while (from < lines.length) {
    const found = lines.indexOf(lineEnd, from)
    const to = found < 0 ? lines.length : found
    if (!isEmpty(lines, from, to)) {
      find(form, lines, { from, to }, span)
      if (ask(asked, span.bytes, span.from, span.to)) {
        counts.addresses += 1
        if (put === undefined) tallying?.add(asked)
        else put.good(asked)
      } else {
        counts.bad += 1
        const text = decoder.decode(span.bytes.subarray(span.from, span.to))
        put?.bad(text)
        if (badLines.length < badLinesKept) {
          badLines.push({ line: counts.lines, text: text.slice(0, badCharsMax) })
        }
      }
    }
    counts.lines += 1
    from = to + 1
  }
  return { kind: 'lined', out: giveAway(room), ...counts, badLines, tally: tallying?.tally() }
}

const emptyLine: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }

function isEmpty(bytes: Uint8Array, from: number, to: number): boolean {
  // Nearly every line begins with what is no white space.
  if (from < to && bytes[from]! > 0x20) return false
  emptyLine.bytes = bytes
  emptyLine.from = from
  emptyLine.to = to
  trim(emptyLine)
  return emptyLine.from === emptyLine.to
}

interface Putter {
  readonly good: (asked: Asked) => void
  readonly bad: (text: string) => void
}

function putterOf(table: OpenTable, { give, fields }: LineWork): Putter {
  if (give === 'csv' || give === 'text') {
    const rows = rowsOf(table, give === 'csv' ? fields : undefined)
    return { good: (one) => rows.put(one, room), bad: (text) => rows.putBad(text, room) }
  }
  return {
    good: (one) => putLine(room, table.answer(one).body),
    bad: (text) => putLine(room, encoder.encode(badAnswer(text))),
  }
}

function putLine(out: Room, body: Uint8Array): void {
  makeRoom(out, body.length + 1)
  out.bytes.set(body, out.at)
  out.at += body.length + 1
  out.bytes[out.at - 1] = lineEnd
}

/** The error object of a text that is no address, as batches have it. */
export function badAnswer(ip: string): string {
  return JSON.stringify({ ip, error: invalidAddress })
}

/** What rows keep is made once a table and choice of columns. */
let kept: { readonly table: OpenTable; readonly names: string; readonly rows: Rows } | undefined

/** Without columns, the short lines for people. */
function rowsOf(table: OpenTable, fields: LineWork['fields'] | undefined): Rows {
  const names = fields?.join() ?? ''
  if (kept?.table !== table || kept.names !== names) {
    const rows = fields === undefined ? openBriefs(table.reader) : openRows(table.reader, fields)
    kept = { table, names, rows }
  }
  return kept.rows
}
