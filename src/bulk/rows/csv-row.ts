// An answer as a row of CSV (RFC 4180, ended by `\n`): the chosen columns in their order, by
// src/table/answer/check-address.ts; null and absent values are empty cells.
//
// Adjacent cells of a verdict or a network are built together at first use and cached by id
// (text-cache.ts): a table has a hundred thousand of these. There are six times as many places;
// their texts are copied from the table (place-text.ts).

import { invalidInput } from '../../api/input-fault.ts'
import type { CheckField } from '../../config/line-formats.ts'
import type { Query } from '../../table/lookup/query.ts'
import { type AnswerReader, verdictPart } from '../../table/answer/answer-reader.ts'
import type { ListMatch } from '../../lists/list-matcher.ts'
import { listedVerdict, listsOf } from '../../table/answer/own-lists.ts'
import { readVerdict } from '../../table/file/verdict-record.ts'
import { type LookupBatch, prefetchLocationRuns } from '../../table/lookup/lookup-batch.ts'
import type { Located } from '../../table/lookup/locate.ts'
import {
  appendCached,
  networkTextCache,
  prefetchNetworkTexts,
  verdictTextCache,
} from './text-cache.ts'
import { type ExportField, type FieldValue, exportField, isExportField } from './answer-fields.ts'
import { csvCell } from './csv-cell.ts'
import type { GrowingBuffer } from '../growing-buffer.ts'
import { appendQueryText } from './ipv4-line.ts'
import { appendByte, appendText } from '../output-buffer.ts'
import { openPlaceText, openTableTexts, placeTexts, type TableTexts } from './place-text.ts'

export interface RowWriter {
  /** Reads ahead the data of these addresses' rows. */
  readonly prefetch: (batch: LookupBatch) => void
  readonly write: (query: Query, located: Located, out: GrowingBuffer) => void
  readonly writeInvalid: (text: string, out: GrowingBuffer) => void
}

/** One cell, or several separated by commas. */
interface CellWriter {
  readonly write: (
    out: GrowingBuffer,
    located: Located,
    query: Query,
    match: ListMatch | undefined,
  ) => void
  readonly prefetch?: RowWriter['prefetch']
}

const comma = 0x2c
const lineEnd = 0x0a

export const csvHeader = (fields: readonly CheckField[]): string => fields.join(',')

export function openCsvRows(reader: AnswerReader, fields: readonly CheckField[]): RowWriter {
  const cells = cellsOf(reader, fields)
  const writers = cells.map(({ write }) => write)
  const prefetchers = cells.flatMap(({ prefetch }) => prefetch ?? [])
  return {
    prefetch: (batch) => {
      for (const prefetch of prefetchers) prefetch(batch)
    },
    write: (query, located, out) => {
      const match = listsOf(reader.lists, reader.views, query.words, located)
      for (let index = 0; index < writers.length; index++) {
        if (index > 0) appendByte(out, comma)
        writers[index]!(out, located, query, match)
      }
      appendByte(out, lineEnd)
    },
    writeInvalid: (text, out) => {
      const cells = fields.map((field) =>
        field === 'ip' ? csvCell(text) : field === 'error' ? invalidInput : '',
      )
      appendText(out, `${cells.join(',')}\n`)
    },
  }
}

function cellsOf(reader: AnswerReader, fields: readonly CheckField[]): readonly CellWriter[] {
  const texts = openTableTexts(reader, csvCell)
  const cells: CellWriter[] = []
  for (let at = 0; at < fields.length;) {
    const field = fields[at]!
    const part = partOf(field)
    let to = at + 1
    if (part === 'verdict' || part === 'network') {
      while (to < fields.length && partOf(fields[to]!) === part) to += 1
      const own = fields.slice(at, to).filter(isExportField).map(exportField)
      cells.push(part === 'verdict' ? verdictCells(reader, own) : networkCells(reader, own))
    } else cells.push(cellOf(reader, texts, field))
    at = to
  }
  return cells
}

const partOf = (name: string) => (isExportField(name) ? exportField(name).part : undefined)

function verdictCells(reader: AnswerReader, fields: readonly ExportField[]): CellWriter {
  const { views, strings } = reader
  const cells = verdictTextCache(reader, (verdict) => joinCells(fields, verdictPart(verdict)))
  return {
    write: (out, { bogon, verdict }, _query, match) => {
      if (match === undefined) appendCached(out, cells, bogon ? 0 : verdict + 1)
      else {
        const listed = listedVerdict(readVerdict(views, verdict, strings), match)
        appendText(out, joinCells(fields, verdictPart(listed)))
      }
    },
  }
}

function networkCells(reader: AnswerReader, fields: readonly ExportField[]): CellWriter {
  const none = ','.repeat(fields.length - 1)
  const cells = networkTextCache(reader, none, (network) => joinCells(fields, network))
  return {
    write: (out, { bogon, network }) => appendCached(out, cells, bogon ? 0 : network),
    prefetch: (batch) => prefetchNetworkTexts(batch, cells),
  }
}

/** Cells that are not cached: the address itself, and half a million places. */
function cellOf(reader: AnswerReader, texts: TableTexts, field: CheckField): CellWriter {
  const { views, parts } = reader
  if (field === 'ip') {
    return { write: (out, _located, query) => appendQueryText(out, query) }
  }
  if (field === 'version') {
    return { write: (out, { version }) => appendByte(out, version === 4 ? 0x34 : 0x36) }
  }
  if (field === 'lists') {
    return {
      write: (out, _located, _query, match) => {
        if (match !== undefined) appendText(out, match.names.join(' '))
      },
    }
  }
  const member = placeTexts.find((name) => name === field)
  if (member !== undefined) {
    const { write } = openPlaceText(reader, texts, member)
    return {
      write: (out, { bogon, location }) => {
        if (!bogon && location !== 0) write(out, location)
      },
      prefetch: (batch) => prefetchLocationRuns(batch, views),
    }
  }
  if (field === 'latitude' || field === 'longitude') {
    return {
      write: (out, { bogon, location }) => {
        if (bogon || location === 0) return
        appendText(out, String(parts.location(location)[field]))
      },
    }
  }
  // An address has no error.
  return { write: () => undefined }
}

/** `part`: the part of all `fields`. */
function joinCells(fields: readonly ExportField[], part: unknown): string {
  const cells = fields.map(({ of }) => {
    const cell = (of as (part: unknown) => FieldValue)(part)
    return typeof cell === 'string' ? csvCell(cell) : String(cell)
  })
  return cells.join(',')
}
