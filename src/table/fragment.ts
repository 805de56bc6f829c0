// Pieces of the answer's JSON that many answers share, as bytes: what a verdict, a country or a kind
// of network says. A piece is made at its first use, by JSON.stringify of what the twin (check.ts)
// says of it, and kept; how many are kept is bounded, and a piece that has lost its place is made
// again. Warm, nothing here allocates.

import type { CheckAnswer } from '../api/answer.ts'
import { type Classification, networkTypes } from '../model/kind.ts'
import { accuracies } from '../model/location.ts'
import type { Verdict } from '../model/verdict.ts'
import { bogonVerdict } from '../score/bogon.ts'
import { type Reader, verdictMembers } from './check.ts'
import { readCountry } from './location.ts'
import { readVerdict } from './verdict.ts'

/** Places for verdicts and for countries, powers of two; a full house is some 10 MB. */
const verdictPlaces = 16_384
const countryPlaces = 512

export interface VerdictFragment {
  /** -1 for a place that is free. */
  readonly id: number
  readonly classification: Classification
  /** From the first brace to the quote before the address. */
  readonly head: Uint8Array
  /** From the comma before `proxy` to the last brace. */
  readonly tail: Uint8Array
}

export interface CountryFragment {
  readonly id: number
  /** From the brace of `location` to the quote before the state. */
  readonly head: Uint8Array
  /** By accuracy: from the quote behind the time zone to the brace. */
  readonly tails: readonly Uint8Array[]
}

export interface Fragments {
  readonly verdict: (id: number) => VerdictFragment
  readonly bogon: VerdictFragment
  readonly country: (id: number) => CountryFragment
}

export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'utf8'))
}

/**
 * By `type * 2 + mobile`: from the quote behind the organization to the colon of `location`; types
 * as the table numbers them, and `unknown` for numbers that it does not know.
 */
export const networkTails: readonly Uint8Array[] = Array.from({ length: 32 }, (_, index) => {
  const type = networkTypes[index >>> 1] ?? 'unknown'
  const members = JSON.stringify({ type, mobile: (index & 1) === 1 })
  return bytesOf(`",${members.slice(1)},"location":`)
})

/** A JSON text without its last `count` characters. */
function openEnd(value: object, count: number): string {
  return JSON.stringify(value).slice(0, -count)
}

function makeVerdict(reader: Reader, id: number, verdict: Verdict): VerdictFragment {
  const { before, behind } = verdictMembers(reader, verdict)
  const open = { ...before, ip: '' } satisfies Partial<CheckAnswer>
  return {
    id,
    classification: verdict.classification,
    head: bytesOf(openEnd(open, 2)),
    tail: bytesOf(`,${JSON.stringify(behind).slice(1)}`),
  }
}

function makeCountry(reader: Reader, id: number): CountryFragment {
  const { currency_code, ...before } = readCountry(reader.views.countries, id, reader.strings)
  return {
    id,
    head: bytesOf(openEnd({ ...before, state: '' }, 2)),
    tails: accuracies.map((accuracy) =>
      bytesOf(`",${JSON.stringify({ currency_code, accuracy }).slice(1)}`),
    ),
  }
}

export function openFragments(reader: Reader): Fragments {
  const none = new Uint8Array(0)
  const free = { id: -1, classification: 'clean', head: none, tail: none } as const
  const verdicts: VerdictFragment[] = []
  while (verdicts.length < verdictPlaces) verdicts.push(free)
  const noCountry: CountryFragment = { id: -1, head: none, tails: [] }
  const countries: CountryFragment[] = Array.from({ length: countryPlaces }, () => noCountry)
  return {
    bogon: makeVerdict(reader, -1, bogonVerdict),
    verdict: (id) => {
      const place = id & (verdictPlaces - 1)
      const held = verdicts[place]!
      if (held.id === id) return held
      const made = makeVerdict(reader, id, readVerdict(reader.views, id, reader.strings))
      verdicts[place] = made
      return made
    },
    country: (id) => {
      const place = id & (countryPlaces - 1)
      const held = countries[place]!
      if (held.id === id) return held
      const made = makeCountry(reader, id)
      countries[place] = made
      return made
    },
  }
}
