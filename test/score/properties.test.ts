// What holds for every verdict, over random evidence (contract 3.5 to 3.7, scoring.md's rules).

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../src/model/verdict.ts'
import { judge } from '../../src/score/judge.ts'
import { reasonTexts } from '../../src/score/reason.ts'
import { codesOf, evidenceArbitrary, networkArbitrary, signalsOf, today } from './sample.ts'

const evidenceSets = fc.array(evidenceArbitrary, { maxLength: 8 })
const runs = { numRuns: 20_000, seed: 20260822 }

/** Reasons through which more evidence may lower a score (rule 2). */
const lowering = [
  'cap_bot',
  'cap_relay',
  'cap_corporate',
  'cap_clean',
  'cap_shared',
  'range_suppressed_by_relay',
  'blocklist_explained',
  'conflict_resolved',
]

const typeOfClass = new Map([
  ['proxy', 'proxy'],
  ['vpn', 'vpn'],
  ['tor', 'tor'],
  ['hosting', 'data_center'],
  ['residential_proxy', 'residential'],
])

/** Names of the invariants that a verdict breaks. */
function brokenBy(verdict: Verdict): readonly string[] {
  const { classification, signals, proxy, bot, score, reasons } = verdict
  const { tor, vpn, hosting, residential_proxy } = signals
  const any = signals.proxy || tor || vpn || hosting || residential_proxy
  const type = typeOfClass.get(classification)
  const clean = classification === 'clean'
  const sum = reasons.reduce((total, { points }) => total + points, 0)
  const holds = {
    'reasons add up to the score': sum === score,
    'the score is whole and on the scale': Number.isInteger(score) && score >= 0 && score <= 100,
    'points are whole': reasons.every(({ points }) => Number.isInteger(points)),
    'codes are known': reasons.every(({ code }) => Object.hasOwn(reasonTexts, code)),
    'each code stands once': new Set(codesOf(verdict)).size === reasons.length,
    'proxy is there exactly when a signal says so': (proxy !== undefined) === any,
    'no evidence makes a bogon': !signals.bogon && classification !== 'bogon',
    'a class has its own signal': !type || signalsOf(verdict).includes(classification),
    'proxy.type matches the class': !type || proxy?.type === type,
    'clean has no signal, proxy or bot': !clean || (!any && bot === undefined),
    'clean is at most 49': !clean || score <= 49,
    'mixed has two high-risk signals': classification !== 'mixed' || (residential_proxy && vpn),
    'mixed is at least 80 or capped':
      classification !== 'mixed' || score >= 80 || isCapped(verdict),
    'a known bot is named': classification !== 'known_bot' || bot !== undefined,
    'a verified bot is a known bot': bot?.confidence !== 'high' || classification === 'known_bot',
    'a match is a reason with points':
      signals.blocklist_match === codesOf(verdict).some((code) => /^blocklist_\d$/.test(code)),
  }
  return Object.entries(holds).flatMap(([name, value]) => (value ? [] : [name]))
}

function isCapped(verdict: Verdict): boolean {
  return codesOf(verdict).some((code) => code.startsWith('cap_'))
}

describe('judge, over random evidence', () => {
  it('keeps the ledger, the scale and the meaning of each class', () => {
    const seen = new Set<string>()
    const check = fc.property(evidenceSets, networkArbitrary, (evidence, network) => {
      const verdict = judge({ evidence, network, asOf: today })
      expect(brokenBy(verdict)).toEqual([])
      for (const code of codesOf(verdict)) seen.add(code)
      seen.add(verdict.classification)
    })
    fc.assert(check, runs)
    // A generator that never reaches a class or a reason proves nothing of it.
    const reached = Object.keys(reasonTexts).filter((code) => !seen.has(code))
    expect(reached).toEqual(['bogon'])
    for (const name of ['clean', 'known_bot', 'mixed', ...typeOfClass.keys()]) {
      expect(seen).toContain(name)
    }
  })

  it('is deterministic and knows no order of the evidence', () => {
    const shuffled = evidenceSets.chain((evidence) =>
      fc.tuple(
        fc.constant(evidence),
        fc.shuffledSubarray(evidence, { minLength: evidence.length, maxLength: evidence.length }),
      ),
    )
    const check = fc.property(shuffled, networkArbitrary, ([evidence, other], network) => {
      const verdict = judge({ evidence, network, asOf: today })
      expect(judge({ evidence: other, network, asOf: today })).toEqual(verdict)
      expect(judge({ evidence: structuredClone(evidence), network, asOf: today })).toEqual(verdict)
    })
    fc.assert(check, runs)
  })

  it('never lowers a score for more evidence except through a reason that says so', () => {
    let raised = 0
    let lowered = 0
    const check = fc.property(
      evidenceSets,
      evidenceArbitrary,
      networkArbitrary,
      (evidence, more, network) => {
        const before = judge({ evidence, network, asOf: today })
        const after = judge({ evidence: [...evidence, more], network, asOf: today })
        if (after.score > before.score) raised += 1
        if (after.score >= before.score) return
        lowered += 1
        // The reason is new, or it weighs more than before.
        const old = new Map(before.reasons.map(({ code, points }) => [code, points]))
        const why = after.reasons.filter(
          ({ code, points }) => lowering.includes(code) && points < (old.get(code) ?? Infinity),
        )
        expect(why).not.toEqual([])
      },
    )
    fc.assert(check, runs)
    expect(raised).toBeGreaterThan(1000)
    expect(lowered).toBeGreaterThan(10)
  })

  it('takes a second voice of a group for the first where it says no more', () => {
    const check = fc.property(
      fc.array(evidenceArbitrary, { minLength: 1, maxLength: 6 }),
      networkArbitrary,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (evidence, network, share) => {
        const [first] = evidence
        if (first === undefined) return
        const voice = { ...first.voice, id: 'republisher', weight: first.voice.weight * share }
        const copy = { ...first, voice: { ...voice, assurance: 'weak' as const }, provider: '' }
        // The hand-kept table is believed under its own name alone.
        if (first.voice.id === 'table-hosting' && first.match === 'as') return
        const before = judge({ evidence, network, asOf: today })
        const after = judge({ evidence: [...evidence, copy], network, asOf: today })
        expect(after.score).toBe(before.score)
        expect(after.signals).toEqual(before.signals)
        expect(after.classification).toBe(before.classification)
        expect(after.proxy?.confidence).toBe(before.proxy?.confidence)
      },
    )
    fc.assert(check, runs)
  })
})
