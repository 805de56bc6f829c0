// What own lists do to answers (contract 5.3): bytes, object and insights say the same; a bogon and
// an address without an entry stay byte for byte as they are.

import { describe, expect, it } from 'vitest'
import { answerWithInsights } from '../../../src/table/explain/insights.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { type Query, newQuery, parseQuery } from '../../../src/table/lookup/query.ts'
import { matcherOf, plainList as list } from '../../lists/matcher-of.ts'
import { writeSmallTable } from '../small-table.ts'
import { differenceOf } from './answer-twin.ts'

const table = openTable(writeSmallTable())
const texts = ['9.1.2.3', '9.0.0.1', '11.1.1.1', '10.0.0.1', '2a01:4f8::1', '::ffff:9.1.2.3']
const more = [
  '2002:901:203::1',
  '64:ff9b::901:203',
  '2001:0:1:2:3:4:f6fe:fdfc',
  '12.0.0.5',
  '8.8.8.8',
]
const all = [...texts, ...more]

function bytesOf(text: string): string {
  const query: Query = newQuery()
  const bytes = Buffer.from(text)
  parseQuery(query, bytes, 0, bytes.length)
  return Buffer.from(table.answer(query).body).toString()
}

describe('own lists in answers', () => {
  const before = new Map(all.map((text) => [text, bytesOf(text)]))
  const lists = matcherOf([
    list('all', 'none', '0.0.0.0/1', '2a01::/16', '10.0.0.0/8'),
    list('office', 'allow', '9.0.0.0/8', 'AS64498'),
    list('attackers', 'block', '9.1.2.3', '10.0.0.0/8'),
    list('expired', 'block', '11.1.1.1'),
  ])

  it('have the same bytes and object, and the points are the score', () => {
    table.useLists(lists)
    for (const text of all) {
      expect(differenceOf(table, text)).toBeUndefined()
      const answer = answerWithInsights({ ...table, builtMs: 0 }, text)
      const sum = answer?.insights.reasons.reduce((all, { points }) => all + points, 0)
      expect([text, sum]).toEqual([text, answer?.risk_score])
      expect(answer?.insights.reasons.map(({ code }) => code)).toEqual(answer?.reasons)
    }
    table.useLists(undefined)
    expect(all.map((text) => bytesOf(text))).toEqual([...before.values()])
  })

  it('block, allow or only name; evidence stays what it is', () => {
    const plain = table.check('9.1.2.3')
    table.useLists(lists)
    expect(table.check('9.1.2.3')).toEqual({
      ...plain,
      risk_level: 'critical',
      risk_score: 100,
      reasons: [...(plain?.reasons ?? []), 'list_blocked'],
      lists: ['all', 'attackers', 'office'],
    })
    expect(table.check('9.0.0.1')).toMatchObject({
      risk_level: 'low',
      risk_score: 0,
      lists: ['all', 'office'],
    })
    expect(table.check('9.0.0.1')?.reasons.at(-1)).toBe('list_allowed')
    expect(table.check('2a01:4f8::1')).toMatchObject({ classification: 'tor', lists: ['all'] })
    // By its AS; and with the effect, also where it was 0 before.
    expect(table.check('12.0.0.5')).toMatchObject({
      classification: 'residential_proxy',
      risk_score: 0,
      lists: ['all', 'office'],
    })
    table.useLists(undefined)
  })

  it('match the IPv4 address inside an IPv6 one, and the IPv6 address itself', () => {
    table.useLists(
      matcherOf([
        list('inner', 'block', '9.1.2.3'),
        list('outer', 'none', '2002::/16', '64:ff9b::/96', '2001::/32'),
      ]),
    )
    expect(table.check('::ffff:9.1.2.3')?.lists).toEqual(['inner'])
    for (const text of ['2002:901:203::1', '64:ff9b::901:203', '2001:0:1:2:3:4:f6fe:fdfc']) {
      expect(table.check(text)).toMatchObject({ risk_score: 100, lists: ['inner', 'outer'] })
    }
    table.useLists(undefined)
  })

  it('never change a bogon, nor what no entry covers', () => {
    table.useLists(lists)
    expect(bytesOf('10.0.0.1')).toBe(before.get('10.0.0.1'))
    expect(bytesOf('11.1.1.1')).not.toBe(before.get('11.1.1.1'))
    table.useLists(matcherOf([list('other', 'block', '9.9.9.9')]))
    for (const text of all) expect(bytesOf(text)).toBe(before.get(text))
    table.useLists(undefined)
  })
})
