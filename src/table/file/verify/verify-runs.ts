// Verifies the runs of a table (src/table/answer/json-run.ts): each says exactly what the rows of
// its network or location say, in the JSON that an answer would make of them. So an answer that
// copies runs is the JSON that its slow twin (src/table/answer/check-address.ts) gives. For ids,
// texts and values that have been verified. Compared byte by byte and not made anew, for the world
// has 650,000 runs: making them would take as long as all other checks together.

import { networkTypes } from '../../../model/kind.ts'
import {
  degreeScale,
  locationWords,
  networkWords,
  runCountryBits,
  runElementBytes,
} from '../../../schema/table-layout.ts'
import type { SectionViews } from '../../../schema/table-sections.ts'
import { locationJson, networkJson } from '../row-json.ts'
import { readNetwork } from '../network-record.ts'

type Fail = (
  section: 'network_runs' | 'location_runs' | 'runs',
  element: number,
  why: string,
) => never

/** Where the accuracy begins in a location's facts. */
const accuracyUnit = 2 ** runCountryBits

/** Throws what `fail` throws, for the first run that does not say what its row says. */
export function verifyRuns(views: SectionViews, fail: Fail): void {
  const { network_runs: networkRuns, location_runs: locationRuns, runs, locations } = views
  const words = new Uint32Array(runs.buffer, runs.byteOffset, runs.length * 2)
  const bytes = new Uint8Array(runs.buffer, runs.byteOffset, runs.byteLength)
  const strings = openPlainStrings(views)
  const check = (run: number, found: number, facts: number, id: number, row: string): void => {
    if (found !== (run + 1) * runElementBytes + words[run * 2]!) {
      fail('runs', run, `it does not say what ${row} ${id} does`)
    }
    if (words[run * 2 + 1] !== facts) fail('runs', run, `its facts are not those of ${row} ${id}`)
    // Copied by eight bytes: what fills it up must be no NaN, whose bits a copy may change.
    for (let at = found; at % runElementBytes !== 0; at++) {
      if (bytes[at] !== 0) fail('runs', run, 'it is not filled up with zeros')
    }
  }
  for (let id = 1; id <= networkRuns.length; id++) {
    const run = networkRuns[id - 1]!
    if (run >= runs.length) fail('network_runs', id - 1, 'its run does not lie in its section')
    const found = matchNetwork(bytes, (run + 1) * runElementBytes, views, id, strings)
    check(run, found, 0, id, 'network')
  }
  for (let id = 1; id <= locationRuns.length; id++) {
    const run = locationRuns[id - 1]!
    if (run >= runs.length) fail('location_runs', id - 1, 'its run does not lie in its section')
    const row = (id - 1) * locationWords
    const facts = locations[row]! + locations[row + 7]! * accuracyUnit
    const found = matchLocation(bytes, (run + 1) * runElementBytes, locations, row, strings)
    check(run, found, facts, id, 'location')
  }
}

// The functions below give the place behind what they have found at `at`; -1 where something else
// is there, or where `at` is -1 itself.

const bare = { access: false, shared: false, corporate: false, cdn: false, anycast: false }

/** What stands around the values of a network: by type, and whether it is mobile. */
const aroundNetwork = networkTypes.map((type) =>
  [false, true].map((mobile) =>
    piecesAround(networkJson({ ...bare, asn: 7, organization: '#', type, mobile }), '7#'),
  ),
)

function matchNetwork(
  bytes: Uint8Array,
  from: number,
  { networks }: SectionViews,
  id: number,
  strings: PlainStrings,
): number {
  const { type, mobile } = readNetwork(networks, id, noTexts)
  const around = aroundNetwork[networkTypes.indexOf(type)]![Number(mobile)]!
  const row = (id - 1) * networkWords
  let at = matchBytes(bytes, from, around[0]!)
  at = matchInteger(bytes, at, networks[row]!)
  at = matchBytes(bytes, at, around[1]!)
  at = strings.match(bytes, at, networks[row + 1]!)
  return matchBytes(bytes, at, around[2]!)
}

const noTexts = { text: () => '' }

/** What stands between the values of a location, which begins and ends with a value. */
const aroundLocation = piecesAround(
  locationJson({ state: '#', city: '#', zip: '#', latitude: 7, longitude: 7, timezone: '#' }),
  '###77#',
)

function matchLocation(
  bytes: Uint8Array,
  from: number,
  locations: Int32Array,
  row: number,
  strings: PlainStrings,
): number {
  let at = strings.match(bytes, from, locations[row + 1]!)
  at = matchBytes(bytes, at, aroundLocation[1]!)
  at = strings.match(bytes, at, locations[row + 2]!)
  at = matchBytes(bytes, at, aroundLocation[2]!)
  at = strings.match(bytes, at, locations[row + 3]!)
  at = matchBytes(bytes, at, aroundLocation[3]!)
  at = matchDegrees(bytes, at, locations[row + 4]!)
  at = matchBytes(bytes, at, aroundLocation[4]!)
  at = matchDegrees(bytes, at, locations[row + 5]!)
  at = matchBytes(bytes, at, aroundLocation[5]!)
  return strings.match(bytes, at, locations[row + 6]!)
}

/** The pieces of a JSON text around the marks, which stand for values in their order. */
function piecesAround(json: string, marks: string): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  let from = 0
  for (const mark of marks) {
    const at = json.indexOf(mark, from)
    pieces.push(Buffer.from(json.slice(from, at)))
    from = at + 1
  }
  return [...pieces, Buffer.from(json.slice(from))]
}

function matchBytes(bytes: Uint8Array, from: number, expected: Uint8Array): number {
  if (from < 0) return -1
  let at = from
  for (let i = 0; i < expected.length; i++, at++) {
    if (bytes[at] !== expected[i]) return -1
  }
  return at
}

const zero = 0x30
/** Those of 2^32 - 1. */
const digitsMax = 10

/** A whole number of at most 32 bits, without zeros before it. */
function matchInteger(bytes: Uint8Array, from: number, value: number): number {
  if (from < 0) return -1
  const end = from + digitsMax
  let found = 0
  let at = from
  for (; at < end; at++) {
    const digit = bytes[at]! - zero
    if (!(digit >= 0 && digit <= 9)) break
    found = found * 10 + digit
  }
  const isPlain = at === from + 1 || bytes[from] !== zero
  return at > from && isPlain && found === value ? at : -1
}

/** Ten-thousandths of a degree, as JSON has the degrees: `-0.1`, `52.52`, `13`. */
function matchDegrees(bytes: Uint8Array, from: number, value: number): number {
  if (from < 0) return -1
  const size = Math.abs(value)
  const whole = Math.floor(size / degreeScale)
  let at = from
  if (value < 0 && bytes[at++] !== 0x2d) return -1
  at = matchInteger(bytes, at, whole)
  let rest = size - whole * degreeScale
  if (at < 0 || rest === 0) return at
  if (bytes[at++] !== 0x2e) return -1
  // Its digits one by one, the last one not a zero.
  for (; rest > 0; at++) {
    rest *= 10
    const digit = bytes[at]! - zero
    if (!(digit >= 0 && digit <= 9)) return -1
    rest -= digit * degreeScale
    if (rest < 0 || rest >= degreeScale) return -1
  }
  return at
}

interface PlainStrings {
  /** Finds the string `id` as it stands between the quotes of a JSON text. */
  readonly match: (bytes: Uint8Array, from: number, id: number) => number
}

/** JSON writes most strings as they are. Which ones is found once, as many rows name them. */
function openPlainStrings({
  string_offsets: offsets,
  string_bytes: texts,
}: SectionViews): PlainStrings {
  const escaped = new Map<number, Uint8Array>()
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for (let id = 0; id + 1 < offsets.length; id++) {
    const from = offsets[id]!
    const to = offsets[id + 1]!
    if (isPlain(texts, from, to)) continue
    const json = JSON.stringify(decoder.decode(texts.subarray(from, to)))
    escaped.set(id, Buffer.from(json.slice(1, -1)))
  }
  const match = (bytes: Uint8Array, from: number, id: number): number => {
    if (from < 0 || id === 0) return from
    const escapedText = escaped.size > 0 ? escaped.get(id) : undefined
    if (escapedText !== undefined) return matchBytes(bytes, from, escapedText)
    const to = offsets[id + 1]!
    let at = from
    for (let i = offsets[id]!; i < to; i++, at++) {
      if (bytes[at] !== texts[i]) return -1
    }
    return at
  }
  return { match }
}

/** No quote, backslash or control character, which JSON escapes. */
function isPlain(texts: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = texts[at]!
    if (byte < 0x20 || byte === 0x22 || byte === 0x5c) return false
  }
  return true
}
