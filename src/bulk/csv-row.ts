// An answer as a row of CSV (RFC 4180, `\n` ends it), for spreadsheets and databases: the columns
// that are asked for, in their order. What a column says is what the answer says (src/table/answer/check-address.ts);
// where that is null or nothing, the cell is empty.
//
// Neighbouring cells of a verdict or a network are made together at its first use and kept by its
// number (text-cache.ts): a table has a hundred thousand of these. Places are six times as many; their texts are copied
// from the table.

import type { NetworkAnswer, ProxyAnswer } from '../api/check-answer.ts'
import { invalidAddress } from '../api/api-error.ts'
import type { CheckField } from '../config/line-formats.ts'
import { signalNames } from '../model/kind.ts'
import { riskLevelOf } from '../model/risk-level.ts'
import type { Verdict } from '../model/verdict.ts'
import { bogonVerdict } from '../score/bogon-verdict.ts'
import { networkWords, verdictWords } from '../schema/table-layout.ts'
import type { Query } from '../table/lookup/query.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { type LookupBatch, prefetchStrings } from '../table/lookup/lookup-batch.ts'
import type { Located } from '../table/lookup/locate.ts'
import { locationStringFinder, readLocation } from '../table/file/location-record.ts'
import { readNetwork } from '../table/file/network-record.ts'
import { readVerdict } from '../table/file/verdict-record.ts'
import { newTextCache, appendCached, prefetchNetworkTexts } from './text-cache.ts'
import type { GrowingBuffer } from './growing-buffer.ts'
import { appendQueryText } from './ipv4-line.ts'
import { appendByte, appendText } from './output-buffer.ts'
import { type TableTexts, openTableTexts, appendString } from './table-text.ts'

type Cell = string | number | boolean

/** Columns by name, each with what it says of a thing. */
type Columns<Thing> = Partial<Record<CheckField, (thing: Thing) => Cell>>

const ofVerdict = {
  classification: ({ classification }) => classification,
  risk_score: ({ score }) => score,
  risk_level: ({ score }) => riskLevelOf(score),
  provider: ({ proxy, bot }) => (proxy?.provider ?? '') || (bot?.provider ?? ''),
  proxy_type: ({ proxy }) => (proxy?.type ?? '') satisfies ProxyAnswer['type'] | '',
  proxy_confidence: ({ proxy }) => proxy?.confidence ?? '',
  bot_category: ({ bot }) => bot?.category ?? '',
  signals: ({ signals }) => signalNames.filter((name) => signals[name]).join(' '),
  reasons: ({ reasons }) => reasons.map(({ code }) => code).join(' '),
} as const satisfies Columns<Verdict>

const ofNetwork = {
  asn: ({ asn }) => asn,
  organization: ({ organization }) => organization,
  network_type: ({ type }) => type,
  mobile: ({ mobile }) => mobile,
} as const satisfies Columns<NetworkAnswer>

export interface RowWriter {
  /** Reads ahead what the rows of these will be made of. */
  readonly prefetch: (group: LookupBatch) => void
  /** `asked` is an address. */
  readonly write: (query: Query, located: Located, out: GrowingBuffer) => void
  /** `text` is none. */
  readonly writeInvalid: (text: string, out: GrowingBuffer) => void
}

/** One cell, or several with commas between them. */
interface CellWriter {
  readonly write: (out: GrowingBuffer, located: Located, query: Query) => void
  readonly prefetch?: RowWriter['prefetch']
}

const comma = 0x2c
const lineEnd = 0x0a

export function csvHeader(fields: readonly CheckField[]): string {
  return fields.join(',')
}

export function openCsvRows(reader: AnswerReader, fields: readonly CheckField[]): RowWriter {
  const cells = cellsOf(reader, fields)
  const puts = cells.map(({ write }) => write)
  const touches = cells.flatMap(({ prefetch }) => prefetch ?? [])
  return {
    prefetch: (group) => {
      for (const touch of touches) touch(group)
    },
    write: (query, located, out) => {
      for (let index = 0; index < puts.length; index++) {
        if (index > 0) appendByte(out, comma)
        puts[index]!(out, located, query)
      }
      appendByte(out, lineEnd)
    },
    writeInvalid: (text, out) => {
      const cells = fields.map((field) =>
        field === 'ip' ? cellText(text) : field === 'error' ? invalidAddress.code : '',
      )
      appendText(out, `${cells.join(',')}\n`)
    },
  }
}

/** Neighbouring cells of a verdict, or of a network, are one. */
function cellsOf(reader: AnswerReader, fields: readonly CheckField[]): readonly CellWriter[] {
  const texts = openTableTexts(reader, cellText)
  const cells: CellWriter[] = []
  for (let at = 0; at < fields.length;) {
    const field = fields[at]!
    const columns = field in ofVerdict ? ofVerdict : field in ofNetwork ? ofNetwork : undefined
    let to = at + 1
    if (columns === undefined) cells.push(cellOf(reader, texts, field))
    else {
      while (to < fields.length && (fields[to] ?? '') in columns) to += 1
      const own = fields.slice(at, to)
      cells.push(columns === ofVerdict ? verdictCells(reader, own) : networkCells(reader, own))
    }
    at = to
  }
  return cells
}

function verdictCells({ views, strings }: AnswerReader, fields: readonly CheckField[]): CellWriter {
  const count = views.verdicts.length / verdictWords
  const cells = newTextCache(count + 1, (id) =>
    joinCells(fields, ofVerdict, id === count ? bogonVerdict : readVerdict(views, id, strings)),
  )
  return { write: (out, { bogon, verdict }) => appendCached(out, cells, bogon ? count : verdict) }
}

function networkCells({ views, strings }: AnswerReader, fields: readonly CheckField[]): CellWriter {
  const none = ','.repeat(fields.length - 1)
  const cells = newTextCache(views.networks.length / networkWords + 1, (id) =>
    id === 0 ? none : joinCells(fields, ofNetwork, readNetwork(views.networks, id, strings)),
  )
  return {
    write: (out, { bogon, network }) => appendCached(out, cells, bogon ? 0 : network),
    prefetch: (group) => prefetchNetworkTexts(group, cells),
  }
}

const placeTexts = ['country_code', 'country', 'state', 'city', 'zip', 'timezone'] as const

/** Cells that are not worth keeping: of the address itself, and of half a million places. */
function cellOf(
  { views, strings }: AnswerReader,
  texts: TableTexts,
  field: CheckField,
): CellWriter {
  if (field === 'ip') {
    return { write: (out, _located, query) => appendQueryText(out, query) }
  }
  if (field === 'version') {
    return { write: (out, { version }) => appendByte(out, version === 4 ? 0x34 : 0x36) }
  }
  const member = placeTexts.find((name) => name === field)
  if (member !== undefined) {
    const idOf = locationStringFinder(views, member)
    return {
      write: (out, { bogon, location }) => {
        if (!bogon && location !== 0) appendString(out, texts, idOf(location))
      },
      prefetch: (group) => prefetchStrings(group, views, idOf),
    }
  }
  if (field === 'latitude' || field === 'longitude') {
    return {
      write: (out, { bogon, location }) => {
        if (bogon || location === 0) return
        appendText(out, String(readLocation(views, location, strings)[field]))
      },
    }
  }
  // An address has no error.
  return { write: () => undefined }
}

function joinCells<Thing>(
  fields: readonly CheckField[],
  columns: Columns<Thing>,
  thing: Thing,
): string {
  const cells = fields.map((field) => cellText(String(columns[field]?.(thing) ?? '')))
  return cells.join(',')
}

/** In quotes where it must be. */
function cellText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
