// Pieces of the answer's JSON that many answers share: those of a verdict. A piece is made at its
// first use, by JSON.stringify of what the twin (check-address.ts) has, and cached. The number of
// slots is bounded: a piece whose slot another has taken is made again. Warm, nothing here
// allocates. The pieces of networks and places are in the table itself (`JsonRun`).

import type { CheckAnswer } from '../../api/check-answer.ts'
import type { CoverageAnswer } from '../../api/coverage-answer.ts'
import type { Classification, Level } from '../../model/kind.ts'
import { runElementBytes } from '../../schema/table-layout.ts'
import { readCountry } from '../file/location-record.ts'
import { readVerdict } from '../file/verdict-record.ts'
import { labelsOf } from './answer-labels.ts'
import { type VerdictPart, verdictPart } from './answer-parts.ts'
import type { AnswerReader } from './answer-reader.ts'

/** Slots for verdicts and for codes of countries, powers of two; full, they take some 10 MB. */
const verdictSlots = 16_384
const countrySlots = 512

interface VerdictFragment {
  /** -1 in a free slot. */
  readonly id: number
  readonly classification: Classification
  readonly score: number
  readonly level: Level
  readonly provider: string
  /** From the first brace to the quote before the address. */
  readonly head: JsonRun
  /** From the comma before `proxy` to the last brace. */
  readonly tail: JsonRun
}

export interface JsonFragments {
  readonly verdict: (id: number) => VerdictFragment
  readonly bogon: VerdictFragment
  /** By the country's id, for what is counted of an answer. */
  readonly countryCode: (id: number) => string
}

/** A JSON text without its last `count` characters. */
function jsonWithoutEnd(value: object, count: number): string {
  return JSON.stringify(value).slice(0, -count)
}

function makeVerdict(
  table: string,
  id: number,
  part: VerdictPart,
  coverage?: CoverageAnswer,
): VerdictFragment {
  const { classification, risk_level, risk_score, proxy, bot, signals, reasons } = part
  const open = { classification, risk_level, risk_score, ip: '' } satisfies Partial<CheckAnswer>
  const said = coverage === undefined ? {} : { coverage }
  const behind = { proxy, bot, signals, reasons, table, ...said } satisfies Partial<CheckAnswer>
  return {
    id,
    classification,
    score: risk_score,
    level: risk_level,
    provider: labelsOf({ ...part, location: null }).provider,
    head: jsonRun(jsonWithoutEnd(open, 2)),
    tail: jsonRun(`,${JSON.stringify(behind).slice(1)}`),
  }
}

export function openJsonFragments(reader: AnswerReader): JsonFragments {
  const { id: table, views, strings, coverage } = reader
  const none = jsonRun('')
  const unsaid = { classification: 'clean', score: 0, level: 'low', provider: '' } as const
  const free = { id: -1, ...unsaid, head: none, tail: none }
  const verdicts: VerdictFragment[] = []
  while (verdicts.length < verdictSlots) verdicts.push(free)
  const codes = Array.from({ length: countrySlots }, () => ({ id: 0, code: '' }))
  return {
    bogon: makeVerdict(table, -1, reader.parts.bogon),
    verdict: (id) => {
      const slot = id & (verdictSlots - 1)
      const cached = verdicts[slot]!
      if (cached.id === id) return cached
      const part = verdictPart(readVerdict(views, id, strings))
      const made = makeVerdict(table, id, part, coverage)
      verdicts[slot] = made
      return made
    },
    countryCode: (id) => {
      const slot = id & (countrySlots - 1)
      const cached = codes[slot]!
      if (cached.id === id) return cached.code
      const code = readCountry(views.countries, id, strings).country_code
      codes[slot] = { id, code }
      return code
    },
  }
}

// Runs of JSON that answers copy as they are, eight bytes at a time: the table's own, of a network,
// region or location (made by build/write/run-section.ts), and those that are made while
// serving. src/schema/FORMAT.md draws them. Copying is answer-writer.ts's.

/** A run that is not the table's. */
export interface JsonRun {
  /** The text, filled up with zeros. */
  readonly data: Float64Array
  readonly bytes: number
}

export function jsonRun(text: string): JsonRun {
  const bytes = Buffer.from(text, 'utf8')
  const data = new Float64Array(Math.ceil(bytes.length / runElementBytes))
  new Uint8Array(data.buffer).set(bytes)
  return { data, bytes: bytes.length }
}
