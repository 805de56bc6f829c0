// Half-lives found again in histories that were made with one.

import { describe, expect, it } from 'vitest'
import {
  type DailyListing,
  absenceBuckets,
  fittedHalfLife,
  halfLivesToKeep,
  measureHalfLives,
} from '../../../../bench/detection/calibration/half-life.ts'
import { withHalfLives, withWeight } from '../../../../bench/detection/calibration/apply-weights.ts'
import type { Feed } from '../../../../build/catalogue/feed.ts'
import type { Day } from '../../../../src/base/day.ts'

const days = Array.from({ length: 61 }, (_, at) => at as Day)

function listing(listed: Iterable<readonly [string, readonly Day[]]>): DailyListing {
  return { days, listed: new Map(listed) }
}

/** Numbers from 0 to 1, the same each time. */
function newDice(): () => number {
  let state = 7
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}

describe('measureHalfLives', () => {
  it('finds how long an independent feed goes on naming what left', () => {
    const roll = newDice()
    const own: [string, Day[]][] = []
    const other: [string, Day[]][] = []
    for (let at = 0; at < 4000; at++) {
      const address = `a${at}`
      // Listed on the first day alone; named elsewhere for a time with a half-life of 12 days.
      own.push([address, [days[0]!]])
      const life = Math.floor(-12 * Math.log2(1 - roll()))
      other.push([address, days.slice(0, life + 1)])
    }
    const [found] = measureHalfLives(listing(own), [listing(other)], () => 'lines')
    expect(found).toMatchObject({ turnover: 'lines', departures: 4000 })
    expect(found?.curve.by).toBe('confirmed')
    expect(found?.curve.start).toEqual({ seen: 4000, asked: 4000 })
    expect(found?.curve.days).toBeGreaterThan(11)
    expect(found?.curve.days).toBeLessThan(13)
  })

  it('takes returns where no independent feed is, by class of network', () => {
    const roll = newDice()
    const own: [string, Day[]][] = []
    for (let at = 0; at < 20_000; at++) {
      const seen = [days[0]!]
      for (let age = 1; age <= 60; age++) {
        // The chance to come back halves in ten days.
        if (roll() < 0.01 * 2 ** (-age / 10)) {
          seen.push(days[age]!)
          break
        }
      }
      own.push([`a${at}`, seen])
    }
    const found = measureHalfLives(listing(own), [], (address) =>
      Number(address.slice(1)) % 2 === 0 ? 'lines' : 'shared',
    )
    expect(found.map(({ turnover }) => turnover)).toEqual(['lines', 'shared'])
    for (const { curve } of found) {
      expect(curve.by).toBe('returned')
      expect(curve.days).toBeGreaterThan(6)
      expect(curve.days).toBeLessThan(16)
    }
  })

  it('measures nothing of too little, nor of what does not fall', () => {
    const [few] = measureHalfLives(listing([['a', [days[0]!]]]), [], () => 'lines')
    expect(few?.curve.days).toBeUndefined()
    const steady = absenceBuckets.map(() => ({ seen: 100, asked: 1000 }))
    expect(fittedHalfLife({ seen: 100, asked: 1000 }, steady)).toBeUndefined()
  })

  it('knows nothing of days without a snapshot', () => {
    const holes = { days: [0, 1, 5, 6] as Day[], listed: new Map([['a', [0, 6] as Day[]]]) }
    const [found] = measureHalfLives(holes, [], () => 'elsewhere')
    const asked = found?.curve.points.map(({ asked }) => asked)
    expect(asked).toEqual([1, 0, 2, 0, 0, 0, 0, 0])
    expect(found?.curve.points[2]?.seen).toBe(1)
  })
})

describe('halfLivesToKeep', () => {
  const curve = (by: 'confirmed' | 'returned', days: number | undefined, asked = 100) => ({
    by,
    start: { seen: 50, asked },
    points: absenceBuckets.map(() => ({ seen: 10, asked })),
    days,
  })

  it('takes what others confirm, and of residential proxies what returns', () => {
    const measured = [
      { turnover: 'lines', departures: 9, curve: curve('confirmed', 15) },
      { turnover: 'elsewhere', departures: 9, curve: curve('returned', 8) },
      { turnover: 'shared', departures: 9, curve: curve('confirmed', 40) },
    ] as const
    const kept = (kind: Feed['kind'], rolling = false) =>
      halfLivesToKeep({ kind, rolling }, measured)
    expect(kept('proxy')).toEqual({ lines: 15 })
    expect(kept('residential_proxy')).toEqual({ lines: 15, elsewhere: 8 })
    expect(kept('residential_proxy', true)).toEqual({ lines: 15 })
    expect(kept('tor')).toEqual({})
    const unwatched = [{ ...measured[0], curve: curve('confirmed', 15, 10) }]
    expect(halfLivesToKeep({ kind: 'proxy', rolling: false }, unwatched)).toEqual({})
  })

  it('leaves alone what was set by hand, for longer than any history', () => {
    const measured = [
      { turnover: 'elsewhere', departures: 9, curve: curve('confirmed', 12) },
    ] as const
    const kept = (elsewhere: number) =>
      halfLivesToKeep({ kind: 'vpn', rolling: false, half_life_days: { elsewhere } }, measured)
    expect(kept(649)).toEqual({ elsewhere: 649 })
    expect(kept(90)).toEqual({ elsewhere: 12 })
  })

  it('writes them behind the weight, in the place of those before', () => {
    const text = '{\n  "id": "a",\n  "weight": 0.5,\n  "rolling": false\n}\n'
    const written = withHalfLives(text, { lines: 15, elsewhere: 8.2 })
    expect(JSON.parse(written)).toMatchObject({ half_life_days: { lines: 15, elsewhere: 8.2 } })
    expect(withHalfLives(written, { lines: 15, elsewhere: 8.2 })).toBe(written)
    expect(withHalfLives(written, {})).toBe(text)
    const nested = text.replace('"rolling"', '"networks": {\n    "weight": 0.8\n  },\n  "rolling"')
    expect(JSON.parse(withWeight(nested, 0.7, 'a'))).toMatchObject({
      weight: 0.7,
      networks: { weight: 0.8 },
    })
  })
})
