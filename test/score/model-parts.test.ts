// The parts of the model, each beside a slow and obvious twin or a table of what it must say.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/base/day.ts'
import { kinds, levels, riskLevelOf } from '../../src/model/kind.ts'
import { blocklistOf } from '../../src/score/points/blocklist-points.ts'
import { bogonVerdict } from '../../src/score/bogon-verdict.ts'
import { decayOf, halfLifeDays, slowestDecay, turnovers } from '../../src/score/weight/decay.ts'
import { reasonCodes, reasonText } from '../../src/score/points/reason-codes.ts'
import { type GroupValue, strengthOf } from '../../src/score/weight/strength.ts'
import { weighEvidence } from '../../src/score/weight/weigh-evidence.ts'
import {
  carrier,
  codesOf,
  evidenceOf,
  home,
  hoster,
  judged,
  type Sample,
  today,
} from './evidence-sample.ts'

const words = fc.array(
  fc.record({
    group: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    value: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { maxLength: 10 },
)

/** The formula as it is written, group by group. */
function plainStrength(all: readonly GroupValue[]): number {
  let product = 1
  for (const group of new Set(all.map((word) => word.group))) {
    const own = all.filter((word) => word.group === group)
    product *= 1 - Math.max(...own.map((word) => word.value))
  }
  return 1 - product
}

describe('strength', () => {
  it('is the formula, to six decimals', () => {
    const check = fc.property(words, (all) => {
      expect(Math.abs(strengthOf(all) - plainStrength(all))).toBeLessThanOrEqual(0.6e-6)
    })
    fc.assert(check, { numRuns: 8_000, seed: 1 })
  })

  it('does not know the order of its words, and more of them never lower it', () => {
    const check = fc.property(words, (all) => {
      expect(strengthOf(all.toReversed())).toBe(strengthOf(all))
      expect(strengthOf(all)).toBeGreaterThanOrEqual(strengthOf(all.slice(1)))
    })
    fc.assert(check, { numRuns: 8_000, seed: 2 })
  })

  it('reaches a threshold where the arithmetic of the weights says so', () => {
    expect(strengthOf([{ group: 'a', value: 0.1 + 0.2 - 0.05 }])).toBe(0.25)
    const half = { value: 0.5 }
    expect(
      strengthOf([
        { group: 'a', ...half },
        { group: 'b', ...half },
      ]),
    ).toBe(0.75)
  })
})

describe('decay', () => {
  it('leaves a trace of a Tor exit for weeks, below what makes the signal', () => {
    const at = { turnover: 'elsewhere', measured: undefined } as const
    expect([1, 2, 3, 12, 21].map((age) => decayOf('tor', age, at))).toEqual([
      0.5, 0.25, 0.125, 0.0625, 0.03125,
    ])
    expect(decayOf('tor', 91, at)).toBe(0)
  })

  it('halves with each half-life of its kind and class of network, and ends after 90 days', () => {
    for (const kind of kinds.filter((one) => one !== 'tor')) {
      for (const turnover of turnovers) {
        const halfLife = halfLifeDays[kind]?.[turnover]
        for (let age = -3; age <= 120; age++) {
          const plain =
            halfLife === undefined ? 1 : age > 90 ? 0 : 0.5 ** (Math.max(0, age) / halfLife)
          expect(decayOf(kind, age, { turnover, measured: undefined })).toBeCloseTo(plain, 12)
        }
      }
    }
    const elsewhere = { turnover: 'elsewhere', measured: undefined } as const
    expect(decayOf('vpn', 90, elsewhere)).toBe(0.125)
    expect(decayOf('vpn', 91, elsewhere)).toBe(0)
    expect(decayOf('hosting', 4000, elsewhere)).toBe(1)
  })

  it('takes the half-life that was measured of the feed, where one was', () => {
    const measured = { lines: 5, shared: undefined }
    expect(decayOf('proxy', 10, { turnover: 'lines', measured })).toBe(0.25)
    expect(decayOf('proxy', 15, { turnover: 'shared', measured })).toBe(0.5)
    expect(decayOf('hosting', 10, { turnover: 'lines', measured })).toBe(1)
    expect(slowestDecay('proxy', 15, measured)).toBe(0.5)
    const old: Sample = { kind: 'proxy', feed: 'a', age: 10 }
    expect(judged([old], home).score).toBe(44)
    expect(judged([{ ...old, halfLives: measured }], home).score).toBe(18)
    expect(judged([{ ...old, halfLives: measured }], hoster).score).toBe(44)
  })
})

describe('level', () => {
  it('follows from the score alone', () => {
    const expected = [
      ['low', 0, 24],
      ['medium', 25, 49],
      ['high', 50, 74],
      ['very_high', 75, 89],
      ['critical', 90, 100],
    ] as const
    expect(expected.map(([level]) => level)).toEqual([...levels])
    for (const [level, first, last] of expected) {
      for (let score = first; score <= last; score++) expect(riskLevelOf(score)).toBe(level)
    }
  })
})

describe('confidence', () => {
  const feed = (id: string, rest: Partial<Sample> = {}): Sample => {
    return { kind: 'vpn', feed: id, weight: 0.5, assurance: 'weak', ...rest }
  }
  it.each([
    ['one weak feed', [feed('a')], 'low'],
    ['one good feed', [feed('a', { assurance: 'good' })], 'medium'],
    ['two independent feeds', [feed('a'), feed('b')], 'medium'],
    ['two feeds of one group', [feed('a'), feed('b', { group: 'a' })], 'low'],
    ['three independent feeds', [feed('a'), feed('b'), feed('c')], 'high'],
    ['the operator itself', [feed('a', { assurance: 'direct' })], 'high'],
  ] as const)('of %s', (_, samples, confidence) => {
    expect(judged(samples, home).proxy?.confidence).toBe(confidence)
  })

  it('does not count a voice below a tenth, faded or hardly believed', () => {
    const proxies = (other: Partial<Sample>): string | undefined => {
      const one = feed('a', { kind: 'proxy' })
      const another = feed('b', { kind: 'proxy', weight: 1, assurance: 'direct', ...other })
      return judged([one, another], hoster).proxy?.confidence
    }
    // 2^(−49/15) is 0.1039, 2^(−50/15) is 0.0992.
    expect([48, 49, 50, 51].map((age) => proxies({ age }))).toEqual(['high', 'high', 'low', 'low'])
    expect([0.1, 0.09].map((weight) => proxies({ weight }))).toEqual(['high', 'low'])
    expect(proxies({ assurance: 'weak', age: 49 })).toBe('medium')
  })
})

describe('blocklists', () => {
  const ipsum: Sample = { kind: 'blocklist', feed: 'block-ipsum', weight: 0.9 }
  const count = (samples: readonly Sample[]) => {
    const evidence = samples.map(evidenceOf)
    return blocklistOf(weighEvidence({ evidence, network: home, asOf: today }).byKind.blocklist)
  }

  it('count by the table of the specification', () => {
    const points = [1, 2, 3, 4, 5, 9].map((lists) => count([{ ...ipsum, lists }]).points)
    expect(points).toEqual([8, 15, 30, 30, 45, 45])
  })

  it('around an address fill up its own points to eight, and say nothing beside as many', () => {
    const near: Sample = { ...ipsum, feed: 'near-blocklist', match: 'near' }
    const around = (...own: readonly Sample[]) => {
      const { score, reasons } = judged([near, ...own], home)
      return { score, near: reasons.find(({ code }) => code === 'blocklist_neighbourhood')?.points }
    }
    expect(around()).toEqual({ score: 8, near: 8 })
    expect(around(ipsum)).toEqual({ score: 8, near: undefined })
    expect(around({ ...ipsum, lists: 2 })).toEqual({ score: 15, near: undefined })
  })

  it('add up over groups, not within one', () => {
    const other: Sample = { ...ipsum, feed: 'block-ddrimus', lists: 2 }
    expect(count([ipsum, other]).lists).toBe(3)
    expect(count([ipsum, { ...other, group: 'block-ipsum' }]).lists).toBe(2)
  })

  it('fade: eight lists become four, one stays until its strength is below 0.25', () => {
    expect(count([{ ...ipsum, lists: 8, age: 14 }]).lists).toBe(4)
    expect(count([{ ...ipsum, age: 25 }])).toMatchObject({ lists: 1, points: 8 })
    expect(count([{ ...ipsum, age: 26 }])).toEqual({
      lists: 0,
      voices: 0,
      points: 0,
      code: 'blocklist_faded',
    })
    const old = judged([{ ...ipsum, lists: 8, age: 91 }], home)
    expect([old.score, codesOf(old)]).toEqual([0, ['evidence_expired']])
  })

  it('count beside Tor or a proxy only from three on', () => {
    const exit: Sample = { kind: 'tor' }
    expect(judged([exit, { ...ipsum, lists: 2 }], home).score).toBe(85)
    expect(judged([exit, { ...ipsum, lists: 2 }], home).signals.blocklist_match).toBe(true)
    expect(judged([exit, { ...ipsum, lists: 3 }], home).score).toBe(100)
    expect(judged([{ kind: 'vpn' }, { ...ipsum, lists: 2 }], home).score).toBe(75)
    const beside = judged([{ kind: 'proxy' }, { ...ipsum, lists: 2 }], home)
    expect(beside.score).toBe(70)
    expect(codesOf(beside)).toContain('blocklist_explained')
  })
})

describe('bots', () => {
  const duck: Sample = { kind: 'bot', feed: 'bot-duckduckbot', provider: 'DuckDuckBot' }
  const assist: Sample = {
    kind: 'bot',
    feed: 'bot-duckassistbot',
    provider: 'DuckAssistBot',
    category: 'ai_tool',
  }
  it('of two that publish the same ranges the search crawler is named', () => {
    const bot = { confidence: 'high', provider: 'DuckDuckBot', category: 'search_crawler' }
    expect(judged([assist, duck], hoster).bot).toEqual(bot)
  })

  it('the operator is believed before a third party', () => {
    const bot = { confidence: 'high', provider: 'DuckAssistBot', category: 'ai_tool' }
    expect(judged([assist, { ...duck, assurance: 'good' }], hoster).bot).toEqual(bot)
  })

  it('three blocklists lift the cap', () => {
    const lists = (n: number): Sample => ({ kind: 'blocklist', lists: n })
    expect(judged([duck, lists(2)], hoster).score).toBe(10)
    // A feed that counts lists is one voice of the three that a verified bot needs.
    expect(judged([duck, lists(3)], hoster).score).toBe(10)
    const three = ['a', 'b', 'c'].map((feed): Sample => ({ ...lists(1), feed }))
    expect(judged([duck, ...three.slice(1)], hoster).score).toBe(10)
    expect(judged([duck, ...three], hoster)).toMatchObject({
      classification: 'known_bot',
      score: 35,
    })
  })
})

describe('mixed', () => {
  const weak = { weight: 0.6, assurance: 'weak' } as const
  const resident: Sample = { kind: 'residential_proxy', feed: 'r', weight: 0.7, assurance: 'good' }
  const vpn = (feed: string, age = 0): Sample => ({ kind: 'vpn', feed, age, ...weak })

  it('is residential proxy and VPN, both at least medium, both within 7 days', () => {
    const verdict = judged([resident, vpn('a'), vpn('b')], home)
    expect(verdict).toMatchObject({ classification: 'mixed', score: 80 })
    expect(codesOf(verdict)).toContain('floor_mixed')
    expect(verdict.proxy?.type).toBe('residential')
    expect(judged([resident, vpn('a', 7), vpn('b', 7)], home).classification).toBe('mixed')
  })

  it('is not, where one is weak, old, or named by an operator', () => {
    expect(judged([resident, vpn('a')], home).classification).toBe('residential_proxy')
    const old = judged([resident, vpn('a', 8), vpn('b', 8)], home)
    expect(old.classification).toBe('residential_proxy')
    const named = judged([resident, vpn('a'), { kind: 'vpn', feed: 'own', weight: 0.9 }], home)
    expect(named.classification).toBe('residential_proxy')
    expect(codesOf(named)).toContain('conflict_resolved')
  })

  it('is proxy and VPN outside of access networks: the same evidence is no household there', () => {
    const verdict = judged([resident, vpn('a'), vpn('b')], hoster)
    expect(verdict).toMatchObject({ classification: 'vpn' })
    expect(verdict.signals).toMatchObject({ proxy: true, residential_proxy: false })
  })
})

describe('days of the proxy finding', () => {
  const proxy: Sample = { kind: 'proxy', feed: 'a' }
  it('are over at least seven, the highest of several, never of a rolling window', () => {
    const percent = (...samples: readonly Sample[]) =>
      judged(samples, hoster).proxy?.percentDaysSeen
    expect(percent({ ...proxy, listed: 1, observed: 1 })).toBe(14.29)
    expect(percent({ ...proxy, listed: 30, observed: 30 })).toBe(100)
    const other: Sample = { ...proxy, feed: 'b', listed: 20 }
    expect(percent({ ...proxy, listed: 1 }, other)).toBe(66.67)
    expect(percent({ ...proxy, listed: 1 }, { ...other, rolling: true })).toBe(3.33)
    expect(percent({ ...other, rolling: true })).toBe(0)
    expect(percent({ ...proxy, listed: 7, observed: 7 })).toBe(100)
    expect(percent({ ...proxy, listed: 31, observed: 30 })).toBe(100)
  })

  it('are few below half of them, not at half', () => {
    const isRare = (listed: number): boolean => {
      const resident = { kind: 'residential_proxy', listed, observed: 30 } as const
      return codesOf(judged([resident], home)).includes('rarely_seen')
    }
    expect([1, 14, 15, 16].map(isRare)).toEqual([true, true, false, false])
  })

  it('end at the day that counts as today', () => {
    const verdict = judged([{ ...proxy, age: -24 }], hoster)
    expect(verdict.proxy?.lastSeen).toBe(today)
    const old = judged(
      [
        { ...proxy, age: 9 },
        { ...proxy, feed: 'b', age: 2 },
      ],
      hoster,
    )
    expect(old.proxy?.lastSeen).toBe((today - 2) as Day)
  })
})

describe('reasons', () => {
  it('have a stable code and one line of text each', () => {
    for (const code of reasonCodes) {
      expect(code).toMatch(/^[a-z][a-z0-9_]*$/)
      expect(reasonText(code)).toMatch(/^[A-Z].{10,90}[.?]$/)
    }
    expect(reasonText('of_a_newer_table')).toBe('of_a_newer_table')
    expect(reasonText('toString')).toBe('toString')
  })

  it('of a bogon is one, and its verdict is empty', () => {
    const trues = Object.entries(bogonVerdict.signals).filter(([, value]) => value)
    expect(trues).toEqual([['bogon', true]])
    expect(bogonVerdict.reasons).toEqual([{ code: 'bogon', points: 0 }])
    expect(riskLevelOf(bogonVerdict.score)).toBe('low')
  })
})

describe('what a piece of evidence is worth', () => {
  const range = (sample: Sample): Sample => ({ ...sample, match: 'range' })
  it('is 0.9 for a range, but 1 for the ranges that an operator states of itself', () => {
    expect(judged([range({ kind: 'vpn' })], hoster).score).toBe(54)
    expect(judged([range({ kind: 'hosting', assurance: 'good' })], hoster).score).toBe(36)
    expect(judged([range({ kind: 'hosting' })], hoster).score).toBe(40)
  })

  it('is that of a proxy where a household is not known to be', () => {
    const listed: Sample = { kind: 'residential_proxy' }
    for (const network of [hoster, undefined]) {
      expect(judged([listed], network)).toMatchObject({ classification: 'proxy', score: 70 })
    }
    expect(judged([listed], home)).toMatchObject({ classification: 'residential_proxy', score: 80 })
  })

  it('of a public proxy that nobody tested shrinks with the days unseen on lines that change hands', () => {
    expect(judged([{ kind: 'proxy', listed: 1 }], hoster).score).toBe(70)
    expect(judged([{ kind: 'proxy', listed: 1 }], home).score).toBe(70)
    const merelyListed: Sample = { kind: 'proxy', listed: 1, assurance: 'good' }
    expect(judged([merelyListed], home).score).toBe(36)
    // Tested long ago and listed today: each as far as it reaches.
    const tested: Sample = { kind: 'proxy', feed: 'tested', age: 30, listed: 1 }
    expect(judged([merelyListed, tested], home).score).toBe(36)
  })

  it('does not shrink in shared networks for relays and bots, nor for the very address', () => {
    expect(judged([range({ kind: 'relay' })], carrier).score).toBe(10)
    expect(judged([range({ kind: 'bot' })], carrier).score).toBe(5)
    expect(judged([{ kind: 'vpn' }], carrier).score).toBe(60)
    const discounted = judged([range({ kind: 'vpn' })], carrier)
    expect(discounted).toMatchObject({ classification: 'vpn', score: 22 })
    expect(codesOf(discounted)).toContain('shared_network')
  })
})

describe('caps and floors', () => {
  it('leave Tor above 74 in a shared network', () => {
    expect(judged([{ kind: 'tor' }], carrier).score).toBe(85)
    expect(judged([{ kind: 'proxy' }, { kind: 'vpn' }], carrier).score).toBe(74)
  })

  it('take the lowest of several caps', () => {
    const corporate = { ...carrier, corporate: true }
    const verdict = judged([{ kind: 'tor' }, { kind: 'proxy' }], corporate)
    expect(verdict.score).toBe(30)
    expect(codesOf(verdict)).toContain('cap_corporate')
  })

  it('need two independent voices to confirm a residential proxy', () => {
    const resident: Sample = { kind: 'residential_proxy', weight: 0.6, group: 'a' }
    const proxy: Sample = { kind: 'proxy', weight: 0.6 }
    expect(judged([resident, proxy], home).score).toBe(80)
    expect(judged([resident, { ...proxy, group: 'a' }], home).score).toBe(58)
    expect(judged([resident, { ...proxy, age: 8 }], home).score).toBe(58)
  })

  it('keep the relay where a VPN names a whole range, whoever does', () => {
    const verdict = judged([{ kind: 'relay' }, { kind: 'vpn', match: 'range' }], home)
    expect(verdict).toMatchObject({ classification: 'clean', score: 10 })
    const named = judged([{ kind: 'relay' }, { kind: 'vpn' }], home)
    expect(named).toMatchObject({ classification: 'vpn', score: 70 })
  })
})
