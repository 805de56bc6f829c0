// Every word whose values are a vocabulary or a measure: the last value that an answer may have
// passes, the next one is refused at its place.

import { describe, expect, it } from 'vitest'
import {
  botCategories,
  classifications,
  kinds,
  matches,
  networkTypes,
  proxyTypes,
} from '../../../../src/model/kind.ts'
import {
  dayMax,
  densitySlots,
  evidenceListMax,
  evidenceWords,
  networkWords,
  reasonListMax,
  regionWords,
  verdictWords,
} from '../../../../src/schema/table-layout.ts'
import type { Fail } from '../../../../src/table/file/table-corrupt.ts'
import type { TableView } from '../../../../src/table/file/table-view.ts'
import { verifyValues } from '../../../../src/table/file/verify/verify-values.ts'

const empty = Uint32Array.of()
const asOf = 20_000

interface Forged {
  readonly views?: Readonly<Record<string, Uint32Array | Float64Array>>
  readonly sources?: readonly object[]
}

/** `section element: why`, or `sound`. */
function verified({ views = {}, sources = [] }: Forged): string {
  const none = { verdicts: empty, evidence: empty, networks: empty, regions: empty }
  const lists = { density_lists: empty, density_slots: empty, densities: empty }
  const more = { reason_lists: empty, evidence_lists: empty }
  const file = { sources, asOf, views: { ...none, ...lists, ...more, ...views } }
  const fail: Fail = (section, element, why) => {
    throw new Error(`${section} ${element}: ${why}`)
  }
  try {
    verifyValues(file as unknown as TableView, fail)
    return 'sound'
  } catch (error) {
    return (error as Error).message
  }
}

/** The second row of a section, one word of it set. */
function row(section: string, words: number, word: number, value: number): Forged {
  const view = new Uint32Array(2 * words)
  // A region has a country.
  if (section === 'regions') view.fill(1)
  view[words + word] = value
  return { views: { [section]: view } }
}

const facts = 2 ** 25
const signals = 2 ** 29

/** [section, words of a row, word, the last sound value, the first unsound one, why] */
const values: readonly (readonly [string, number, number, number, number, RegExp])[] = [
  ['verdicts', verdictWords, 0, classifications.length - 1, classifications.length, /classific/],
  ['verdicts', verdictWords, 0, 100 << 4, 101 << 4, /a score above 100/],
  ['verdicts', verdictWords, 0, (proxyTypes.length - 1) << 13, proxyTypes.length << 13, /proxy/],
  [
    'verdicts',
    verdictWords,
    0,
    (botCategories.length - 1) << 18,
    botCategories.length << 18,
    /bot/,
  ],
  ['verdicts', verdictWords, 0, signals >>> 1, signals, /unknown signals/],
  ['verdicts', verdictWords, 2, dayMax, dayMax + 1, /an impossible day/],
  ['verdicts', verdictWords, 3, 10_000, 10_001, /a share above 100 percent/],
  ['evidence', evidenceWords, 0, (kinds.length - 1) << 16, kinds.length << 16, /unknown kind/],
  ['evidence', evidenceWords, 0, botCategories.length << 22, 3 << 22, /unknown category/],
  ['evidence', evidenceWords, 0, facts >>> 1, facts, /unknown facts/],
  ['evidence', evidenceWords, 3, asOf * 65_536 + 0xffff, (asOf + 1) * 65_536, /after the last day/],
  ['networks', networkWords, 2, networkTypes.length - 1, networkTypes.length, /unknown type/],
  ['regions', regionWords, 0, 1, 0, /it has no country/],
]

describe('a word', () => {
  it.each(values)('of %s (%i words, word %i) may be %i, not %i', (...value) => {
    const [section, words, word, sound, unsound, why] = value
    expect(verified(row(section, words, word, sound))).toBe('sound')
    const found = verified(row(section, words, word, unsound))
    expect(found).toMatch(why)
    // The place is the word's, but for heads and for what a whole row is.
    expect(found).toMatch(new RegExp(`^${section} ${words + word}: `))
  })

  it('holds a match in bits that know no other', () => {
    expect(matches).toHaveLength(4)
  })
})

describe('a list', () => {
  it.each([
    ['reason_lists', reasonListMax],
    ['evidence_lists', evidenceListMax],
  ])('of %s may have %i members', (section, max) => {
    const lists = (members: number) => ({ views: { [section]: Uint32Array.of(0, 1, 1 + members) } })
    expect(verified(lists(max))).toBe('sound')
    expect(verified(lists(max + 1))).toBe(`${section} 2: a list has over ${max} members`)
  })
})

describe('densities', () => {
  const of = (...counts: readonly (readonly [slot: number, count: number])[]): string =>
    verified({
      views: {
        density_lists: Uint32Array.of(0, 0, counts.length),
        density_slots: Uint32Array.from(counts, ([slot]) => slot),
        densities: Float64Array.from(counts, ([, count]) => count),
      },
    })
  const ipv6 = densitySlots / 2

  it('are parts of the units of their own family', () => {
    expect(of([0, 10], [1, 10], [2, 1])).toBe('sound')
    expect(of([0, 10], [ipv6, 500], [ipv6 + 1, 500], [densitySlots - 1, 11])).toBe('sound')
    expect(of([0, 10], [1, 11])).toBe(
      'densities 1: its count is not from 1 to all addresses of its network',
    )
    expect(of([0, 500], [ipv6, 10], [ipv6 + 1, 11])).toMatch(/^densities 2: /)
    // Kinds of a family whose units are not told.
    expect(of([0, 10], [ipv6 + 1, 1])).toMatch(/^densities 1: /)
  })

  it('are whole and above zero', () => {
    for (const count of [0, -1, 1.5, Infinity, NaN]) expect(of([0, count])).toMatch(/^densities 0/)
    expect(of([0, 1])).toBe('sound')
  })

  it('stand in ascending slots that there are', () => {
    expect(of([0, 2], [1, 1], [1, 1])).toBe('density_slots 2: the slots of a network do not ascend')
    expect(of([0, 2], [2, 1], [1, 1])).toMatch(/^density_slots 2: /)
    expect(of([densitySlots, 1])).toBe(
      `density_slots 0: id ${densitySlots} is not below ${densitySlots}`,
    )
  })
})

describe('sources', () => {
  const weights = ([weightLow, weight, weightHigh]: readonly [number, number, number]) =>
    verified({ sources: [{ id: 'a' }, { id: 'b', voice: { weightLow, weight, weightHigh } }] })

  it('have weights in order within 0 and 1', () => {
    for (const sound of [
      [0, 0, 0],
      [0, 0.5, 1],
      [1, 1, 1],
    ] as const) {
      expect(weights(sound)).toBe('sound')
    }
    const unsound = [
      [-0.1, 0, 0],
      [0.5, 0.4, 1],
      [0, 0.6, 0.5],
      [0, 1, 1.1],
      [Number.NaN, 0, 0],
    ] as const
    for (const bad of unsound) {
      expect(weights(bad)).toBe('evidence 0: the weight of source "b" is not within 0 and 1')
    }
  })

  it('have an id each', () => {
    expect(verified({ sources: [{ id: 'a' }, { id: 'a' }] })).toMatch(/two sources have one id/)
  })
})
