// Lines of a file to answers, in a pool thread or, where there are few, in the program itself: the
// address of each line is found, judged, and its answer put behind the last one, as bytes from
// beginning to end. Empty lines are skipped; a line that names no address gets a line that says so.

import { invalidAddress } from '../api/api-error.ts'
import { type Asked, ask } from '../table/lookup/query.ts'
import {
  type Group,
  groupMax,
  locateGroup,
  newGroup,
  touchPlaces,
  touchRuns,
} from '../table/lookup/lookup-batch.ts'
import type { Located } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import { openBriefs } from './text-row.ts'
import { type Span, find, trim } from './line-field.ts'
import { giveAway, makeRoom, newRoom, useRoom } from './growing-buffer.ts'
import { type Rows, openRows } from './csv-row.ts'
import { askQuadLine, toPage } from './ipv4-line.ts'
import { clearStage, unstage } from './output-buffer.ts'
import { type Tallying, newTallying } from './line-tally.ts'
import type { BadLine, ItemResult, LineWork } from '../pool/pool-task.ts'

type Lined = Extract<ItemResult, { kind: 'lined' }>

/** Of each piece; a file of other things altogether is understood after a few. */
const badLinesKept = 5
/** Longer texts are cut off where they are told. */
const badCharsMax = 200
const lineEnd = 0x0a

const group = newGroup()
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
  // Of a piece that failed something may be left.
  clearStage()
  group.count = 0
  const { form } = how
  const badLines: BadLine[] = []
  const tallying =
    how.give === 'tally' ? newTallying(table.reader.views, (lines.length >>> 1) + 1) : undefined
  const taker = tallying === undefined ? putterOf(table, how) : tallier(tallying, table)
  const counts = { lines: 0, addresses: 0, bad: 0 }
  const page = form.kind === 'plain' ? toPage(lines) : undefined
  const bytes = page ?? lines
  const end = lines.length
  for (let from = 0, to = 0; from < end; from = to + 1) {
    counts.lines += 1
    const next = group.asked[group.count]!
    to = page === undefined ? -1 : askQuadLine(next, from)
    if (to < 0) {
      to = endOf(bytes, from, end)
      if (isEmpty(bytes, from, to)) continue
      find(form, bytes, { from, to }, span)
      if (!ask(next, span.bytes, span.from, span.to)) {
        // It stands behind those before it.
        takeGroup(table, taker)
        counts.bad += 1
        const text = decoder.decode(span.bytes.subarray(span.from, span.to))
        taker.bad(text)
        if (badLines.length < badLinesKept) {
          badLines.push({ line: counts.lines - 1, text: text.slice(0, badCharsMax) })
        }
        continue
      }
    }
    counts.addresses += 1
    group.count += 1
    if (group.count === groupMax) takeGroup(table, taker)
  }
  takeGroup(table, taker)
  unstage(room)
  return { kind: 'lined', out: giveAway(room), ...counts, badLines, tally: tallying?.tally() }
}

/** Most lines end sooner than a call of `indexOf` takes. */
const shortLineMax = 64

/** Where the line ends that begins at `from`, at the latest at `end`. */
function endOf(bytes: Uint8Array, from: number, end: number): number {
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
  trim(emptyLine)
  return emptyLine.from === emptyLine.to
}

/** What becomes of addresses, in their order, and of lines that name none. */
interface Taker {
  /** Reads ahead what `good` will read. */
  readonly touch: (group: Group) => void
  readonly good: (asked: Asked, located: Located) => void
  readonly bad: (text: string) => void
}

function takeGroup({ reader }: OpenTable, { touch, good }: Taker): void {
  locateGroup(group, reader.views)
  touch(group)
  for (let i = 0; i < group.count; i++) good(group.asked[i]!, group.located[i]!)
  group.count = 0
}

function putterOf(table: OpenTable, { give, fields }: LineWork): Taker {
  if (give === 'csv' || give === 'text') {
    const { touch, put, putBad } = rowsOf(table, give === 'csv' ? fields : undefined)
    return {
      touch,
      good: (asked, located) => put(asked, located, room),
      bad: (text) => putBad(text, room),
    }
  }
  return {
    touch: (group) => touchRuns(group, table.reader.views),
    good: (asked, located) => putLine(table.answer(asked, located).body),
    bad: (text) => putLine(encoder.encode(badAnswer(text))),
  }
}

function tallier({ add }: Tallying, { reader }: OpenTable): Taker {
  return {
    touch: (group) => touchPlaces(group, reader.views),
    good: add,
    bad: () => undefined,
  }
}

/** Straight to the room: long texts are copied faster whole. */
function putLine(body: Uint8Array): void {
  makeRoom(room, body.length + 1)
  room.bytes.set(body, room.at)
  room.at += body.length + 1
  room.bytes[room.at - 1] = lineEnd
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
