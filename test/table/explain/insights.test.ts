// Insights against plain twins: the verdict judged again, the space around an address counted from
// the listed texts, days and feeds asked for one by one.

import { describe, expect, it } from 'vitest'
import type { Insights, InsightsAnswer } from '../../../src/api/insights-answer.ts'
import { type Range, parseRange } from '../../../src/ip/range.ts'
import { builtMsOf } from '../../../src/table/file/header.ts'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { asOf, listed, networkRanges, writeSmallTable } from '../small-table.ts'

const path = writeSmallTable()
const table = { ...openTable(path), builtMs: Date.UTC(2026, 7, 22, 3, 4, 5) }

function insightsOf(text: string): Insights {
  const insights = answerWithInsights(table, text)?.insights
  if (insights === undefined || insights === null) throw new Error(`no insights of ${text}`)
  return insights
}

const addresses = [
  '9.1.2.3',
  '9.1.2.4',
  '9.200.1.1',
  '11.5.5.5',
  '11.1.1.1',
  '12.0.0.5',
  '9.9.9.9',
  '11.66.1.1',
  '9.77.0.7',
  '13.0.0.1',
  '10.0.0.1',
  '2a01:4f8::1',
  '2a01:4f8::2',
  '2a01:4f8::3',
  '2a00:1:2:3:ffff::',
  '2a02::1',
  '2002:0b01:0102::1',
  '::ffff:9.1.2.3',
  '64:ff9b::b01:101',
  '2002:901:203::',
  '2c00::1',
]

describe('insights', () => {
  it.each(addresses)('of %s follow from the same evidence as the answer', (text) => {
    const answer = answerWithInsights(table, text) as InsightsAnswer
    const insights = insightsOf(text)
    const { insights: _insights, ...plain } = answer
    expect(plain).toEqual(table.check(text))
    expect(insights.reasons.map(({ code }) => code)).toEqual(answer.reasons)
    const points = insights.reasons.reduce((sum, reason) => sum + reason.points, 0)
    expect(points).toBe(answer.risk_score)
    const [low, high] = insights.score_range
    expect(low).toBeLessThanOrEqual(answer.risk_score)
    expect(high).toBeGreaterThanOrEqual(answer.risk_score)
    const feeds = new Set(insights.evidence.map(({ feed }) => feed))
    const { without_feed: without } = insights.counterfactuals
    expect(without.map(({ feed }) => feed)).toEqual([...feeds])
  })

  it('name the table, the day it was built and the day that counts as today', () => {
    const expected = { id: table.id, built_at: '2026-08-22T03:04:05.000Z', as_of: '2026-08-22' }
    expect(insightsOf('9.1.2.3').table).toEqual(expected)
    expect(builtMsOf(path)).toBeGreaterThan(Date.UTC(2020, 0))
  })

  it('tell what would be without a feed, and other words that might have stood there', () => {
    const { counterfactuals, alternatives, evidence } = insightsOf('11.1.1.1')
    expect(counterfactuals.without_feed).toEqual([
      { feed: 'test-feed', classification: 'hosting', risk_level: 'medium', risk_score: 25 },
      { feed: 'table-hosting', classification: 'vpn', risk_level: 'high', risk_score: 67 },
    ])
    expect(alternatives).toEqual([
      { classification: 'hosting', strength: 0.95, confidence: 'high' },
    ])
    expect(evidence.map(({ matched, match }) => [matched, match])).toEqual([
      ['11.0.0.0/8', 'range'],
      ['11.1.1.1', 'exact'],
      ['AS64497', 'as'],
    ])
  })

  it('tell when a score falls below each level, and that hosting does not', () => {
    // VPN 57 points, hosting 10 beside it. 57 · 2^(−d/30) + 10 rounds below 50 from d = 16 on.
    expect(insightsOf('11.1.1.1').counterfactuals.falls_below).toEqual([
      { risk_level: 'high', day: '2026-09-07' },
      { risk_level: 'medium', day: null },
    ])
    // Tor 81, 40, 20, 10; from the third day on, below its signal, the blocklist's 8 count beside
    // it.
    expect(insightsOf('9.1.2.3').counterfactuals.falls_below.map(({ day }) => day)).toEqual([
      '2026-08-23',
      '2026-08-23',
      '2026-08-25',
    ])
    expect(insightsOf('10.0.0.1').counterfactuals.falls_below).toEqual([])
  })
})

const unitBits = { 4: 0n, 6: 64n } as const

/** How many addresses or /64s of `scope` the ranges touch, each once: a set of all of them. */
function touched(scope: Range, ranges: readonly Range[]): number {
  const bits = unitBits[scope.family]
  const units = new Set<bigint>()
  for (const { first, last } of ranges) {
    const from = first > scope.first ? first : scope.first
    const to = last < scope.last ? last : scope.last
    if (from > to) continue
    for (let unit = from >> bits; unit <= to >> bits; unit++) units.add(unit)
  }
  return units.size
}

describe('the neighbourhood', () => {
  it.each([
    ['9.1.2.77', ['9.1.2.0/24', '9.1.0.0/20', 'AS64496']],
    ['9.1.15.255', ['9.1.15.0/24', '9.1.0.0/20', 'AS64496']],
    ['9.77.0.9', ['9.77.0.0/24', '9.77.0.0/20', 'AS64496']],
    ['9.200.255.255', ['9.200.255.0/24', '9.200.240.0/20', 'AS64496']],
    ['12.0.0.1', ['12.0.0.0/24', '12.0.0.0/20', 'AS64498']],
    ['2a01:4f8::77', ['2a01:4f8::/64', '2a01:4f8::/48', 'AS64497']],
    ['2a00:1:2:4::', ['2a00:1:2:4::/64', '2a00:1:2::/48', 'AS64496']],
    ['2a00:1:2:3::', ['2a00:1:2:3::/64', '2a00:1:2::/48', 'AS64496']],
    ['2a02:1::', ['2a02:1::/64', '2a02:1::/48', 'AS64498']],
  ] as const)('of %s is what the listed texts say', (text, scopes) => {
    const { neighborhood } = insightsOf(text)
    expect(neighborhood.map(({ scope }) => scope)).toEqual(scopes)
    const ranges = listed.map(([one, kind]) => ({ kind, range: parseRange(one) as Range }))
    for (const { scope, size, listed: found } of neighborhood.slice(0, 2)) {
      const span = parseRange(scope) as Range
      expect(size).toBe(Number((span.last - span.first + 1n) >> unitBits[span.family]) || 1)
      const family = ranges.filter(({ range }) => range.family === span.family)
      for (const kind of new Set(family.map((one) => one.kind))) {
        const own = family.filter((one) => one.kind === kind).map(({ range }) => range)
        const expected = touched(span, own)
        const density = found.find((one) => one.kind === kind)
        expect([kind, density?.listed ?? 0]).toEqual([kind, expected])
        if (density === undefined) continue
        expect(density.percent).toBeCloseTo((expected / size) * 100, 4)
      }
    }
  })

  it('is held against the norm of the AS', () => {
    const [narrow, , as] = insightsOf('9.1.2.77').neighborhood
    // 9.0.0.0/8 holds one Tor exit: 1 of 256 here, 1 of 2^24 there.
    expect(as).toMatchObject({ size: 2 ** 24, unit: 'address' })
    expect(as?.listed.find(({ kind }) => kind === 'tor')).toMatchObject({
      listed: 1,
      times_asn: null,
    })
    expect(narrow?.listed.find(({ kind }) => kind === 'tor')?.times_asn).toBe(2 ** 16)
  })

  it('counts an AS as its ranges do', () => {
    for (const [text, network] of networkRanges) {
      const span = parseRange(text) as Range
      const { neighborhood } = insightsOf(text.replace(/\/.*/, ''))
      const as = neighborhood.at(-1)
      expect(as?.scope).toBe(`AS${64495 + network}`)
      expect(as?.size).toBe(Number((span.last - span.first + 1n) >> unitBits[span.family]))
      for (const { kind, listed: count } of as?.listed ?? []) {
        const ranges = listed
          .filter((one) => one[1] === kind)
          .map(([one]) => parseRange(one) as Range)
          .filter(({ family, first }) => family === span.family && first >= span.first)
          .filter(({ last }) => last <= span.last)
        // Too many to touch one by one: none of the ranges overlap here.
        const units = new Set<bigint>()
        const large = ranges.filter(
          (one) => (one.last - one.first) >> unitBits[span.family] > 4096n,
        )
        const small = ranges.filter((one) => !large.includes(one))
        for (const one of small) {
          const bits = unitBits[span.family]
          for (let unit = one.first >> bits; unit <= one.last >> bits; unit++) units.add(unit)
        }
        const wide = large.reduce(
          (sum, one) => sum + Number((one.last - one.first + 1n) >> unitBits[span.family]),
          0,
        )
        const inside = [...units].filter(
          (unit) =>
            !large.some(
              (one) =>
                one.first >> unitBits[span.family] <= unit &&
                unit <= one.last >> unitBits[span.family],
            ),
        )
        expect([text, kind, count]).toEqual([text, kind, wide + inside.length])
      }
    }
  })

  it('is empty for a bogon, and without an AS where nobody announces', () => {
    expect(insightsOf('10.0.0.1').neighborhood).toEqual([])
    expect(insightsOf('13.0.0.1').neighborhood).toHaveLength(2)
    expect(asOf).toBe(table.asOf)
  })
})
