// Groups the records of a table that an export writes alike: those whose parts have equal texts by
// the projection share a value, numbered from 0 by first use.
//
// A text is built once for each id of a part, so a million records cost a few hundred thousand.
// Locations, nearly as distinct as their ids, use the ids: half a million texts would take 200 MB.

import type { Family } from '../ip/address.ts'
import { type Facts, factsOf } from '../policy/condition/condition-members.ts'
import { networkWords, recordWords, verdictWords } from '../schema/table-layout.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import type { AnswerPart, PartName, RecordParts } from '../bulk/rows/answer-fields.ts'
import { type Answering, answering } from './piece-walk.ts'

/** `''`: no content; `whole`: each id is distinct. */
type PartText<Part> = ((part: Part) => string) | 'whole'

export interface Projection {
  /** Absent parts are ignored. */
  readonly texts: { readonly [Part in PartName]?: PartText<AnswerPart[Part]> }
  /** Whether records without content are exported. */
  readonly keepEmpty: boolean
  readonly where?: {
    readonly holds: (facts: Facts) => boolean
    readonly reads: ReadonlySet<string>
  }
}

export type ExportValues = ReturnType<typeof newExportValues>

const out = -1
const unknown = -2

/** 0: none, or a bogon's verdict; others count from 1. */
interface Ids {
  verdict: number
  network: number
  location: number
}

export function newExportValues(reader: AnswerReader, projection: Projection) {
  const { records } = reader.views
  const counts = idCounts(reader)
  const keys = partKeys(reader, projection.texts, counts)
  const where = newWhere(reader, projection.where)
  const recordCount = records.length / recordWords
  const known: Readonly<Record<Family, Int32Array>> = {
    4: new Int32Array(recordCount + 1).fill(unknown),
    6: new Int32Array(recordCount + 1).fill(unknown),
  }
  const pairs = new Map<number, number>()
  const values = new Map<number, number>()
  const idsOf: Ids[] = []

  const find = (ids: Ids, family: Family): number => {
    if (!where(ids, family)) return out
    const verdict = keys.verdict(ids.verdict)
    const network = keys.network(ids.network)
    const location = keys.location(ids.location)
    const isEmpty = verdict === 0 && network === 0 && location === 0
    if (isEmpty && !projection.keepEmpty) return out
    // In two steps, since the product of three counts would not be exact.
    const pair = numberOf(pairs, verdict * counts.network + network)
    const value = numberOf(values, pair * counts.location + location)
    if (value === idsOf.length) idsOf.push({ ...ids })
    return value
  }
  const ids: Ids = { verdict: 0, network: 0, location: 0 }
  return {
    /** -1: not exported. */
    valueOf: (is: Answering, family: Family): number => {
      if (is === answering.leftOut) return out
      const place = is === answering.bogon ? recordCount : is
      let value = known[family][place]!
      if (value === unknown) {
        const at = is * recordWords
        const isBogon = is === answering.bogon
        ids.network = isBogon ? 0 : records[at]!
        ids.location = isBogon ? 0 : records[at + 1]!
        ids.verdict = isBogon ? 0 : records[at + 2]! + 1
        value = find(ids, family)
        known[family][place] = value
      }
      return value
    },
    parts: (value: number) => partsOf(reader, idsOf[value]!),
    partKey: (value: number, part: PartName) => keys[part](idsOf[value]![part]),
    count: () => idsOf.length,
  }
}

/** Numbers keys by first use. */
function numberOf(numbers: Map<number, number>, key: number): number {
  let number = numbers.get(key)
  if (number === undefined) {
    number = numbers.size
    numbers.set(key, number)
  }
  return number
}

const partsOf = ({ parts }: AnswerReader, { verdict, network, location }: Ids): RecordParts => ({
  verdict: verdict === 0 ? parts.bogon : parts.verdict(verdict - 1),
  network: network === 0 ? undefined : parts.network(network),
  location: location === 0 ? undefined : parts.location(location),
})

type KeyOf = (id: number) => number

/** Number of each part's ids, including the one for none. */
const idCounts = ({ views }: AnswerReader): Readonly<Record<PartName, number>> => ({
  verdict: views.verdicts.length / verdictWords + 1,
  network: views.networks.length / networkWords + 1,
  location: views.location_runs.length + 1,
})

function partKeys(
  { parts }: AnswerReader,
  texts: Projection['texts'],
  counts: Readonly<Record<PartName, number>>,
): Record<PartName, KeyOf> {
  const verdictOf = (id: number): AnswerPart['verdict'] =>
    id === 0 ? parts.bogon : parts.verdict(id - 1)
  return {
    verdict: keysOf(texts.verdict, verdictOf, { count: counts.verdict, none: -1 }),
    network: keysOf(texts.network, parts.network, { count: counts.network, none: 0 }),
    location: keysOf(texts.location, parts.location, { count: counts.location, none: 0 }),
  }
}

function keysOf<Part>(
  text: PartText<Part> | undefined,
  partOf: (id: number) => Part,
  { count, none }: { readonly count: number; readonly none: number },
): KeyOf {
  if (text === undefined) return () => 0
  if (text === 'whole') return (id) => id
  const keys = new Int32Array(count).fill(unknown)
  const numbers = new Map<string, number>([['', 0]])
  return (id) => {
    if (id === none) return 0
    let key = keys[id]!
    if (key === unknown) {
      const said = text(partOf(id))
      key = numbers.get(said) ?? numbers.size
      numbers.set(said, key)
      keys[id] = key
    }
    return key
  }
}

/** Cached by the parts that the condition reads. */
function newWhere(
  reader: AnswerReader,
  where: Projection['where'],
): (ids: Ids, family: Family) => boolean {
  if (where === undefined) return () => true
  const holds = (ids: Ids, family: Family): boolean => {
    const { verdict, network, location } = partsOf(reader, ids)
    const seen = { network: network ?? null, location: location ?? null, version: family }
    return where.holds(factsOf({ ...verdict!, ...seen }, []))
  }
  const { reads } = where
  const partsRead: ReadonlySet<string> = new Set(['network', 'location', 'version'])
  const readsVerdict = [...reads].some((member) => !partsRead.has(member))
  if (reads.has('network') && reads.has('location')) return holds
  const other = reads.has('network') ? 'network' : 'location'
  const readsOther = reads.has(other)
  const verdicts = reader.views.verdicts.length / verdictWords + 1
  const known = new Map<number, boolean>()
  return (ids, family) => {
    const pair = (readsOther ? ids[other] : 0) * verdicts + (readsVerdict ? ids.verdict : 0)
    const key = pair * 2 + (family === 4 ? 0 : 1)
    let held = known.get(key)
    if (held === undefined) {
      held = holds(ids, family)
      known.set(key, held)
    }
    return held
  }
}
