// The facts of an answer, against the answer itself.

import { describe, expect, it } from 'vitest'
import { collectFacts } from '../../src/observe/answer-facts.ts'
import { withDecision } from '../../src/policy/decided-answer.ts'
import { newQuery, parseQuery } from '../../src/table/lookup/query.ts'
import { matcherOf, plainList } from '../lists/matcher-of.ts'
import { listed } from '../table/small-table.ts'
import { factsAbout, outcomeFor, table } from './facts-about.ts'

const addresses = [
  ...listed.map(([text]) => text.replace(/\/\d+$/, '').replace(/::$/, '::7')),
  '10.0.0.1',
  '::1',
  '::ffff:9.1.2.3',
  '2002:0b01:0102::1',
  '2001:DB8::1',
]

/** The twin: read from the answer as an object. */
function factsByAnswer(ip: string, policy?: string) {
  const plain = table.check(ip)!
  const answer = policy === undefined ? plain : withDecision(plain, outcomeFor(policy, 'block'))
  const { decision, observed } = answer
  return {
    address: plain.address ?? plain.ip,
    classification: plain.classification,
    score: plain.risk_score,
    network: plain.network ?? undefined,
    country: plain.location?.country_code,
    provider: plain.proxy?.provider || plain.bot?.provider || '',
    lists: plain.lists,
    decision,
    observed,
    table: plain.table,
  }
}

describe('the facts of an answer', () => {
  it('are what the answer says', () => {
    for (const ip of addresses) {
      expect(factsAbout(ip, { lot: 0.5 })).toEqual({ lot: 0.5, ...factsByAnswer(ip) })
      const decided = factsByAnswer(ip, 'login')
      expect(decided.decision).toEqual({ action: 'block', rule: 'x', policy: 'login' })
      expect(factsAbout(ip, { policy: 'login' })).toEqual({ lot: 0, ...decided })
    }
  })

  it('name the own lists that match, with the score that they give', () => {
    table.useLists(matcherOf([plainList('mine', 'block', '9.1.2.3')]))
    expect(factsAbout('9.1.2.3', {})).toMatchObject({ lists: ['mine'], score: 100 })
    expect(factsAbout('9.1.2.3', {})).toEqual({ lot: 0, ...factsByAnswer('9.1.2.3') })
    table.useLists(undefined)
  })

  it('are collected of those that are wanted', () => {
    const query = newQuery()
    const collect = (below: number, few: boolean, count: number) => {
      const { add, collected } = collectFacts({ below, few })
      for (let at = 0; at < count; at += 1) {
        const sent = Buffer.from(`9.1.0.${at}`)
        parseQuery(query, sent, 0, sent.length)
        add(query, table.answer(query), undefined)
      }
      return collected()
    }
    const all = collect(1, false, 100)
    expect(all.chosen.map(({ address }) => address)).toEqual(
      Array.from({ length: 100 }, (_, at) => `9.1.0.${at}`),
    )
    expect([all.few, all.count]).toEqual([[], 100])
    expect(collect(0, false, 100).chosen).toEqual([])
    expect(collect(0, true, 3).few).toHaveLength(3)
    const few = Array.from({ length: 300 }, () => collect(0, true, 100).few)
    expect(few.every((one) => new Set(one.map(({ address }) => address)).size === 4)).toBe(true)
    // Each address is drawn about twelve times.
    expect(new Set(few.flat().map(({ address }) => address)).size).toBe(100)
  })
})
