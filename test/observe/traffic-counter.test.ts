// What a worker counts for the console, from the facts of real answers.

import { describe, expect, it } from 'vitest'
import { createTrafficCounter } from '../../src/observe/traffic-counter.ts'
import { listed } from '../table/small-table.ts'
import { factsAbout, table } from './facts-about.ts'

const addresses = listed.map(([text]) => text.replace(/\/\d+$/, '').replace(/::$/, '::7'))

const bandOf = (ip: string): number =>
  Math.min(9, Math.floor((table.check(ip)?.risk_score ?? 0) / 10))

describe('the counter of traffic', () => {
  it('counts each score, decision and name of single checks', () => {
    const counter = createTrafficCounter()
    const scores = Array.from({ length: 10 }, () => 0)
    for (const [at, ip] of addresses.entries()) {
      scores[bandOf(ip)]! += 2
      const { risk_score } = table.check(ip)!
      const action = at % 3 === 0 ? 'block' : 'allow'
      counter.takePiece([factsAbout(ip, { policy: 'login', action })], 1, 'k1')
      counter.takeNames(factsAbout(ip, { policy: 'login' }), counter.takeCheck(risk_score), '')
    }
    const taken = counter.taken()
    expect(taken.scores).toEqual(scores)
    const blocked = Math.ceil(addresses.length / 3)
    expect(new Map(taken.decisions)).toEqual(
      new Map([
        ['login/block', blocked],
        ['login/allow', addresses.length - blocked],
      ]),
    )
    // The decisions of checks stand in the worker's counters.
    const named = 2 * addresses.filter((ip) => table.check(ip)?.network?.asn === 64497).length
    expect(taken.top.networks).toContainEqual(['AS64497 Example "Hosting" Ltd', named, 0])
    expect(taken.top.keys).toEqual([['k1', addresses.length, 0]])
    expect(taken.top.countries.map(([name]) => name)).toEqual(['DE'])
    const sum = (rows: readonly (readonly [string, number, number])[]) =>
      rows.reduce((all, [, count]) => all + count, 0)
    expect(sum(taken.top.blocked)).toBeGreaterThanOrEqual(blocked)
    expect(sum(taken.top.blocked)).toBeLessThan(sum(taken.top.networks))
    const empty = counter.taken()
    expect([empty.decisions, empty.top.networks]).toEqual([[], []])
    expect(empty.scores).toEqual(Array.from({ length: 10 }, () => 0))
  })

  it('counts names of many checks by one in 64 or 512, and all of them in sum', () => {
    const counter = createTrafficCounter()
    const facts = factsAbout('9.1.2.3', {})
    const { risk_score } = table.check('9.1.2.3')!
    for (let at = 0; at < 640_000; at += 1) {
      const weight = counter.takeCheck(risk_score)
      if (weight > 0) counter.takeNames(facts, weight)
    }
    const taken = counter.taken()
    expect(taken.scores[bandOf('9.1.2.3')]).toBe(640_000)
    expect(taken.decisions).toEqual([])
    expect(taken.top.networks[0]?.[1]).toBeGreaterThan(637_000)
    expect(taken.top.networks[0]?.[1]).toBeLessThan(643_000)
  })

  it('lets some answers stand for a piece of a batch, and survives what is no address', () => {
    const counter = createTrafficCounter()
    const facts = factsAbout('9.1.2.3', { policy: 'login' })
    counter.takePiece([facts, facts, facts, facts], 100)
    counter.takePiece([facts], 1)
    counter.takePiece([], 0)
    counter.takePiece([facts, facts, facts], 4)
    const taken = counter.taken()
    expect(taken.scores[bandOf('9.1.2.3')]).toBe(105)
    expect(taken.decisions).toEqual([['login/block', 105]])
  })
})
