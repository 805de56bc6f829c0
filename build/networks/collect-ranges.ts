// Hot within the build: collects ranges with an ASN in columns that grow, one set for each family,
// and the spellings of each AS's name. It judges no row: asn-csv.ts reads them, most-specific.ts
// lays them out.

import type { Family } from '../../src/ip/address.ts'
import { newRangeColumns } from '../layer/most-specific.ts'
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

export type RangeCollector = ReturnType<typeof newRangeCollector>

export interface RangeProblems {
  readonly count: number
  /** The first few, as `file:line: problem`. */
  readonly samples: readonly string[]
}

/** Enough to find what is wrong with a file; the count says how much of it is. */
const samplesMax = 20

const decoder = new TextDecoder()

export function newRangeCollector() {
  const ipv4 = newRangeColumns(4)
  const ipv6 = newRangeColumns(6)
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
  const range: RangeSink['range'] = (family, first, last, asn) =>
    (family === 4 ? ipv4 : ipv6).add(first, last, asn)
  return {
    range,
    name,
    /** A spelling that is text already. */
    named(asn: number, text: string): void {
      const bytes = new TextEncoder().encode(text)
      name(asn, bytes, 0, bytes.length, false)
    },
    problem: (place: string, problem: string): void => {
      problemCount++
      if (samples.length < samplesMax) samples.push(`${place}: ${problem}`)
    },
    ranges: (family: Family) => (family === 4 ? ipv4 : ipv6).ranges(),
    /** The organization of each AS, by pickOrganization. */
    organizations: (): ReadonlyMap<number, string> =>
      new Map(
        [...spellings].map(([asn, known]) => [
          asn,
          pickOrganization(known.map(({ text }) => text)),
        ]),
      ),
    problems: (): RangeProblems => ({ count: problemCount, samples }),
  }
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
