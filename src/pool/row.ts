// An answer as a row of CSV (RFC 4180, `\n` ends it), for spreadsheets and databases: the columns
// that are asked for, in their order. What a column says is what the answer says (src/table/check.ts);
// where that is null or nothing, the cell is empty.
//
// Neighbouring cells of a verdict or a network are made together at its first use and kept by its
// number: a table has some ten thousand of these. Places are ten times as many; their texts are copied
// from the table.

import type { NetworkAnswer, ProxyAnswer } from '../api/answer.ts'
import { invalidAddress } from '../api/error.ts'
import type { CheckField } from '../config/lines.ts'
import { signalNames } from '../model/kind.ts'
import { levelOf } from '../model/level.ts'
import type { Verdict } from '../model/verdict.ts'
import { bogonVerdict } from '../score/bogon.ts'
import { networkWords, verdictWords } from '../schema/layout.ts'
import type { Asked } from '../table/asked.ts'
import type { Reader } from '../table/check.ts'
import { type Located, locate, newLocated } from '../table/locate.ts'
import { locationString, readLocation } from '../table/location.ts'
import { readNetwork } from '../table/network.ts'
import { readVerdict } from '../table/verdict.ts'
import { type Room, putByte, putPart, putSpan } from './room.ts'

type Cell = string | number | boolean

/** Columns by name, each with what it says of a thing. */
type Columns<Thing> = Partial<Record<CheckField, (thing: Thing) => Cell>>

const ofVerdict = {
  classification: ({ classification }) => classification,
  risk_score: ({ score }) => score,
  risk_level: ({ score }) => levelOf(score),
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

export interface Rows {
  /** `asked` is an address. */
  readonly put: (asked: Asked, out: Room) => void
  /** `text` is none. */
  readonly putBad: (text: string, out: Room) => void
}

/** One cell, or several with commas between them. */
type Put = (out: Room, located: Located, asked: Asked) => void

const comma = 0x2c
const lineEnd = 0x0a
const quote = 0x22

export function headerOf(fields: readonly CheckField[]): string {
  return fields.join(',')
}

export function openRows(reader: Reader, fields: readonly CheckField[]): Rows {
  const puts = putsOf(reader, fields)
  const located = newLocated()
  return {
    put: (asked, out) => {
      locate(reader.views, asked.family === 4 ? 4 : 6, asked.words, located)
      for (let index = 0; index < puts.length; index++) {
        if (index > 0) putByte(out, comma)
        puts[index]!(out, located, asked)
      }
      putByte(out, lineEnd)
    },
    putBad: (text, out) => {
      const cells = fields.map((field) =>
        field === 'ip' ? cellText(text) : field === 'error' ? invalidAddress.code : '',
      )
      putPart(out, Buffer.from(`${cells.join(',')}\n`))
    },
  }
}

/** Neighbouring cells of a verdict, or of a network, are one. */
function putsOf(reader: Reader, fields: readonly CheckField[]): readonly Put[] {
  const puts: Put[] = []
  for (let at = 0; at < fields.length;) {
    const field = fields[at]!
    const columns = field in ofVerdict ? ofVerdict : field in ofNetwork ? ofNetwork : undefined
    let to = at + 1
    if (columns === undefined) puts.push(putOf(reader, field))
    else {
      while (to < fields.length && (fields[to] ?? '') in columns) to += 1
      const own = fields.slice(at, to)
      puts.push(columns === ofVerdict ? putVerdict(reader, own) : putNetwork(reader, own))
    }
    at = to
  }
  return puts
}

/** By number. */
export function newKept<Part>(count: number): (Part | undefined)[] {
  return Array.from({ length: count }, () => undefined)
}

function putVerdict({ views, strings }: Reader, fields: readonly CheckField[]): Put {
  const bogon = joinCells(fields, ofVerdict, bogonVerdict)
  const kept = newKept<Uint8Array>(views.verdicts.length / verdictWords)
  return (out, located) => {
    let cells = located.bogon ? bogon : kept[located.verdict]
    if (cells === undefined) {
      cells = joinCells(fields, ofVerdict, readVerdict(views, located.verdict, strings))
      kept[located.verdict] = cells
    }
    putCells(out, cells)
  }
}

function putNetwork({ views, strings }: Reader, fields: readonly CheckField[]): Put {
  const none = Buffer.from(','.repeat(fields.length - 1))
  const kept = newKept<Uint8Array>(views.networks.length / networkWords + 1)
  return (out, { bogon, network }) => {
    let cells = bogon || network === 0 ? none : kept[network]
    if (cells === undefined) {
      cells = joinCells(fields, ofNetwork, readNetwork(views.networks, network, strings))
      kept[network] = cells
    }
    putCells(out, cells)
  }
}

const placeTexts = ['country_code', 'country', 'state', 'city', 'zip', 'timezone'] as const

/** Cells that are not worth keeping: of the address itself, and of half a million places. */
function putOf({ views, strings }: Reader, field: CheckField): Put {
  if (field === 'ip') return (out, _located, { bytes, from, to }) => putSpan(out, bytes, from, to)
  if (field === 'version') {
    return (out, { version }) => putByte(out, version === 4 ? 0x34 : 0x36)
  }
  const member = placeTexts.find((name) => name === field)
  if (member !== undefined) {
    return (out, { bogon, location }) => {
      if (bogon || location === 0) return
      const id = locationString(views, location, member)
      putCell(out, views.string_bytes, views.string_offsets[id]!, views.string_offsets[id + 1]!)
    }
  }
  if (field === 'latitude' || field === 'longitude') {
    return (out, { bogon, location }) => {
      if (bogon || location === 0) return
      putPart(out, Buffer.from(String(readLocation(views, location, strings)[field])))
    }
  }
  // An address has no error.
  return () => undefined
}

function putCells(out: Room, cells: Uint8Array): void {
  putSpan(out, cells, 0, cells.length)
}

/** A text of the table. */
function putCell(out: Room, source: Uint8Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const byte = source[i]!
    if (byte === comma || byte === quote || byte === lineEnd || byte === 0x0d) {
      putPart(out, Buffer.from(cellText(Buffer.from(source.subarray(from, to)).toString())))
      return
    }
  }
  putSpan(out, source, from, to)
}

function joinCells<Thing>(
  fields: readonly CheckField[],
  columns: Columns<Thing>,
  thing: Thing,
): Uint8Array {
  const cells = fields.map((field) => cellText(String(columns[field]?.(thing) ?? '')))
  return Buffer.from(cells.join(','))
}

/** In quotes where it must be. */
function cellText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
