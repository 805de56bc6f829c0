// Hot within the build: collects ranges with an ASN in growing columns per family, and the
// spellings of each AS's name.

import type { Family } from '../../src/ip/address.ts'
import { newRangeColumns } from '../layer/most-specific.ts'
import { pickOrganization } from './organization-name.ts'

/** Where a reader puts what it finds. Words are copied. */
export interface RangeSink {
  readonly range: (family: Family, first: Uint32Array, last: Uint32Array, asn: number) => void
  readonly name: (asn: number, text: string) => void
  /** A bad row: `place` is file and line. */
  readonly problem: (place: string, problem: string) => void
}

export type RangeCollector = ReturnType<typeof newRangeCollector>

export interface RangeProblems {
  readonly count: number
  /** The first few, as `file:line: problem`. */
  readonly samples: readonly string[]
}

/** The count shows how much is wrong. */
const samplesMax = 20

export function newRangeCollector() {
  const ipv4 = newRangeColumns(4)
  const ipv6 = newRangeColumns(6)
  const spellings = new Map<number, Set<string>>()
  const samples: string[] = []
  let problemCount = 0
  const name: RangeSink['name'] = (asn, text) => {
    let known = spellings.get(asn)
    if (known === undefined) spellings.set(asn, (known = new Set()))
    known.add(text)
  }
  const range: RangeSink['range'] = (family, first, last, asn) =>
    (family === 4 ? ipv4 : ipv6).add(first, last, asn)
  return {
    range,
    name,
    problem: (place: string, problem: string): void => {
      problemCount++
      if (samples.length < samplesMax) samples.push(`${place}: ${problem}`)
    },
    ranges: (family: Family) => (family === 4 ? ipv4 : ipv6).ranges(),
    organizations: (): ReadonlyMap<number, string> =>
      new Map([...spellings].map(([asn, known]) => [asn, pickOrganization([...known])])),
    problems: (): RangeProblems => ({ count: problemCount, samples }),
  }
}
