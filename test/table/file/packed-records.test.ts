// What a record's bits can hold comes back as it went in, also beside full neighbours; what does not
// fit is cut, and what a damaged table refers to beyond its end is refused.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/base/day.ts'
import type { Range } from '../../../src/ip/range.ts'
import { botCategories, kinds, matches, networkTypes } from '../../../src/model/kind.ts'
import {
  evidenceListMax,
  evidenceRangeWords,
  evidenceWords,
  networkWords,
} from '../../../src/schema/table-layout.ts'
import {
  evidenceListPlace,
  packEvidence,
  readEvidenceList,
  type TableEvidence,
} from '../../../src/table/file/evidence-record.ts'
import {
  networkEvidenceList,
  packTraits,
  readNetwork,
} from '../../../src/table/file/network-record.ts'
import { listPlace } from '../../../src/table/file/table-corrupt.ts'

const strings = { text: (id: number): string => (id === 0 ? '' : `text ${id}`) }

const day = fc.integer({ min: 0, max: 0xffff }).map((value) => value as Day)
const rangeOf = (family: 4 | 6, most: bigint): fc.Arbitrary<Range> =>
  fc
    .tuple(fc.bigInt({ min: 0n, max: most }), fc.bigInt({ min: 0n, max: most }))
    .map(([a, b]) => ({ family, first: a < b ? a : b, last: a < b ? b : a }))
const limit4 = 2n ** 32n - 1n
const limit6 = 2n ** 128n - 1n

const evidence: fc.Arbitrary<TableEvidence> = fc
  .record({
    source: fc.integer({ min: 0, max: 0xffff }),
    kind: fc.constantFrom(...kinds),
    match: fc.constantFrom(...matches),
    provider: fc.constantFrom('', 'text 1', 'text 77'),
    category: fc.constantFrom(undefined, ...botCategories),
    lists: fc.integer({ min: 0, max: 0xffff }),
    daysListed: fc.integer({ min: 0, max: 255 }),
    daysObserved: fc.integer({ min: 0, max: 255 }),
    firstSeen: day,
    lastSeen: day,
    range: fc.oneof(rangeOf(4, limit4), rangeOf(6, limit6)),
  })
  .map((one) => (one.match === 'as' ? { ...one, range: undefined } : one))

function packed(all: readonly TableEvidence[]) {
  const out = new Uint32Array(all.length * evidenceWords)
  const ranges: number[] = []
  for (const [id, { source, range, ...rest }] of all.entries()) {
    const providerId = Number(rest.provider.slice('text '.length))
    const at = id * evidenceWords
    packEvidence({ source, range, evidence: rest }, { out, ranges, at, providerId })
  }
  return {
    evidence: out,
    evidence_ranges: Uint32Array.from(ranges),
    evidence_lists: Uint32Array.of(0, 0, all.length),
    evidence_ids: Uint32Array.from(all.keys()),
  }
}

describe('evidence', () => {
  it('comes back as it was stored, whatever stands beside it', () => {
    const check = fc.property(fc.array(evidence, { maxLength: 6 }), (all) => {
      const views = packed(all)
      expect(readEvidenceList(views, 1, strings)).toEqual(all)
      expect(readEvidenceList(views, 0, strings)).toEqual([])
    })
    fc.assert(check, { numRuns: 2_000, seed: 1 })
  })

  const one: TableEvidence = {
    source: 0xffff,
    kind: kinds.at(-1)!,
    match: 'near',
    provider: 'text 1',
    category: 'ai_tool',
    lists: 0xffff,
    daysListed: 255,
    daysObserved: 255,
    firstSeen: 0xffff as Day,
    lastSeen: 0xffff as Day,
    range: { family: 6, first: limit6, last: limit6 },
  }

  it('is cut to what its bits hold, and fills them', () => {
    const more = { ...one, lists: 0x1_0000, daysListed: 256, daysObserved: 256 }
    expect(readEvidenceList(packed([one]), 1, strings)).toEqual([one])
    expect(readEvidenceList(packed([more]), 1, strings)).toEqual([one])
  })

  it('that lies beyond its section is refused, the last one is not', () => {
    const views = packed([one, one])
    const found = (change: object): number =>
      readEvidenceList({ ...views, ...change }, 1, strings).length
    expect(found({ evidence_ids: Uint32Array.of(1, 1) })).toBe(2)
    expect(() => found({ evidence_ids: Uint32Array.of(1, 2) })).toThrow(/there is no evidence 2/)
    const ranges = views.evidence_ranges
    expect(() => found({ evidence_ranges: ranges.slice(0, -1) })).toThrow(/there is no range 1/)
    expect(ranges).toHaveLength(2 * evidenceRangeWords)
  })

  it('has lists of at most so many elements', () => {
    const place = (to: number, ids = to) =>
      evidenceListPlace(
        { evidence_lists: Uint32Array.of(0, 0, to), evidence_ids: new Uint32Array(ids) },
        1,
      )
    expect(place(evidenceListMax)).toEqual({ from: 0, to: evidenceListMax })
    expect(() => place(evidenceListMax + 1)).toThrow(/a list ends at 4097/)
  })
})

it('a list may end where its section does, and one that is not there is empty', () => {
  const of = { section: 'reason_lists', length: 5, max: 3 }
  const offsets = Uint32Array.of(0, 2, 5)
  expect(listPlace(offsets, 0, of)).toEqual({ from: 0, to: 2 })
  expect(listPlace(offsets, 1, of)).toEqual({ from: 2, to: 5 })
  expect(listPlace(offsets, 2, of)).toEqual({ from: 5, to: 5 })
  expect(listPlace(offsets, 3, of)).toEqual({ from: 0, to: 0 })
  expect(() => listPlace(Uint32Array.of(0, 2, 6), 1, of)).toThrow(/a list ends at 6/)
  expect(() => listPlace(offsets, 1, { ...of, max: 2 })).toThrow(/a list ends at 5/)
})

it('a network comes back as it was stored, each trait by itself', () => {
  const traits = ['mobile', 'access', 'shared', 'corporate', 'cdn', 'anycast'] as const
  const none = { mobile: false, access: false, shared: false }
  const rest = { corporate: false, cdn: false, anycast: false }
  const bare = { asn: 0xffff_ffff, organization: 'text 9', ...none, ...rest }
  const networks = networkTypes.flatMap((type) => [
    { ...bare, type },
    ...traits.map((trait) => ({ ...bare, type, [trait]: true })),
  ])
  const words = new Uint32Array(networks.length * networkWords)
  for (const [at, network] of networks.entries()) {
    words.set([network.asn, 9, packTraits(network), at + 1], at * networkWords)
  }
  for (const [at, network] of networks.entries()) {
    expect(readNetwork(words, at + 1, strings)).toEqual(network)
    expect(networkEvidenceList(words, at + 1)).toBe(at + 1)
  }
})
