// Pieces of the answer's JSON that many answers share: of a verdict, or of a country. A piece is
// made at its first use, by JSON.stringify of what the twin (check-address.ts) has, and cached. The
// number of slots is bounded: a piece whose slot another has taken is made again. Warm, nothing
// here allocates. The pieces of networks and locations are in the table itself (json-run.ts).

import type { CheckAnswer } from '../../api/check-answer.ts'
import type { CoverageAnswer } from '../../api/coverage-answer.ts'
import { type Classification, type Level, accuracies } from '../../model/kind.ts'
import { readCountry } from '../file/location-record.ts'
import { type VerdictPart, verdictPart } from './answer-parts.ts'
import type { AnswerReader } from './answer-reader.ts'
import { type JsonRun, jsonRun } from './json-run.ts'
import { labelsOf } from './answer-labels.ts'
import { readVerdict } from '../file/verdict-record.ts'

/** Slots for verdicts and for countries, powers of two; full, they take some 10 MB. */
const verdictSlots = 16_384
const countrySlots = 512

export interface VerdictFragment {
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

export interface CountryFragment {
  readonly id: number
  readonly code: string
  /** From the brace of `location` to the quote before the state. */
  readonly head: JsonRun
  /** By accuracy: from the quote behind the time zone to the brace. */
  readonly tails: readonly JsonRun[]
  /** Of the head and the longest tail. */
  readonly bytesMax: number
}

export interface JsonFragments {
  readonly verdict: (id: number) => VerdictFragment
  readonly bogon: VerdictFragment
  /** 0 is none. */
  readonly country: (id: number) => CountryFragment
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

function makeCountry(reader: AnswerReader, id: number): CountryFragment {
  const { currency_code, ...before } = readCountry(reader.views.countries, id, reader.strings)
  const head = jsonRun(jsonWithoutEnd({ ...before, state: '' }, 2))
  const tails = accuracies.map((accuracy) =>
    jsonRun(`",${JSON.stringify({ currency_code, accuracy }).slice(1)}`),
  )
  const bytesMax = head.bytes + Math.max(...tails.map(({ bytes }) => bytes))
  return { id, code: before.country_code, head, tails, bytesMax }
}

export function openJsonFragments(reader: AnswerReader): JsonFragments {
  const { id: table, views, strings, coverage } = reader
  const none = jsonRun('')
  const unsaid = { classification: 'clean', score: 0, level: 'low', provider: '' } as const
  const free = { id: -1, ...unsaid, head: none, tail: none }
  const verdicts: VerdictFragment[] = []
  while (verdicts.length < verdictSlots) verdicts.push(free)
  const noCountry: CountryFragment = { id: 0, code: '', head: none, tails: [], bytesMax: 0 }
  const countries: CountryFragment[] = Array.from({ length: countrySlots }, () => noCountry)
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
    country: (id) => {
      const slot = id & (countrySlots - 1)
      const cached = countries[slot]!
      if (cached.id === id) return cached
      const made = makeCountry(reader, id)
      countries[slot] = made
      return made
    },
  }
}
