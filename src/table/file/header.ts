// A table's id, day and sources from its header, bounded before decoding: a forged header may name
// one text ten thousand times, or one through the whole file.

import { statSync } from 'node:fs'
import { Encoding } from 'flatbuffers'
import type { Day } from '../../base/day.ts'
import { coverageStates, coveredKinds, type TableCoverage } from '../../model/coverage.ts'
import { assurances, type HalfLives } from '../../model/evidence.ts'
import type { KindEntry } from '../../schema/generated/iprisk/kind-entry.ts'
import type { SourceEntry } from '../../schema/generated/iprisk/source-entry.ts'
import type { TableHeader } from '../../schema/generated/iprisk/table-header.ts'
import { dayMax, sourceAsnsMax, sourcesMax } from '../../schema/table-layout.ts'
import type { Source } from './table-source.ts'
import { tableCorrupt } from './table-corrupt.ts'

const idForm = /^\d{8}-[0-9a-f]{12}$/

export function readHeaderFacts(header: TableHeader, headerBytes: number, path: string) {
  const fail = (why: string): never => {
    throw tableCorrupt(path, 'header', 0, why)
  }
  // The writer stores each text separately, so together they fit the header.
  let textBytesLeft = headerBytes
  const textOf: ReadText = (read) => {
    const bytes = read(Encoding.UTF8_BYTES)
    if (!(bytes instanceof Uint8Array)) return ''
    textBytesLeft -= bytes.length
    return textBytesLeft < 0 ? fail('its texts do not fit into it') : utf8.decode(bytes)
  }
  const dayOf = (day: number, of: string): Day =>
    day >= 0 && day <= dayMax ? (day as Day) : fail(`its ${of} has the day ${day}`)
  const id = textOf((encoding) => header.id(encoding))
  if (!idForm.test(id)) fail('its id is not of the form 20260822-0123456789ab')
  const asOf = dayOf(header.asOf(), 'table')
  const count = header.sourcesLength()
  if (count > sourcesMax) fail(`it has ${count} sources, over ${sourcesMax}`)
  const sources = Array.from({ length: count }, (_, index): Source => {
    const entry = header.sources(index)
    if (entry === null) return fail(`source ${index} is missing`)
    const asns = entry.asnsLength()
    if (asns > sourceAsnsMax) fail(`source ${index} has ${asns} ASes, over ${sourceAsnsMax}`)
    return {
      id: textOf((encoding) => entry.id(encoding)),
      kind: textOf((encoding) => entry.kind(encoding)),
      provider: textOf((encoding) => entry.provider(encoding)),
      licence: textOf((encoding) => entry.licence(encoding)),
      homepage: textOf((encoding) => entry.homepage(encoding)),
      day: dayOf(entry.day(), `source ${index}`),
      entries: entry.entries(),
      ...(entry.quarantined() ? { quarantined: true } : {}),
      ...voiceOf(entry, textOf),
    }
  })
  return { id, asOf, sources, coverage: readCoverage(header, textOf, dayOf) }
}

/** Kinds that the header lacks are missing. */
function readCoverage(
  header: TableHeader,
  textOf: ReadText,
  dayOf: (day: number, of: string) => Day,
): TableCoverage {
  const found = new Map<string, KindEntry>()
  const count = Math.min(header.kindsLength(), coveredKinds.length)
  for (let index = 0; index < count; index++) {
    const entry = header.kinds(index)
    const kind = textOf((encoding) => entry?.kind(encoding) ?? null)
    if (entry !== null) found.set(kind, entry)
  }
  return coveredKinds.map((kind) => {
    const entry = found.get(kind)
    const named = entry === undefined ? '' : textOf((encoding) => entry.coverage(encoding))
    const state = coverageStates.find((name) => name === named) ?? 'missing'
    const newest = entry?.newest() ?? -1
    const addresses = entry?.addresses() ?? 0
    return { kind, state, newest: newest < 0 ? undefined : dayOf(newest, kind), addresses }
  })
}

const utf8 = new TextDecoder()

/** Reads an accessor's text as bytes; '' if absent. */
type ReadText = (read: (encoding: Encoding) => string | Uint8Array | null) => string

/** Absent for data that is not evidence. */
function voiceOf(entry: SourceEntry, textOf: ReadText): Pick<Source, 'voice'> {
  const named = textOf((encoding) => entry.assurance(encoding))
  const assurance = assurances.find((name) => name === named)
  if (assurance === undefined) return {}
  return {
    voice: {
      group: textOf((encoding) => entry.group(encoding)),
      weight: entry.weight(),
      weightLow: entry.weightLow(),
      weightHigh: entry.weightHigh(),
      assurance,
      rolling: entry.rolling(),
      asns: [...(entry.asnsArray() ?? [])],
      ...halfLivesOf(entry),
      ...(entry.consumer() ? { consumer: true } : {}),
    },
  }
}

/** 0 means absent. */
function halfLivesOf(entry: SourceEntry): { readonly halfLives?: HalfLives } {
  const days = {
    lines: entry.halfLifeLines(),
    shared: entry.halfLifeShared(),
    elsewhere: entry.halfLifeElsewhere(),
  }
  const measured = Object.entries(days).filter(([, half]) => half > 0)
  return measured.length === 0 ? {} : { halfLives: Object.fromEntries(measured) }
}

/**
 * When a table was built: its file's time in whole milliseconds, because the table has no clock
 * (equal inputs give equal bytes). Throws ENOENT.
 */
export const builtMsOf = (path: string): number => Math.floor(statSync(path).mtimeMs)
