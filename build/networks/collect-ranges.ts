// Hot within the build: collects ranges with an ASN in columns that grow, one set for each family,
// and the spellings of each AS's name. It judges no row: asn-csv.ts reads them, most-specific.ts
// lays them out.

import { grown } from '../../src/base/grown-array.ts'
import type { Family } from '../../src/ip/address.ts'
import { wordsPerStart } from '../layer/layer.ts'
import type { RangeColumns } from './most-specific.ts'
import { pickOrganization } from './organization-name.ts'

/** Where a reader puts what it finds. Words and bytes are the reader's own: copied, not kept. */
export interface RangeSink {
  readonly range: (family: Family, first: Uint32Array, last: Uint32Array, asn: number) => void
  /** A spelling of the AS's organization, UTF-8, without its outer quotes. */
  readonly name: (
    asn: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    doubled: boolean,
  ) => void
  /** A bad row: `place` is file and line, `problem` a short stable phrase. */
  readonly problem: (place: string, problem: string) => void
}

export interface RangeCollector extends RangeSink {
  /** A spelling that is text already. */
  readonly named: (asn: number, organization: string) => void
  readonly ranges: (family: Family) => RangeColumns
  /** The organization of each AS, by pickOrganization. */
  readonly organizations: () => ReadonlyMap<number, string>
  readonly problems: () => RangeProblems
}

export interface RangeProblems {
  readonly count: number
  /** The first few, as `file:line: problem`. */
  readonly samples: readonly string[]
}

const capacityAtFirst = 1 << 16
/** Enough to find what is wrong with a file; the count says how much of it is. */
const samplesMax = 20

const decoder = new TextDecoder()

export function newRangeCollector(): RangeCollector {
  const ipv4 = newColumns(4)
  const ipv6 = newColumns(6)
  /**
   * The distinct spellings of each AS. A file repeats an AS's name on each of its ranges, so the
   * bytes are compared with what is known before anything is decoded.
   */
  const spellings = new Map<number, Spelling[]>()
  const samples: string[] = []
  let problemCount = 0
  const name: RangeSink['name'] = (asn, bytes, start, end, doubled) => {
    let known = spellings.get(asn)
    if (known === undefined) spellings.set(asn, (known = []))
    for (const spelling of known) if (isAt(spelling.bytes, bytes, start, end)) return
    const own = bytes.slice(start, end)
    const text = decoder.decode(own)
    known.push({ bytes: own, text: doubled ? text.replaceAll('""', '"') : text })
  }
  return {
    range: (family, first, last, asn) => (family === 4 ? ipv4 : ipv6).add(first, last, asn),
    name,
    named(asn, text) {
      const bytes = new TextEncoder().encode(text)
      name(asn, bytes, 0, bytes.length, false)
    },
    problem: (place, problem) => {
      problemCount++
      if (samples.length < samplesMax) samples.push(`${place}: ${problem}`)
    },
    ranges: (family) => (family === 4 ? ipv4 : ipv6).ranges(),
    organizations: () =>
      new Map(
        [...spellings].map(([asn, known]) => [
          asn,
          pickOrganization(known.map(({ text }) => text)),
        ]),
      ),
    problems: () => ({ count: problemCount, samples }),
  }
}

function newColumns(family: Family): {
  readonly add: (first: Uint32Array, last: Uint32Array, value: number) => void
  readonly ranges: () => RangeColumns
} {
  const words = wordsPerStart(family)
  let firsts = new Uint32Array(capacityAtFirst * words)
  let lasts = new Uint32Array(capacityAtFirst * words)
  let values = new Uint32Array(capacityAtFirst)
  let count = 0
  const add = (first: Uint32Array, last: Uint32Array, value: number): void => {
    if (count === values.length) {
      firsts = grown(firsts, firsts.length * 2)
      lasts = grown(lasts, lasts.length * 2)
      values = grown(values, values.length * 2)
    }
    for (let word = 0; word < words; word++) {
      firsts[count * words + word] = first[word]!
      lasts[count * words + word] = last[word]!
    }
    values[count++] = value
  }
  return { add, ranges: () => ({ family, count, firsts, lasts, values }) }
}

interface Spelling {
  readonly bytes: Uint8Array
  readonly text: string
}

function isAt(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) return false
  for (let at = 0; at < known.length; at++) if (known[at] !== bytes[start + at]) return false
  return true
}

/** First and last address of a prefix, in place; false where the length is none of the family. */
export function maskPrefix(options: {
  readonly family: Family
  readonly length: number
  readonly first: Uint32Array
  readonly last: Uint32Array
}): boolean {
  const { family, length, first, last } = options
  if (length < 0 || length > (family === 4 ? 32 : 128)) return false
  for (let word = 0; word < first.length; word++) {
    const hostBits = Math.min(Math.max(32 * (word + 1) - length, 0), 32)
    // A shift by 32 is a shift by 0, hence the two cases.
    const host = hostBits === 32 ? 0xffff_ffff : (1 << hostBits) - 1
    const unused = family === 4 && word > 0
    first[word] = unused ? 0 : first[word]! & ~host
    last[word] = unused ? 0 : first[word]! | host
  }
  return true
}
