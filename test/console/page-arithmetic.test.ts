// The small arithmetic behind what the console's page draws and links to.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { curlCommand, parseRoute, routeTo, views } from '../../src/console/page/route.ts'
import {
  change,
  dayAfter,
  duration,
  percent,
  rate,
  sharesBy,
  utcTime,
} from '../../src/console/page/text/figures.ts'
import { placeMistake } from '../../src/console/page/text/policy-mistakes.ts'
import { scorePieces } from '../../src/console/page/text/score-pieces.ts'
import { seriesNames, stacked } from '../../src/console/page/traffic/traffic-charts.ts'
import { actionTone, kindTone, reasonTone } from '../../src/console/page/text/tone.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'

describe('the bar of a score', () => {
  const reasons = (points: readonly number[]) =>
    points.map((one, at) => ({ code: `r${at}`, points: one }))

  it('takes points away from the newest before them', () => {
    expect(scorePieces(reasons([85, 27, 23, 0, -40, 30, -25]))).toEqual([
      { code: 'r0', from: 0, to: 85 },
      { code: 'r1', from: 85, to: 95 },
      { code: 'r5', from: 95, to: 100 },
    ])
    expect(scorePieces(reasons([40, 20, -60]))).toEqual([])
  })

  it('reaches to the score without a gap, and no piece has more than its reason', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 60 })), fc.nat(), (given, cut) => {
        const all = given.reduce((sum, one) => sum + one, 0)
        const taken = cut % (all + 1)
        let end = 0
        for (const { code, from, to } of scorePieces(reasons([...given, -taken]))) {
          expect(from).toBe(end)
          expect(to - from).toBeLessThanOrEqual(given[Number(code.slice(1))]!)
          end = to
        }
        expect(end).toBe(all - taken)
      }),
    )
  })
})

describe('a route', () => {
  it('is what was made, whatever an address holds', () => {
    fc.assert(
      fc.property(fc.constantFrom(...views), fc.string(), fc.string(), (view, text, value) => {
        const rest = text.replaceAll('/', '')
        const {
          view: found,
          rest: back,
          query,
        } = parseRoute(routeTo(view, rest, { policy: value }))
        expect([found, back, query.get('policy') ?? '']).toEqual([view, rest, value])
      }),
    )
  })

  it.each(['', '#', '#/nowhere/x'])('of %j is the box', (hash) => {
    expect(parseRoute(hash)).toMatchObject({ view: 'overview', rest: '' })
  })
})

describe('a mistake in policies', () => {
  const placed = (policies: unknown) => {
    const checked = checkPolicies(JSON.stringify({ policies }))
    return 'mistakes' in checked ? checked.mistakes.map(placeMistake) : []
  }
  const rule = { name: 'a', condition: 'risk_score > 1', action: 'block' }

  it('is put at its field', () => {
    const rules = [rule, { ...rule, name: 'b', condition: 'risk_scor > 1' }]
    const [found] = placed({ default: { rules, otherwise: 'allow' } })
    expect(found).toMatchObject({ policy: 'default', rule: 1, member: 'condition' })
    expect(found?.message).toMatch(/^column 1: .*risk_score/)
  })

  it('is put at the policy, or at the whole', () => {
    const [action] = placed({ default: { rules: [{ ...rule, action: 'B!' }], otherwise: 'allow' } })
    expect(action).toMatchObject({ policy: 'default', rule: 0, member: 'action' })
    const [otherwise] = placed({ default: { rules: [], otherwise: '' } })
    expect(otherwise).toMatchObject({ policy: 'default', rule: undefined, member: 'otherwise' })
    const [whole] = placed({})
    expect(whole).toMatchObject({ policy: undefined, rule: undefined })
    expect(whole?.message).toContain('default')
  })
})

describe('figures', () => {
  it('are read as they are meant', () => {
    expect([percent(0), percent(0.0001), percent(0.1234), percent(1)]).toEqual([
      '0 %',
      '< 0.1 %',
      '12.3 %',
      '100 %',
    ])
    expect([0, 0.25, 4.12, 44_286].map(rate)).toEqual(['0', '0.25', '4.1', '44,286'])
    const changes = [
      change(110, 100),
      change(1, 3),
      change(5, 5),
      change(5, 0),
      change(5, undefined),
    ]
    expect(changes).toEqual(['+10.0 %', '−66.7 %', '±0 %', '', ''])
    expect([duration(0.0007), duration(0.0123), duration(1.5)]).toEqual([
      '0.70 ms',
      '12 ms',
      '1.5 s',
    ])
    expect([utcTime('2026-11-22T04:10:09+02:00'), utcTime('soon')]).toEqual([
      '2026-11-22 02:10 UTC',
      'soon',
    ])
    expect(dayAfter('2026-02-27', 3)).toBe('2026-03-02')
  })

  it('add up in a stack, and in shares', () => {
    expect(
      stacked([
        [1, 2],
        [3, 4],
        [0, 1],
      ]),
    ).toEqual([
      [1, 2],
      [4, 6],
      [4, 7],
    ])
    expect(
      seriesNames(
        [
          { a: 1, b: 5 },
          { a: 1, c: 0 },
        ],
        2,
      ),
    ).toEqual(['b', 'a'])
    const { top, others } = sharesBy(['x', 'x', 'y', 'z'], (row) => row, 1)
    expect([top, others]).toEqual([
      [{ name: 'x', count: 2, share: 0.5 }],
      { name: 'others', count: 2, share: 0.5 },
    ])
  })
})

describe('text from outside', () => {
  it('never becomes a class, an option or a second command', () => {
    const evil = 'x" onclick="y'
    expect([kindTone(evil), reasonTone('tor_listed'), reasonTone(evil)]).toEqual([
      'tone-other',
      'tone-tor',
      'tone-other',
    ])
    expect([actionTone(evil), actionTone('constructor'), actionTone('block')]).toEqual([
      'tone-other',
      'tone-other',
      'tone-blocklist',
    ])
    expect(curlCommand('http://127.0.0.1:9090', `/admin/address?ip='$(id)'`)).toBe(
      String.raw`curl -s 'http://127.0.0.1:9090/admin/address?ip='\''$(id)'\''' -H "Authorization: Bearer $IPRISK_ADMIN_TOKEN"`,
    )
  })
})
