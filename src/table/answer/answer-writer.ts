// Hot path: `writeAnswer`, `extendAnswer`, `writeRun`, `bodyOf`, `writeAddress` and `isSame`.
// Forbidden there for warm fragments: allocation, throw, closure, a string, JSON.stringify, regular
// expression.
//
// One parsed address to the bytes of its answer: the fragments of its verdict, and the table's own
// runs of JSON for network and place (src/schema/FORMAT.md), in one array for all answers.
// `checkAddress` (check-address.ts) is the slow twin: the bytes are exactly JSON.stringify of it.
//
// Invariant: an answer's bytes are good until the next answer, of any table. An array view is made
// once for each length of answer.

import type { CheckAnswer } from '../../api/check-answer.ts'
import type { CoverageAnswer } from '../../api/coverage-answer.ts'
import { formatAddressBytes, formatIpv4Bytes } from '../../ip/format-address-bytes.ts'
import type { Classification } from '../../model/kind.ts'
import {
  countryWords,
  regionWords,
  runElementBytes,
  runElementWords,
} from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { readVerdict } from '../file/verdict-record.ts'
import { locate, type Located, newLocated } from '../lookup/locate.ts'
import type { Query } from '../lookup/query.ts'
import type { AnswerLabels, AnswerReader, VerdictPart } from './answer-reader.ts'
import { labelsOf, verdictPart } from './answer-reader.ts'
import { checkAddress } from './check-address.ts'
import { covered } from './own-lists.ts'
import { utf8Bytes, writeBytes, writeSlice } from './write-bytes.ts'

export interface AnswerBytes extends AnswerLabels {
  classification: Classification
  body: Uint8Array
  /** The own lists that match, where any does. */
  readonly lists: readonly string[] | undefined
  located: Located
  readonly reader: AnswerReader
}

/** More than the address twice, all that stands around it, and a run's last bytes. */
const fixedBytesMax = 256
/** Ten times the longest answers of the world; what is longer is left to the twin. */
const outBytes = 16_384

// One for all tables, so that compiled code knows where it is: a third less for each run.
const out = new Uint8Array(outBytes)
const outView = new DataView(out.buffer)
/** By length: the first bytes of `out`. */
const bodies: (Uint8Array | undefined)[] = Array.from<undefined>({
  length: outBytes + 1,
})

const version4 = jsonRun('","version":4')
const version6 = jsonRun('","version":6')
const noNetwork = jsonRun(',"network":null,"location":')
const noPlace = jsonRun('null')
const addressLabel = utf8Bytes(',"address":"')
const quote = 0x22

const noAnswer = {
  classification: 'clean',
  score: 0,
  level: 'low',
  provider: '',
  country: '',
  lists: undefined,
} as const

interface AnswerWriter {
  readonly views: SectionViews
  /** The runs, by elements: their texts are copied so. */
  readonly runTexts: Float64Array
  readonly fragments: ReturnType<typeof openJsonFragments>
  readonly located: Located
  readonly answer: AnswerBytes
  readonly reader: AnswerReader
}

/** `query.family` must not be 0; `found` is the result of `locate`, if the caller has it. */
export function openAnswerWriter(
  reader: AnswerReader,
): (query: Query, found?: Located) => AnswerBytes {
  const { views } = reader
  const { runs } = views
  const located = newLocated()
  const writer: AnswerWriter = {
    views,
    runTexts: new Float64Array(runs.buffer, runs.byteOffset, runs.length / runElementWords),
    fragments: openJsonFragments(reader),
    located,
    answer: { ...noAnswer, body: new Uint8Array(0), located, reader },
    reader,
  }
  return (query, found) => writeAnswer(writer, query, found)
}

/**
 * The answer with more members: `tail` begins with the comma before them and ends with the brace.
 */
export function extendAnswer(body: Uint8Array, tail: JsonRun): Uint8Array {
  const at = body.length - 1
  // The last element of a run may reach beyond its text.
  if (body.buffer !== out.buffer || at + tail.bytes + runElementBytes > outBytes)
    return extendedCopy(body, tail)
  return bodyOf(writeRun(at, tail.data, 0, tail.bytes))
}

/** Not hot: of an answer that is not in `out`, or too long for it. */
function extendedCopy(body: Uint8Array, { data, bytes }: JsonRun): Uint8Array {
  const extended = new Uint8Array(body.length - 1 + bytes)
  extended.set(body.subarray(0, -1))
  extended.set(new Uint8Array(data.buffer, data.byteOffset, bytes), body.length - 1)
  return extended
}

function writeFromObject(
  reader: AnswerReader,
  { bytes, from, to }: Query,
  located: Located,
): AnswerBytes {
  const answer = checkAddress(reader, Buffer.from(bytes.subarray(from, to)).toString('latin1'))
  const labels = answer === undefined ? noAnswer : labelsOf(answer)
  return {
    ...labels,
    classification: answer?.classification ?? 'clean',
    lists: answer?.lists,
    located,
    reader,
    body: new Uint8Array(Buffer.from(JSON.stringify(answer ?? null))),
  }
}

function writeAnswer(writer: AnswerWriter, query: Query, found: Located | undefined): AnswerBytes {
  const { views, runTexts, fragments, answer } = writer
  const { family } = query
  const located = found ?? writer.located
  if (found === undefined) locate(views, family === 4 ? 4 : 6, query.words, located)
  const { lists } = writer.reader
  if (lists !== undefined && covered(lists, views, query.words, located))
    return writeFromObject(writer.reader, query, located)
  const network = located.bogon ? 0 : located.network
  const location = located.bogon ? 0 : located.location
  // The cold reads first: they go on while the rest is written.
  const networkRun = network === 0 ? 0 : views.network_runs[network - 1]!
  const locationRun = location === 0 ? 0 : views.location_runs[location - 1]!
  const { runs, regions } = views
  const networkBytes = network === 0 ? 0 : runs[networkRun * runElementWords]!
  const locationBytes = location === 0 ? 0 : runs[locationRun * runElementWords]!
  const verdict = located.bogon ? fragments.bogon : fragments.verdict(located.verdict)
  const { head, tail } = verdict
  const region = location === 0 ? 0 : (runs[locationRun * runElementWords + 1]! - 1) * regionWords
  const beforeRun = location === 0 ? 0 : regions[region + 4]!
  const behindRun = location === 0 ? 0 : regions[region + 5]!
  const beforeBytes = location === 0 ? 0 : runs[beforeRun * runElementWords]!
  const behindBytes = location === 0 ? 0 : runs[behindRun * runElementWords]!
  const place = beforeBytes + locationBytes + behindBytes
  // Said this way for NaN: in a damaged table an id may lie beyond its section.
  if (!(head.bytes + tail.bytes + networkBytes + place + fixedBytesMax <= outBytes))
    return writeFromObject(writer.reader, query, located)
  let at = writeRun(0, head.data, 0, head.bytes)
  at = writeSlice(out, at, query.bytes, query.from, query.to)
  const version = located.version === 4 ? version4 : version6
  at = writeRun(at, version.data, 0, version.bytes)
  if (family === 6) at = writeAddress(at, query, located)
  at =
    network === 0
      ? writeRun(at, noNetwork.data, 0, noNetwork.bytes)
      : writeRun(at, runTexts, networkRun + 1, networkBytes)
  if (location === 0) at = writeRun(at, noPlace.data, 0, noPlace.bytes)
  else {
    at = writeRun(at, runTexts, beforeRun + 1, beforeBytes)
    at = writeRun(at, runTexts, locationRun + 1, locationBytes)
    at = writeRun(at, runTexts, behindRun + 1, behindBytes)
  }
  at = writeRun(at, tail.data, 0, tail.bytes)
  answer.classification = verdict.classification
  answer.score = verdict.score
  answer.level = verdict.level
  answer.provider = verdict.provider
  answer.country = location === 0 ? '' : fragments.countryCode(regions[region]!)
  answer.body = bodyOf(at)
  answer.located = located
  return answer
}

/**
 * Writes `bytes` of the text that begins at element `from` of `data`; returns the place behind it.
 * Up to seven bytes more are overwritten. A loop over doubles takes a fifth of one over bytes, and
 * less than `TypedArray.set`; table-layout.ts says why no bit can change on the way.
 */
function writeRun(at: number, data: Float64Array, from: number, bytes: number): number {
  const end = at + bytes
  for (let to = at, i = from; to < end; to += runElementBytes, i++) {
    outView.setFloat64(to, data[i]!, true)
  }
  return end
}

function bodyOf(length: number): Uint8Array {
  const known = bodies[length]
  if (known !== undefined) return known
  const body = out.subarray(0, length)
  bodies[length] = body
  return body
}

/** `address` if the text sent is not the canonical one. IPv4 text has one form only. */
function writeAddress(at: number, query: Query, located: Located): number {
  const from = at + addressLabel.length
  const to =
    located.version === 4
      ? formatIpv4Bytes(located.ipv4, out, from)
      : formatAddressBytes(query.words, out, from)
  if (isSame(from, to, query)) return at
  writeBytes(out, at, addressLabel)
  out[to] = quote
  return to + 1
}

function isSame(from: number, to: number, query: Query): boolean {
  if (to - from !== query.to - query.from) return false
  for (let i = from, j = query.from; i < to; i++, j++) {
    if (out[i] !== query.bytes[j]) return false
  }
  return true
}

// The fragments of a verdict are made at their first use, by JSON.stringify of the twin's parts,
// and kept until another verdict takes their slot.

/** Slots for verdicts and for codes of countries, powers of two; full, they take some 10 MB. */
const verdictSlots = 16_384
const countrySlots = 512

type VerdictFragment = Readonly<ReturnType<typeof makeVerdict>>

function makeVerdict(table: string, id: number, part: VerdictPart, coverage?: CoverageAnswer) {
  const { classification, risk_level, risk_score, proxy, bot, signals, reasons } = part
  const open = { classification, risk_level, risk_score, ip: '' } satisfies Partial<CheckAnswer>
  const behind = { proxy, bot, signals, reasons, table, coverage }
  return {
    /** -1 in a free slot. */
    id,
    classification,
    score: risk_score,
    level: risk_level,
    provider: labelsOf({ ...part, location: null }).provider,
    /** From the first brace to the quote before the address. */
    head: jsonRun(JSON.stringify(open).slice(0, -'"}'.length)),
    /** From the comma before `proxy` to the last brace. */
    tail: jsonRun(`,${JSON.stringify(behind).slice(1)}`),
  }
}

function openJsonFragments(reader: AnswerReader) {
  const { id: table, views, strings, coverage } = reader
  const none = jsonRun('')
  // One shape for all: reading a slot is faster.
  const unsaid = { classification: 'clean', score: 0, level: 'low', provider: '' } as const
  const free = { id: -1, ...unsaid, head: none, tail: none }
  const verdicts: VerdictFragment[] = []
  while (verdicts.length < verdictSlots) verdicts.push(free)
  const codes = Array.from({ length: countrySlots }, () => ({ id: 0, code: '' }))
  return {
    bogon: makeVerdict(table, -1, reader.parts.bogon),
    verdict: (id: number): VerdictFragment => {
      const slot = id & (verdictSlots - 1)
      const cached = verdicts[slot]!
      if (cached.id === id) return cached
      const part = verdictPart(readVerdict(views, id, strings))
      const made = makeVerdict(table, id, part, coverage)
      verdicts[slot] = made
      return made
    },
    countryCode: (id: number): string => {
      // Not by `strings` alone: in a cold cache that made a check up to a tenth slower.
      const slot = id & (countrySlots - 1)
      const cached = codes[slot]!
      if (cached.id === id) return cached.code
      const code = strings.text(views.countries[(id - 1) * countryWords] ?? 0)
      codes[slot] = { id, code }
      return code
    },
  }
}

export type JsonRun = Readonly<ReturnType<typeof jsonRun>>

/** `data` is the text, filled up with zeros. */
export function jsonRun(text: string) {
  const bytes = Buffer.from(text, 'utf8')
  const data = new Float64Array(Math.ceil(bytes.length / runElementBytes))
  new Uint8Array(data.buffer).set(bytes)
  return { data, bytes: bytes.length }
}
