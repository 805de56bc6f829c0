// Hot path: `writeAnswer`, `extendAnswer`, `writeRun`, `bodyOf`, `writeAddress` and `isSame`.
// Forbidden there for warm fragments: allocation, throw, closure, a string, JSON.stringify, regular
// expression.
//
// From a parsed address to the bytes of its answer: its verdict's fragments, and the table's runs
// of JSON for network and place (src/schema/FORMAT.md). `checkAddress` (check-address.ts) is the
// slow twin: the bytes equal JSON.stringify of it. They are valid until the next answer, of any
// table. One array view exists per length.

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
  /** Matching own lists, if any. */
  readonly lists: readonly string[] | undefined
  located: Located
  readonly reader: AnswerReader
}

/** More than the address twice, its surroundings, and a run's last bytes. */
const fixedBytesMax = 256
/** Ten times the longest real answers; longer ones are left to the twin. */
const outBytes = 16_384

// One for all tables, so that compiled code knows its place: a third less per run.
const out = new Uint8Array(outBytes)
const outView = new DataView(out.buffer)
/** The first bytes of `out`, by length. */
const bodies: (Uint8Array | undefined)[] = Array.from<undefined>({ length: outBytes + 1 })

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
  readonly runTexts: Float64Array
  readonly fragments: ReturnType<typeof openJsonFragments>
  readonly located: Located
  readonly answer: AnswerBytes
  readonly reader: AnswerReader
}

/** `query.family` must not be 0; `found`: the result of `locate`, if known. */
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

/** Appends members: `tail` begins with a comma and ends with the answer's brace. */
export function extendAnswer(body: Uint8Array, tail: JsonRun): Uint8Array {
  const at = body.length - 1
  // A run's last element may exceed its text.
  if (body.buffer !== out.buffer || at + tail.bytes + runElementBytes > outBytes)
    return extendedCopy(body, tail)
  return bodyOf(writeRun(at, tail.data, 0, tail.bytes))
}

/** Not hot: the answer is not in `out`, or too long for it. */
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
  // Cold reads first, to overlap them with the rest.
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
  // Also true for NaN: in a damaged table an id may be out of range.
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
 * Writes the `bytes` of text at element `from` of `data`; returns the end. Overwrites up to seven
 * more bytes. Copying doubles takes a fifth of the time of bytes, and less than `TypedArray.set`;
 * table-layout.ts explains why no bit can change.
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

/** Adds `address` if the text sent is not canonical. IPv4 text has only one form. */
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

// Verdict fragments are created on first use, from the twin's parts, and replaced when another
// verdict takes their slot.

/** Powers of two; full, they take some 10 MB. */
const verdictSlots = 16_384
const countrySlots = 512

type VerdictFragment = Readonly<ReturnType<typeof makeVerdict>>

function makeVerdict(table: string, id: number, part: VerdictPart, coverage?: CoverageAnswer) {
  const { classification, risk_level, risk_score, proxy, bot, signals, reasons } = part
  const open = { classification, risk_level, risk_score, ip: '' } satisfies Partial<CheckAnswer>
  const behind = { proxy, bot, signals, reasons, table, coverage }
  return {
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
  // One shape for all, so that reading a slot is fast.
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
      // With `strings` alone, a cold check took up to a tenth longer.
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

/** `data` is the text, zero-padded. */
export function jsonRun(text: string) {
  const bytes = Buffer.from(text, 'utf8')
  const data = new Float64Array(Math.ceil(bytes.length / runElementBytes))
  new Uint8Array(data.buffer).set(bytes)
  return { data, bytes: bytes.length }
}
