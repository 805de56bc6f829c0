// Counterfactuals, the score's range and alternatives against judge itself, asked one by one.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/base/day.ts'
import { levelFloors } from '../../../src/model/kind.ts'
import { presentStrengthMin } from '../../../src/score/weight/strength.ts'
import {
  alternativesOf,
  levelFallsOf,
  scoreRange,
  withoutFeeds,
} from '../../../src/score/what-if/counterfactual.ts'
import { type JudgeInput, judgeWithFindings, judge } from '../../../src/score/judge.ts'
import {
  evidenceArbitrary,
  evidenceOf,
  networkArbitrary,
  networkOf,
  today,
} from '../evidence-sample.ts'

const inputs = fc
  .record({
    evidence: fc.array(evidenceArbitrary, { maxLength: 6 }),
    network: networkArbitrary,
  })
  .map((input): JudgeInput => ({ ...input, asOf: today }))

describe('falls', () => {
  it('are the first day with a lower score, of all the next days', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { score } = judge(input)
        const falls = levelFallsOf(input, score)
        expect(falls.map(({ level }) => level)).toEqual(
          levelFloors.filter(({ least }) => least > 0 && least <= score).map(({ level }) => level),
        )
        for (const { least, day } of falls) {
          let first: number | undefined
          for (let ahead = 1; ahead <= 200 && first === undefined; ahead++) {
            const asOf = (today + ahead) as Day
            if (judge({ ...input, asOf }).score < least) first = asOf
          }
          expect(day).toBe(first)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('follow the half-life: a VPN of 60 points is below 50 on the eighth day', () => {
    const input = { evidence: [evidenceOf({ kind: 'vpn' })], network: networkOf({}), asOf: today }
    expect(levelFallsOf(input, judge(input).score)).toEqual([
      // 60 · 2^(−d/30) rounds below 50 at d = 9: 48.7; at 8 it is 49.9, which is 50 points.
      { level: 'high', least: 50, day: today + 9 },
      { level: 'medium', least: 25, day: today + 39 },
    ])
  })
})

describe('verdicts without a feed', () => {
  it('are those of the evidence that is left', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        for (const { feed, verdict } of withoutFeeds(input)) {
          const left = input.evidence.filter(({ voice }) => voice.id !== feed)
          expect(left.length).toBeLessThan(input.evidence.length)
          expect(verdict).toEqual(judge({ ...input, evidence: left }))
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('the range of a score', () => {
  it('holds the score, and is a point where every weight is certain', () => {
    fc.assert(
      fc.property(inputs, fc.double({ min: 0, max: 0.3, noNaN: true }), (input, doubt) => {
        const { score } = judge(input)
        const weights = new Map(input.evidence.map(({ voice }) => [voice.id, voice.weight]))
        const [low, high] = scoreRange(input, score, (feed) => {
          const weight = weights.get(feed) ?? 0
          return { low: Math.max(0, weight - doubt), high: Math.min(1, weight + doubt) }
        })
        expect(low).toBeLessThanOrEqual(score)
        expect(high).toBeGreaterThanOrEqual(score)
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(100)
        expect(scoreRange(input, score, () => undefined)).toEqual([score, score])
      }),
      { numRuns: 200 },
    )
  })

  it('is what both ends of one weight give', () => {
    const evidence = [evidenceOf({ kind: 'vpn', weight: 0.6 })]
    const input = { evidence, network: networkOf({}), asOf: today }
    expect(scoreRange(input, 36, () => ({ low: 0.4, high: 0.8 }))).toEqual([24, 48])
  })

  it('asks for each feed alone: a relay of which one may doubt lifts its cap', () => {
    const evidence = [
      evidenceOf({ kind: 'relay', feed: 'r', weight: 0.5, match: 'range' }),
      evidenceOf({ kind: 'vpn', feed: 'v', weight: 0.9, assurance: 'weak' }),
    ]
    const input = { evidence, network: networkOf({}), asOf: today }
    const { score } = judge(input)
    const [, high] = scoreRange(input, score, (feed) =>
      feed === 'r' ? { low: 0.1, high: 0.9 } : { low: 0.3, high: 1 },
    )
    expect(score).toBe(5)
    expect(high).toBe(55)
  })
})

describe('alternatives', () => {
  it('are the other kinds with a strength, strongest first', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { verdict, findings } = judgeWithFindings(input)
        expect(verdict).toEqual(judge(input))
        const found = alternativesOf(findings, verdict.classification)
        expect(found.map(({ classification }) => classification)).not.toContain(
          verdict.classification,
        )
        const strengths = found.map(({ strength }) => strength)
        expect(strengths).toEqual(strengths.toSorted((a, b) => b - a))
        for (const { classification, strength } of found) {
          if (classification === 'known_bot') continue
          const signal = verdict.signals[classification as 'vpn']
          expect(strength >= presentStrengthMin).toBe(signal)
        }
      }),
      { numRuns: 200 },
    )
  })
})
