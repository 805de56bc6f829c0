// Decisions as CrowdSec's bouncers read them, and the filters that are refused.

import { describe, expect, it } from 'vitest'
import { planPull } from '../../../src/adapters/crowdsec/bouncer-endpoint.ts'
import {
  decisionJson,
  decisionType,
  durationText,
  idOf,
  unknownFilter,
} from '../../../src/adapters/crowdsec/decision.ts'

const decision = { action: 'block', rule: 'tor', value: '192.0.2.1' } as const
const json = decisionJson(7, { ...decision, durationMs: 48 * 3_600_000 })

describe('a decision', () => {
  it('has the members of the local API', () => {
    expect(JSON.parse(json)).toEqual({
      id: 7,
      origin: 'lists:iprisk',
      type: 'ban',
      scope: 'Ip',
      value: '192.0.2.1',
      duration: '48h0m0s',
      scenario: 'iprisk/tor',
    })
  })

  it('has the words of bouncers, or the policy’s own', () => {
    expect(['block', 'challenge', 'throttle'].map(decisionType)).toEqual([
      'ban',
      'captcha',
      'throttle',
    ])
    expect(durationText(3_723_000)).toBe('1h2m3s')
  })

  it('has an id that its prefix and rule make, whole and distinct', () => {
    const ids = new Set<number>()
    for (let low = 0; low < 20_000; low++)
      for (const last of [(128 << 16) | 0, (127 << 16) | 1])
        ids.add(idOf(Uint32Array.of(0, 0, 0, low, last), 0))
    expect(ids.size).toBe(40_000)
    expect([...ids].every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true)
  })
})

describe('a filter', () => {
  it.each([
    ['', undefined],
    ['scopes=ip,range', undefined],
    ['scopes=Ip,Range,country&startup=true&type=', undefined],
    ['scopes=ip', 'scopes'],
    ['type=captcha', 'type'],
    ['origins=lists&scopes=ip,range', 'origins'],
    ['scenarios_containing=tor', 'scenarios_containing'],
    ['scenarios_not_containing=tor', 'scenarios_not_containing'],
  ])('that would be ignored is named: %s', (query, name) => {
    expect(unknownFilter(new URLSearchParams(query))).toBe(name)
  })
})

describe('a pull', () => {
  const manifest = {
    series: 's',
    generation: 7,
    inputs: '',
    expiresMs: null,
    prefixes: 0,
    madeMs: 0,
    labels: [],
    form: '',
    from: [6, 5],
  }
  const now = { nowMs: 1_000_000, durationMs: 1_000_000 }
  const cursor = { series: 's', generation: 5, fullMs: 900_000 }
  const everything = { series: 's', generation: 7, fullMs: 1_000_000 }
  it('is the difference since the cursor', () => {
    expect(planPull('f', manifest, cursor, now)).toEqual({
      came: 'f/5-7.new',
      gone: 'f/5-7.gone',
      next: { ...cursor, generation: 7 },
    })
  })
  it('is nothing at the newest generation', () => {
    expect(planPull('f', manifest, { ...cursor, generation: 7 }, now)).toEqual({})
  })
  it.each([
    ['without a cursor', undefined],
    ['of another series', { ...cursor, series: 'other' }],
    ['from a generation that is no longer kept', { ...cursor, generation: 4 }],
  ])('is everything %s', (_, unknown) => {
    expect(planPull('f', manifest, unknown, now)).toEqual({ came: 'f/7.all', next: everything })
  })
  it('is everything again before half of the duration, and what has gone', () => {
    expect(planPull('f', manifest, { ...cursor, fullMs: 540_000 }, now)).toEqual({
      came: 'f/7.all',
      gone: 'f/5-7.gone',
      next: everything,
    })
  })
})
