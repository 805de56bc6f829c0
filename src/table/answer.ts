// Hot path: `write` and what it calls. Forbidden there for warm fragments: allocation, throw,
// closure, a string, JSON.stringify, regular expression.
//
// One parsed address to the bytes of its answer: fragments (fragment.ts) and the table's own texts,
// put one behind the other into one array that the writer keeps. `check` (check.ts) says the same
// as an object and is the slow twin: the bytes are exactly those of JSON.stringify of it.
//
// Invariant: what `write` returns is good until its next call. An array view is made once for each
// length of answer, which is cheaper than one for each answer.

import { formatAddressBytes, formatIpv4Bytes } from '../ip/text-bytes.ts'
import type { Classification } from '../model/kind.ts'
import { locationWords, networkWords } from '../schema/layout.ts'
import type { Views } from '../schema/section.ts'
import type { Asked } from './asked.ts'
import type { Reader } from './check.ts'
import { type Fragments, bytesOf, networkTails, openFragments } from './fragment.ts'
import { type Located, locate, newLocated } from './locate.ts'
import { escapedBytesMax, putBytes, putTenThousandths, putText, putWhole } from './put.ts'

export interface AnswerBytes {
  classification: Classification
  /** JSON in UTF-8; good until the next answer. */
  body: Uint8Array
}

/** More than all that is neither a text of the table nor a fragment of a verdict or country. */
const fixedBytesMax = 1024
/** Texts of the table in one answer: organization, state, city, zip, time zone. */
const textsMax = 5
const bytesMin = 4096

const version4 = bytesOf('","version":4')
const version6 = bytesOf('","version":6')
const addressLabel = bytesOf(',"address":"')
const noNetwork = bytesOf(',"network":null,"location":')
const networkHead = bytesOf(',"network":{"asn":')
const organizationLabel = bytesOf(',"organization":"')
const cityLabel = bytesOf('","city":"')
const zipLabel = bytesOf('","zip":"')
const latitudeLabel = bytesOf('","latitude":')
const longitudeLabel = bytesOf(',"longitude":')
const zoneLabel = bytesOf(',"timezone":"')
const nothing = bytesOf('null')
const quote = 0x22

/** What one table's writer keeps. */
interface Writer {
  readonly views: Views
  readonly fragments: Fragments
  readonly located: Located
  readonly answer: AnswerBytes
  /** Room for all texts of the table that an answer can have. */
  readonly textBytesMax: number
  out: Uint8Array
  /** By length: the first bytes of `out`. */
  bodies: (Uint8Array | undefined)[]
}

/** `asked.family` must not be 0. */
export function openAnswers(reader: Reader): (asked: Asked) => AnswerBytes {
  const { views } = reader
  const writer: Writer = {
    views,
    fragments: openFragments(reader),
    located: newLocated(),
    answer: { classification: 'clean', body: new Uint8Array(0) },
    textBytesMax: longestText(views) * escapedBytesMax * textsMax,
    out: new Uint8Array(0),
    bodies: [],
  }
  makeRoom(writer, bytesMin)
  return (asked) => write(writer, asked)
}

function longestText({ string_offsets: offsets }: Views): number {
  let longest = 0
  for (let id = 1; id < offsets.length; id++) {
    longest = Math.max(longest, offsets[id]! - offsets[id - 1]!)
  }
  return longest
}

/** Not hot: a table has one longest answer. */
function makeRoom(writer: Writer, bytes: number): void {
  writer.out = new Uint8Array(bytes * 2)
  writer.bodies = Array.from<undefined>({ length: bytes * 2 + 1 })
}

function write(writer: Writer, asked: Asked): AnswerBytes {
  const { views, fragments, located, answer } = writer
  const { family } = asked
  locate(views, family === 4 ? 4 : 6, asked.words, located)
  const verdict = located.bogon ? fragments.bogon : fragments.verdict(located.verdict)
  const { head, tail } = verdict
  const bytes = head.length + tail.length + writer.textBytesMax + fixedBytesMax
  if (bytes > writer.out.length) makeRoom(writer, bytes)
  const { out } = writer
  out.set(head, 0)
  let at = putText(out, head.length, asked.bytes, asked.from, asked.to)
  at = putBytes(out, at, located.version === 4 ? version4 : version6)
  if (family === 6) at = putAddress(out, at, asked, located)
  at = located.bogon
    ? putBytes(out, putBytes(out, at, noNetwork), nothing)
    : putPlace(writer, putNetwork(views, out, at, located.network), located.location)
  out.set(tail, at)
  at += tail.length
  answer.classification = verdict.classification
  answer.body = bodyOf(writer, at)
  return answer
}

function bodyOf(writer: Writer, length: number): Uint8Array {
  const known = writer.bodies[length]
  if (known !== undefined) return known
  const body = writer.out.subarray(0, length)
  writer.bodies[length] = body
  return body
}

/**
 * `address` where the text sent is not the canonical one. IPv4 text has one form only, the one that
 * is accepted.
 */
function putAddress(out: Uint8Array, at: number, asked: Asked, located: Located): number {
  const from = at + addressLabel.length
  const to =
    located.version === 4
      ? formatIpv4Bytes(located.ipv4, out, from)
      : formatAddressBytes(asked.words, out, from)
  if (isSame(out, from, to, asked)) return at
  putBytes(out, at, addressLabel)
  out[to] = quote
  return to + 1
}

function isSame(out: Uint8Array, from: number, to: number, asked: Asked): boolean {
  if (to - from !== asked.to - asked.from) return false
  for (let i = from, j = asked.from; i < to; i++, j++) {
    if (out[i] !== asked.bytes[j]) return false
  }
  return true
}

function putNetwork(views: Views, out: Uint8Array, from: number, network: number): number {
  if (network === 0) return putBytes(out, from, noNetwork)
  const { networks } = views
  const words = (network - 1) * networkWords
  let at = putBytes(out, from, networkHead)
  at = putWhole(out, at, networks[words]!)
  at = putBytes(out, at, organizationLabel)
  at = putString(views, out, at, networks[words + 1]!)
  const traits = networks[words + 2]!
  const tail = networkTails[((traits & 15) << 1) | ((traits >>> 4) & 1)]!
  out.set(tail, at)
  return at + tail.length
}

function putPlace(writer: Writer, from: number, location: number): number {
  const { views, out } = writer
  if (location === 0) return putBytes(out, from, nothing)
  const { locations } = views
  const words = (location - 1) * locationWords
  const country = writer.fragments.country(locations[words]!)
  out.set(country.head, from)
  let at = putString(views, out, from + country.head.length, locations[words + 1]!)
  at = putBytes(out, at, cityLabel)
  at = putString(views, out, at, locations[words + 2]!)
  at = putBytes(out, at, zipLabel)
  at = putString(views, out, at, locations[words + 3]!)
  at = putBytes(out, at, latitudeLabel)
  at = putTenThousandths(out, at, locations[words + 4]!)
  at = putBytes(out, at, longitudeLabel)
  at = putTenThousandths(out, at, locations[words + 5]!)
  at = putBytes(out, at, zoneLabel)
  at = putString(views, out, at, locations[words + 6]!)
  const tail = country.tails[locations[words + 7]!]!
  out.set(tail, at)
  return at + tail.length
}

function putString(views: Views, out: Uint8Array, at: number, id: number): number {
  const { string_offsets: offsets } = views
  return putText(out, at, views.string_bytes, offsets[id]!, offsets[id + 1]!)
}
