// The /64s (a customer's line) in which the table that answers classifies an address otherwise than
// the one before it: IPv6's part of table-changes.ts. What is a bogon, or carries an IPv4 address, is
// left out. A /64 in which several stretches changed counts once, by the first of them.

import { grown } from '../../base/grown-array.ts'
import { compareWords } from '../../export/address-space.ts'
import { walkFamily } from '../../export/piece-walk.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { type RecordFacts, recordFacts } from './record-facts.ts'

/** Where the answers of a table may change: addresses of four words, ascending. */
interface Stretches {
  words: Uint32Array
  /** Below 0 where no record answers. */
  records: Int32Array
  count: number
}

/** Calls for each stretch of addresses in which the class differs, with its /64s. */
export function walkChangedLines(
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

/** The first two words of an address: a double holds no 64 bits. */
type Line = readonly [high: number, low: number]

const end: Line = [2 ** 32, 0]

function lineOf({ words, count }: Stretches, at: number): Line {
  return at >= count ? end : [words[at * 4]!, words[at * 4 + 1]!]
}

/** The /64 of the address before a start. */
function lineBefore(stretches: Stretches, at: number): Line {
  const [high, low] = lineOf(stretches, at)
  const { words, count } = stretches
  if (at < count && (words[at * 4 + 2] !== 0 || words[at * 4 + 3] !== 0)) return [high, low]
  return low === 0 ? [high - 1, 2 ** 32 - 1] : [high, low - 1]
}

function linesBetween([high, low]: Line, [nextHigh, nextLow]: Line): number {
  return (nextHigh - high) * 2 ** 32 + (nextLow - low)
}

/** Behind its last one each has its end. */
function compareStarts(a: Stretches, i: number, b: Stretches, j: number): number {
  if (i >= a.count || j >= b.count) return Number(i >= a.count) - Number(j >= b.count)
  return compareWords(a.words.subarray(i * 4, i * 4 + 4), b.words.subarray(j * 4, j * 4 + 4))
}

function stretchesOf(table: OpenTable): Stretches {
  const room = 1024
  const found: Stretches = {
    words: new Uint32Array(room * 4),
    records: new Int32Array(room),
    count: 0,
  }
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
