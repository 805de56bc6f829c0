// What changed from the previous table to the one in use: IPv4 addresses with another class by
// class, country and network, with the largest runs; IPv6 /64s by class, country and network. Walks
// both tables side by side, piece by piece.

import type { TableChanges } from '../api/admin-answers.ts'
import { addTo, largestFirst } from '../base/counts.ts'
import { grown } from '../base/grown-array.ts'
import { walkFamily } from '../export/piece-walk.ts'
import { compareWords } from '../ip/address.ts'
import { formatIpv4 } from '../ip/format-address.ts'
import type { Classification } from '../model/kind.ts'
import { networkWords, recordWords } from '../schema/table-layout.ts'
import type { SectionViews } from '../schema/table-sections.ts'
import { countryOf, readCountry } from '../table/file/location-record.ts'
import { readNetwork } from '../table/file/network-record.ts'
import { readClassification, readScore } from '../table/file/verdict-record.ts'
import { newIpv4Starts } from '../table/lookup/piece-start.ts'
import type { OpenTable } from '../table/open-table.ts'
import { newChangeCounter } from './comparison.ts'

const shown = 20
const largestShown = 50
/** At this number of runs, the smaller half is dropped. */
const runsKept = 4096

interface Run extends Readonly<Record<'first' | 'last' | 'score_from' | 'score_to', number>> {
  readonly from: Classification
  readonly to: Classification
}

export function tableChanges(table: OpenTable, before: OpenTable): TableChanges {
  const tally = newTally(table)
  const lines = newTally(table)
  walkChangedLines(before, table, lines.add)
  let runs: Run[] = []
  walkTogether(before, table, (first, last, was, is) => {
    const size = last - first + 1
    const [from, to] = [recordFacts(before, was), recordFacts(table, is)]
    if (!tally.add(size, from, to, is)) return
    const classes = { from: from.classification, to: to.classification }
    const run = { first, last, ...classes, score_from: from.score, score_to: to.score }
    const end = runs.at(-1)
    if (end !== undefined && end.last === first - 1 && isAlike(end, run)) {
      runs[runs.length - 1] = { ...run, first: end.first }
      return
    }
    runs.push(run)
    if (runs.length > runsKept) {
      runs = largestRuns(runs, runsKept / 2).toSorted((a, b) => a.first - b.first)
    }
  })
  return {
    table: table.id,
    against: before.id,
    status: 'done',
    addresses_changed: tally.changed(),
    ...tally.rows(),
    ipv6: { lines_changed: lines.changed(), ...lines.rows() },
    largest: largestRuns(runs, largestShown).map(({ first, last, ...run }) => ({
      prefix: first === last ? formatIpv4(first) : `${formatIpv4(first)}-${formatIpv4(last)}`,
      ...run,
    })),
  }
}

function newTally(table: OpenTable) {
  const { views } = table.reader
  const classes = newChangeCounter()
  const countries = new Map<number, number>()
  const networks = new Map<number, number>()
  return {
    /** Counts addresses or /64s by their records in both tables. Returns whether they changed. */
    add: (count: number, from: RecordFacts, to: RecordFacts, record: number): boolean => {
      if (!classes.add(from.classification, to.classification, count)) return false
      const at = record * recordWords
      addTo(countries, countryOf(views, views.records[at + 1]!), count)
      addTo(networks, views.records[at]!, count)
      return true
    },
    changed: () => classes.comparison().changed,
    rows: () => ({
      classes: classes
        .comparison()
        .changes.map(({ from, to, count }) => ({ from, to, addresses: count })),
      countries: countryRows(table, countries),
      networks: networkRows(table, networks),
    }),
  }
}

/** Visits the IPv4 ranges with one record in each table. */
function walkTogether(
  before: OpenTable,
  after: OpenTable,
  visit: (first: number, last: number, was: number, is: number) => void,
): void {
  const [a, b] = [before.reader.views, after.reader.views]
  const [startsOfA, startsOfB] = [newIpv4Starts(a), newIpv4Starts(b)]
  let [i, j] = [0, 0]
  let [nextA, nextB] = [endOf(a, startsOfA, i), endOf(b, startsOfB, j)]
  let first = 0
  while (first < 2 ** 32) {
    if (nextA <= first) nextA = endOf(a, startsOfA, ++i)
    if (nextB <= first) nextB = endOf(b, startsOfB, ++j)
    const next = Math.min(nextA, nextB)
    visit(first, next - 1, a.ipv4_records[i]!, b.ipv4_records[j]!)
    first = next
  }
}

/** After the last address of a piece. */
const endOf = (views: SectionViews, startOf: (piece: number) => number, piece: number): number =>
  piece + 1 < views.ipv4_starts.length ? startOf(piece + 1) : 2 ** 32

function countryRows(
  { reader: { views, strings } }: OpenTable,
  counts: ReadonlyMap<number, number>,
): NonNullable<TableChanges['countries']> {
  return largestFirst(counts)
    .slice(0, shown)
    .map(([id, addresses]) => {
      const name = id === 0 ? '' : readCountry(views.countries, id, strings).country
      return { name, addresses }
    })
}

/** An AS may have several networks. */
export function networkRows(
  { reader: { views, strings } }: OpenTable,
  counts: ReadonlyMap<number, number>,
): NonNullable<TableChanges['networks']> {
  const byName = new Map<string, number>()
  for (const [id, addresses] of counts) {
    if (id === 0 || id * networkWords > views.networks.length) continue
    const { asn, organization } = readNetwork(views.networks, id, strings)
    addTo(byName, `AS${asn} ${organization}`, addresses)
  }
  return largestFirst(byName)
    .slice(0, shown)
    .map(([name, addresses]) => ({ name, addresses }))
}

function isAlike(one: Run, other: Run): boolean {
  const { from, to, score_from: was, score_to: is } = one
  return from === other.from && to === other.to && was === other.score_from && is === other.score_to
}

/** Largest first, then by address. */
function largestRuns(runs: readonly Run[], most: number): Run[] {
  const sizeOf = ({ first, last }: Run): number => last - first
  return runs.toSorted((a, b) => sizeOf(b) - sizeOf(a) || a.first - b.first).slice(0, most)
}

type RecordFacts = ReturnType<typeof recordFacts>

/** Reads words of the verdict only: it is called for millions of records. */
function recordFacts({ reader: { views } }: OpenTable, record: number) {
  const verdict = views.records[record * recordWords + 2]!
  return {
    classification: readClassification(views.verdicts, verdict),
    score: readScore(views.verdicts, verdict),
  }
}

// IPv6: /64s (a customer's line) with a changed class, without bogons and addresses that embed an
// IPv4 one. A /64 with several changed stretches counts once, by the first.

type Stretches = ReturnType<typeof stretchesOf>

/** Visits each stretch of addresses with a changed class. */
function walkChangedLines(
  before: OpenTable,
  after: OpenTable,
  visit: (lines: number, was: RecordFacts, is: RecordFacts, record: number) => void,
): void {
  const [a, b] = [stretchesOf(before), stretchesOf(after)]
  let [i, j] = [0, 0]
  let counted: Line = [-1, 0]
  while (i < a.count && j < b.count) {
    const [was, is] = [a.records[i]!, b.records[j]!]
    const order = compareStarts(a, i + 1, b, j + 1)
    if (was >= 0 && is >= 0) {
      const [from, to] = [recordFacts(before, was), recordFacts(after, is)]
      if (from.classification !== to.classification) {
        const first = compareStarts(a, i, b, j) >= 0 ? lineOf(a, i) : lineOf(b, j)
        const last = order <= 0 ? lineBefore(a, i + 1) : lineBefore(b, j + 1)
        const isCounted = linesBetween(counted, first) === 0
        const lines = linesBetween(first, last) + (isCounted ? 0 : 1)
        counted = last
        if (lines > 0) visit(lines, from, to, is)
      }
    }
    if (order <= 0) i += 1
    if (order >= 0) j += 1
  }
}

/** The first two words of an address: a double cannot hold 64 bits. */
type Line = readonly [high: number, low: number]

const end: Line = [2 ** 32, 0]

const lineOf = ({ words, count }: Stretches, at: number): Line =>
  at >= count ? end : [words[at * 4]!, words[at * 4 + 1]!]

/** The /64 of the address before a start. */
function lineBefore(stretches: Stretches, at: number): Line {
  const [high, low] = lineOf(stretches, at)
  const { words, count } = stretches
  if (at < count && (words[at * 4 + 2] !== 0 || words[at * 4 + 3] !== 0)) return [high, low]
  return low === 0 ? [high - 1, 2 ** 32 - 1] : [high, low - 1]
}

const linesBetween = ([high, low]: Line, [nextHigh, nextLow]: Line): number =>
  (nextHigh - high) * 2 ** 32 + (nextLow - low)

/** After the last start comes the end of all addresses. */
function compareStarts(a: Stretches, i: number, b: Stretches, j: number): number {
  if (i >= a.count || j >= b.count) return Number(i >= a.count) - Number(j >= b.count)
  return compareWords(a.words, i * 4, b.words, j * 4, 4)
}

/** Where a table's answer may change: addresses of four words, ascending. */
function stretchesOf(table: OpenTable) {
  const room = 1024
  /** Negative without a record. */
  const found = { words: new Uint32Array(room * 4), records: new Int32Array(room), count: 0 }
  walkFamily(table.reader.views, 6, (words, record) => {
    const at = found.count
    if (at === found.records.length) {
      found.words = grown(found.words, found.words.length * 2)
      found.records = grown(found.records, found.records.length * 2)
    }
    found.words.set(words, at * 4)
    found.records[at] = record
    found.count = at + 1
  })
  return found
}
