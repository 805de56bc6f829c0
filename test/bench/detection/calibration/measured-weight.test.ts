// Intervals against published values, lives against a plain count, weights by their rules, and the
// catalogue's files rewritten in place.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { catalogueFolder } from '../../../../build/catalogue/load-catalogue.ts'
import { withWeight } from '../../../../bench/detection/calibration/apply-weights.ts'
import {
  type EntryLifetime,
  estimateLifetime,
} from '../../../../bench/detection/calibration/entry-lifetime.ts'
import { noFeedTally } from '../../../../bench/detection/calibration/feed-tally.ts'
import {
  weakWeightMax,
  measureWeight,
} from '../../../../bench/detection/calibration/measured-weight.ts'
import { wilsonShare } from '../../../../src/feedback/wilson-share.ts'
import type { Day } from '../../../../src/base/day.ts'

describe('wilson', () => {
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i is %f to %f', (hits, count, low, high) => {
    const found = wilsonShare(hits, count)
    expect(found.low).toBeCloseTo(low, 4)
    expect(found.high).toBeCloseTo(high, 4)
  })

  it('is symmetric, holds its share, and says nothing of nothing', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (count, part) => {
          const hits = Math.floor(part * count)
          const one = wilsonShare(hits, count)
          const other = wilsonShare(count - hits, count)
          expect(one.low).toBeCloseTo(1 - other.high, 9)
          expect(one.low).toBeLessThanOrEqual(one.share)
          expect(one.high).toBeGreaterThanOrEqual(one.share)
        },
      ),
    )
    expect(wilsonShare(0, 0)).toEqual({ share: Number.NaN, low: 0, high: 1 })
  })
})

describe('livesOf', () => {
  const day = (at: number): Day => (20_000 + at) as Day
  const life = (from: number, to: number): EntryLifetime => ({
    firstSeen: day(from),
    lastSeen: day(to),
  })
  const days = (last: number): Day[] => Array.from({ length: last + 1 }, (_, at) => day(at))

  it('leaves out what nobody saw begin, and counts who still lives as alive that long', () => {
    const found = estimateLifetime([life(0, 3), life(1, 1), life(1, 2), life(2, 10)], days(10))
    expect(found).toMatchObject({ begun: 3, censored: 1, medianDays: 2, daysMax: 10 })
    expect(found?.survival.slice(0, 4)).toEqual(
      [1, 2 / 3, 1 / 3, 1 / 3].map((x) => expect.closeTo(x, 9)),
    )
  })

  it('without censoring is the median of the lives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 50 })), {
          minLength: 1,
        }),
        (drawn) => {
          const lives = drawn.map(([from, length]) => life(from, from + length))
          const lengths = lives.map(({ firstSeen, lastSeen }) => lastSeen - firstSeen + 1)
          const sorted = lengths.sort((a, b) => a - b)
          const median = sorted[Math.ceil(sorted.length / 2) - 1]
          expect(estimateLifetime(lives, days(100))?.medianDays).toBe(median)
        },
      ),
    )
  })

  it('says how long at least where fewer than half ended, and nothing of one day', () => {
    expect(
      estimateLifetime([life(1, 9), life(2, 9), life(3, 4)], days(9))?.medianDays,
    ).toBeUndefined()
    expect(estimateLifetime([life(0, 0)], days(0))).toBeUndefined()
    expect(estimateLifetime([life(0, 4)], days(9))).toBeUndefined()
  })
})

describe('weightOf', () => {
  const feed = { assurance: 'good', provider: '', weight: 0.7 } as const
  const tally = { ...noFeedTally, entries: 1000 }

  it('is the prior and the evidence: 8 and 2, then 20 of 38.46 for half of a thousand', () => {
    const E = (40 * 1000) / 1040
    const { weight, why } = measureWeight(feed, { ...tally, confirmed: 500, contradicted: 100 })
    expect(weight).toBe(Math.round((100 * (8 + E * 0.5)) / (10 + E * 0.6)) / 100)
    expect(why).toBe('')
  })

  it('takes off what chance alone would confirm', () => {
    expect(measureWeight(feed, { ...tally, confirmed: 120, chance: 0.12 }).why).toBe(
      'nothing measured',
    )
    const { weight } = measureWeight(feed, { ...tally, confirmed: 560, chance: 0.12 })
    expect(weight).toBe(measureWeight(feed, { ...tally, confirmed: 500 }).weight)
  })

  it('stays as set by hand where nothing is measured', () => {
    expect(measureWeight(feed, undefined)).toMatchObject({ weight: 0.7, why: 'nothing measured' })
    expect(measureWeight(feed, { ...tally, settled: 900, unique: 1000 }).weight).toBe(0.7)
  })

  it('leaves an operator’s own list that nobody has fetched as it was set', () => {
    const own = { assurance: 'direct', provider: 'IVPN', weight: 0.5 } as const
    expect(measureWeight(own, undefined)).toMatchObject({ weight: 0.5, why: 'nothing measured' })
    expect(measureWeight(own, tally)).toMatchObject({ weight: 1, why: 'an operator’s own list' })
  })

  it('leaves an operator’s own list at 1, and ends a weak one at its limit', () => {
    const bad = { ...tally, contradicted: 1000 }
    expect(
      measureWeight({ ...feed, assurance: 'direct', provider: 'Tor Project' }, bad).weight,
    ).toBe(1)
    const good = { ...tally, confirmed: 1000 }
    expect(measureWeight({ ...feed, assurance: 'weak' }, good).weight).toBe(weakWeightMax)
  })

  it('rises with what is confirmed and falls with what is contradicted', () => {
    const share = fc.integer({ min: 100, max: 1000 })
    fc.assert(
      fc.property(share, share, fc.constantFrom('direct', 'good', 'weak'), (a, b, assurance) => {
        const [less, more] = a < b ? [a, b] : [b, a]
        const of = (confirmed: number, contradicted: number): number =>
          measureWeight({ ...feed, assurance }, { ...tally, confirmed, contradicted }).weight
        expect(of(more, 100)).toBeGreaterThanOrEqual(of(less, 100))
        expect(of(100, more)).toBeLessThanOrEqual(of(100, less))
      }),
    )
  })
})

describe('withWeight', () => {
  it('changes the number and nothing else, in every file of the catalogue', () => {
    for (const name of readdirSync(catalogueFolder).filter((name) => name.endsWith('.json'))) {
      const text = readFileSync(join(catalogueFolder, name), 'utf8')
      const mended = withWeight(text, 0.123, name)
      const { weight } = JSON.parse(text) as { readonly weight: number }
      expect(JSON.parse(mended)).toEqual({ ...(JSON.parse(text) as object), weight: 0.123 })
      expect(withWeight(mended, weight, name)).toBe(text)
    }
  })

  it('refuses a text with two weights or none', () => {
    for (const text of ['{}', '{"weight": 1, "x": {"weight": 0.5}}']) {
      expect(() => withWeight(text, 1, 'x.json')).toThrow(/x\.json/)
    }
  })
})
