// Verifies that runs of JSON are what the slow twin (check-address.ts) gives: those of networks and
// regions are the JSON of their rows, that of a location is JSON with coordinates on Earth. Ids,
// texts and values have been verified. Compared byte by byte: the world has 650,000 runs, and
// making them takes as long as all other checks together.

import { isUtf8 } from 'node:buffer'
import { networkTypes } from '../../../model/kind.ts'
import {
  networkWords,
  regionWords,
  runElementBytes,
  runElementWords,
} from '../../../schema/table-layout.ts'
import type { SectionViews } from '../../../schema/table-sections.ts'
import {
  beforeLocationJson,
  behindLocationJson,
  locationJson,
  readRegion,
  runBytes,
} from '../location-record.ts'
import { networkJson, readNetwork } from '../network-record.ts'
import type { Strings } from '../string-section.ts'
import type { Fail } from '../table-corrupt.ts'

type RowName = 'network' | 'region' | 'location'

export function verifyRuns(views: SectionViews, fail: Fail): void {
  const { network_runs: networkRuns, location_runs: locationRuns, runs, regions } = views
  const bytes = runBytes(views)
  const strings = openPlainStrings(views)
  const check = (run: number, found: number, facts: number, of: RowName, id: number): void => {
    const at = run * runElementWords
    if (found !== (run + 1) * runElementBytes + runs[at]!) {
      fail('runs', at, `it does not say what ${of} ${id} does`)
    }
    if (runs[at + 1] !== facts) fail('runs', at, `its facts are not those of ${of} ${id}`)
    // Copied by eight bytes: what fills it up must be no NaN, whose bits a copy may change.
    for (let end = found; end % runElementBytes !== 0; end++) {
      if (bytes[end] !== 0) fail('runs', at, 'it is not filled up with zeros')
    }
  }
  for (let id = 1; id <= networkRuns.length; id++) {
    const run = networkRuns[id - 1]!
    const found = matchNetwork(bytes, (run + 1) * runElementBytes, views, id, strings)
    check(run, found, 0, 'network', id)
  }
  for (let id = 1; id * regionWords <= regions.length; id++) {
    const region = readRegion(views, id, strings)
    const row = (id - 1) * regionWords
    for (const [word, text] of [
      [4, beforeLocationJson(region)],
      [5, behindLocationJson(region)],
    ] as const) {
      const run = regions[row + word]!
      const found = matchBytes(bytes, (run + 1) * runElementBytes, Buffer.from(text))
      check(run, found, 0, 'region', id)
    }
  }
  const regionCount = regions.length / regionWords
  for (let id = 1; id <= locationRuns.length; id++) {
    const run = locationRuns[id - 1]!
    const region = runs[run * runElementWords + 1]!
    if (!(region >= 1 && region <= regionCount)) {
      fail('runs', run * runElementWords, `location ${id} has no region`)
    }
    const from = (run + 1) * runElementBytes
    const end = Math.min(from + runs[run * runElementWords]!, bytes.length)
    check(run, matchLocation(bytes, from, end), region, 'location', id)
  }
}

// These return the place behind what they found at `at`; -1 where something else is there, or for
// -1.

/** What stands around the values of a network: by type, and whether it is mobile. */
const aroundNetwork = networkTypes.map((type) =>
  [false, true].map((mobile) =>
    piecesAround(networkJson({ asn: 7, organization: '#', type, mobile }), '7#'),
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
  locationJson({ city: '#', zip: '#', latitude: 7, longitude: 7 }),
  '##77',
)

/** Its last number ends at `end`. */
function matchLocation(bytes: Uint8Array, from: number, end: number): number {
  let at = matchText(bytes, from, end)
  at = matchBytes(bytes, at, aroundLocation[1]!)
  at = matchText(bytes, at, end)
  at = matchBytes(bytes, at, aroundLocation[2]!)
  at = matchDegrees(bytes, at, end, 90)
  at = matchBytes(bytes, at, aroundLocation[3]!)
  return matchDegrees(bytes, at, end, 180)
}

const quote = 0x22
const backslash = 0x5c

/** Any text as it stands between the quotes of JSON, of which one stands before `end`. */
function matchText(bytes: Uint8Array, from: number, end: number): number {
  if (from < 0) return -1
  let at = from
  let isPlain = true
  for (; at < end && bytes[at] !== quote; at++) {
    const byte = bytes[at]!
    if (byte < 0x20) return -1
    if (byte === backslash) at++
    isPlain &&= byte !== backslash && byte < 0x80
  }
  if (at >= end) return -1
  return isPlain || isJsonText(bytes.subarray(from, at)) ? at : -1
}

function isJsonText(bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false
  const written = `"${Buffer.from(bytes).toString('utf8')}"`
  try {
    return JSON.stringify(JSON.parse(written)) === written
  } catch {
    return false
  }
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

/**
 * Degrees as JSON has them, with at most four decimals and at most `max`: `-0.1`, `13`. They end
 * before `end`, or at it.
 */
function matchDegrees(bytes: Uint8Array, from: number, end: number, max: number): number {
  if (from < 0) return -1
  const isNegative = bytes[from] === 0x2d
  const first = isNegative ? from + 1 : from
  let at = first
  let value = 0
  const wholeEnd = Math.min(first + 3, end)
  for (; at < wholeEnd && isDigit(bytes[at]!); at++) value = value * 10 + bytes[at]! - zero
  if (at === first || (at > first + 1 && bytes[first] === zero)) return -1
  if (at < end && bytes[at] === 0x2e) {
    const point = at++
    const decimalEnd = Math.min(point + 5, end)
    let unit = 1
    for (; at < decimalEnd && isDigit(bytes[at]!); at++) {
      value += (bytes[at]! - zero) * (unit /= 10)
    }
    // No decimal, or one that JSON leaves out.
    if (at === point + 1 || bytes[at - 1] === zero) return -1
  }
  return value > max || (isNegative && value === 0) ? -1 : at
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= 0x39
}

interface PlainStrings extends Strings {
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
  return { match, text: (id) => decoder.decode(texts.subarray(offsets[id], offsets[id + 1])) }
}

/** No quote, backslash or control character, which JSON escapes. */
function isPlain(texts: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = texts[at]!
    if (byte < 0x20 || byte === 0x22 || byte === 0x5c) return false
  }
  return true
}
