// What callers' outcomes say of feeds, and how far they move a weight.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noFeedTally } from '../../../../bench/detection/calibration/feed-tally.ts'
import {
  countedOutcomesMax,
  measureWeight,
} from '../../../../bench/detection/calibration/measured-weight.ts'
import {
  type OutcomeTally,
  outcomeShares,
  outcomesJudged,
  tallyOutcomes,
} from '../../../../bench/detection/calibration/outcome-tally.ts'
import { feedOf, fileOf, worldOf } from '../detection-sample.ts'

const feed = { assurance: 'good', provider: '', weight: 0.7 } as const
const tally = { ...noFeedTally, entries: 1000, confirmed: 500, contradicted: 100 }
const reported = (addresses: number, abusive: number, chance: number): OutcomeTally => ({
  addresses,
  abusive,
  chance,
})
const weight = (outcomes?: OutcomeTally): number => measureWeight(feed, tally, outcomes).weight

describe('tallyOutcomes', () => {
  it('counts each address for every feed that lists it, and what chance would give', async () => {
    const world = await worldOf([
      fileOf(feedOf({ id: 'vpn-a', kind: 'vpn' }), ['20.0.0.0/24']),
      fileOf(feedOf({ id: 'proxy-b', kind: 'proxy' }), ['20.0.0.1', '20.0.0.2']),
      fileOf(feedOf({ id: 'bot', kind: 'bot', provider: 'Bot', category: 'ai_tool' }), [
        '20.0.0.0/24',
      ]),
    ])
    const outcome = (address: string, outcome: 'abusive' | 'legitimate') => ({ address, outcome })
    const found = tallyOutcomes(world, [
      outcome('20.0.0.1', 'abusive'),
      outcome('20.0.0.2', 'legitimate'),
      outcome('20.0.0.3', 'legitimate'),
      outcome('21.0.0.1', 'legitimate'),
      outcome('nonsense', 'abusive'),
    ])
    expect(Object.fromEntries(found)).toEqual({
      'vpn-a': { addresses: 3, abusive: 1, chance: 0.25 },
      'proxy-b': { addresses: 2, abusive: 1, chance: 0.25 },
      // The AS of 21.0.0.1 is a hoster to these.
      'asn-peeringdb-classes': { addresses: 1, abusive: 0, chance: 0.25 },
      'hosting-asn-x4b': { addresses: 1, abusive: 0, chance: 0.25 },
    })
    expect(tallyOutcomes(world, []).size).toBe(0)
  })
})

describe('outcomes in a weight', () => {
  it('are one voice: they raise and lower it, and never by more than a quarter of the others', () => {
    expect(weight(reported(5000, 4500, 0.1))).toBeGreaterThan(weight())
    expect(weight(reported(5000, 50, 0.1))).toBeLessThan(weight())
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.nat(100_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (a, b, chance) => {
          const [abusive, addresses] = a < b ? [a, b] : [b, a]
          const { confirmed, contradicted } = outcomeShares(reported(addresses, abusive, chance))
          expect(Math.min(confirmed, contradicted)).toBe(0)
          expect(Math.max(confirmed, contradicted)).toBeLessThanOrEqual(1)
          const all = reported(addresses, abusive, chance)
          const [E, a0, b0] = [(40 * 1000) / 1040, 8, 2]
          const most =
            (a0 + E * 0.5 + countedOutcomesMax) / (a0 + b0 + E * 0.6 + countedOutcomesMax)
          const least = (a0 + E * 0.5) / (a0 + b0 + E * 0.6 + countedOutcomesMax)
          expect(weight(all)).toBeLessThanOrEqual(most + 0.005)
          expect(weight(all)).toBeGreaterThanOrEqual(least - 0.005)
        },
      ),
    )
  })

  it('say nothing where they are few, or what chance would give', () => {
    expect(weight(reported(outcomesJudged - 1, outcomesJudged - 1, 0.1))).toBe(weight())
    expect(weight(reported(1, 1, 0))).toBe(weight())
    expect(weight(reported(1000, 100, 0.1))).toBe(weight())
    expect(weight(reported(1000, 105, 0.1))).toBe(weight())
  })

  it('measure what nothing else has measured, and leave an own list at 1', () => {
    expect(measureWeight(feed, undefined, reported(1000, 900, 0.1)).why).toBe('')
    const own = { ...feed, assurance: 'direct', provider: 'Tor Project' } as const
    expect(measureWeight(own, undefined, reported(1000, 0, 0.5)).weight).toBe(1)
  })
})
