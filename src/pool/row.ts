// An answer as a row of CSV (RFC 4180, `\n` ends it), for spreadsheets and databases: the columns
// that are asked for, in their order. What a column says is what the answer says (src/table/check.ts);
// where that is null or nothing, the cell is empty.
//
// Cells that stand side by side and come from one thing of the table (a verdict, a network, a place)
// are made together at its first use and kept by its number; a row is then three or four copies. How
// many are kept is bounded, and what has lost its place is made again.

import type { NetworkAnswer, ProxyAnswer } from '../api/answer.ts'
import type { CheckField } from '../config/lines.ts'
import { signalNames } from '../model/kind.ts'
import { levelOf } from '../model/level.ts'
import type { Location } from '../model/location.ts'
import type { Verdict } from '../model/verdict.ts'
import { bogonVerdict } from '../score/bogon.ts'
import type { Asked } from '../table/asked.ts'
import type { Reader } from '../table/check.ts'
import { type Located, locate, newLocated } from '../table/locate.ts'
import { readLocation } from '../table/location.ts'
import { readNetwork } from '../table/network.ts'
import { readVerdict } from '../table/verdict.ts'
import { type Room, putPart } from './room.ts'

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

const ofLocation = {
  country_code: ({ country_code: code }) => code,
  country: ({ country }) => country,
  state: ({ state }) => state,
  city: ({ city }) => city,
  zip: ({ zip }) => zip,
  latitude: ({ latitude }) => latitude,
  longitude: ({ longitude }) => longitude,
  timezone: ({ timezone }) => timezone,
} as const satisfies Columns<Location>

type Group = 'verdict' | 'network' | 'location'

/** Neighbouring columns of one group. */
interface Run {
  readonly group: Group | 'ip' | 'version' | 'error'
  readonly fields: readonly CheckField[]
  /** By number modulo their length: whose cells they are, and the cells. */
  readonly ids: Int32Array
  readonly cells: Uint8Array[]
}

export interface Rows {
  /** `asked` is an address. */
  readonly put: (asked: Asked, out: Room) => void
  /** `text` is none. */
  readonly putBad: (text: string, out: Room) => void
}

/** A power of two. */
const keptCells = 65_536
const comma = Uint8Array.of(0x2c)
const lineEnd = Uint8Array.of(0x0a)
const nothing = new Uint8Array(0)
const four = Uint8Array.of(0x34)
const six = Uint8Array.of(0x36)
const bad = Buffer.from('invalid_input')

export function headerOf(fields: readonly CheckField[]): string {
  return fields.join(',')
}

export function openRows(reader: Reader, fields: readonly CheckField[]): Rows {
  const runs = runsOf(fields)
  const located = newLocated()
  return {
    put: (asked, out) => {
      locate(reader.views, asked.family === 4 ? 4 : 6, asked.words, located)
      runs.forEach((run, index) => {
        if (index > 0) putPart(out, comma)
        putPart(out, partOf(reader, run, located, asked))
      })
      putPart(out, lineEnd)
    },
    putBad: (text, out) => {
      runs.forEach(({ group, fields }, index) => {
        if (index > 0) putPart(out, comma)
        if (group === 'ip') putPart(out, Buffer.from(cellText(text)))
        else if (group === 'error') putPart(out, bad)
        else putPart(out, Buffer.from(','.repeat(fields.length - 1)))
      })
      putPart(out, lineEnd)
    },
  }
}

function runsOf(fields: readonly CheckField[]): readonly Run[] {
  const runs: { group: Run['group']; fields: CheckField[] }[] = []
  for (const field of fields) {
    const group = groupOf(field)
    const last = runs.at(-1)
    if (last?.group === group) last.fields.push(field)
    else runs.push({ group, fields: [field] })
  }
  return runs.map(({ group, fields: own }) => {
    const kept = group === 'verdict' || group === 'network' || group === 'location' ? keptCells : 0
    const cells = Array.from({ length: kept }, () => nothing)
    return { group, fields: own, ids: new Int32Array(kept).fill(-1), cells }
  })
}

function groupOf(field: CheckField): Run['group'] {
  if (field in ofVerdict) return 'verdict'
  if (field in ofNetwork) return 'network'
  if (field in ofLocation) return 'location'
  return field === 'ip' || field === 'version' ? field : 'error'
}

function partOf(reader: Reader, run: Run, located: Located, asked: Asked): Uint8Array {
  switch (run.group) {
    case 'ip':
      return asked.bytes.subarray(asked.from, asked.to)
    case 'version':
      return located.version === 4 ? four : six
    case 'error':
      return nothing
    default: {
      const { bogon } = located
      const id = bogon ? (run.group === 'verdict' ? bogonId : 0) : located[run.group]
      const place = id & (keptCells - 1)
      if (run.ids[place] !== id) {
        run.ids[place] = id
        run.cells[place] = Buffer.from(cellsOf(reader, run.group, run.fields, id))
      }
      return run.cells[place]!
    }
  }
}

/** No verdict of a table has so high a number. */
const bogonId = 0x7fff_ffff

function cellsOf(
  { views, strings }: Reader,
  group: Group,
  fields: readonly CheckField[],
  id: number,
): string {
  if (group === 'verdict') {
    const verdict = id === bogonId ? bogonVerdict : readVerdict(views, id, strings)
    return joinCells(fields, ofVerdict, verdict)
  }
  if (id === 0) return ','.repeat(fields.length - 1)
  return group === 'network'
    ? joinCells(fields, ofNetwork, readNetwork(views.networks, id, strings))
    : joinCells(fields, ofLocation, readLocation(views, id, strings))
}

function joinCells<Thing>(
  fields: readonly CheckField[],
  columns: Columns<Thing>,
  thing: Thing,
): string {
  return fields.map((field) => cellText(String(columns[field]?.(thing) ?? ''))).join(',')
}

/** In quotes where it must be. */
function cellText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
