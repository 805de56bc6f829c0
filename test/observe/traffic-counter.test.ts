// What a worker counts for the console, from the bytes of real answers.

import { describe, expect, it } from 'vitest'
import { createTrafficCounter } from '../../src/observe/traffic-counter.ts'
import { openTable } from '../../src/table/open-table.ts'
import { listed, writeSmallTable } from '../table/small-table.ts'

const table = openTable(writeSmallTable())
const addresses = listed.map(([text]) => text.replace(/\/\d+$/, '').replace(/::$/, '::7'))

const answerOf = (ip: string, action?: string): string => {
  const decision = { action, rule: 'x', policy: 'login' }
  const more = action === undefined ? {} : { decision, observed: ['y'] }
  return JSON.stringify({ ...table.check(ip), ...more })
}
const bandOf = (ip: string): number =>
  Math.min(9, Math.floor((table.check(ip)?.risk_score ?? 0) / 10))

describe('the counter of traffic', () => {
  it('counts each score, decision and name of single checks', () => {
    const counter = createTrafficCounter()
    const scores = Array.from({ length: 10 }, () => 0)
    for (const [at, ip] of addresses.entries()) {
      scores[bandOf(ip)]! += 2
      const { risk_score } = table.check(ip)!
      counter.takeAnswer(Buffer.from(answerOf(ip, at % 3 === 0 ? 'block' : 'allow')))
      counter.takeCheck(risk_score, Buffer.from(answerOf(ip, 'block')))
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
    expect(taken.top.countries.map(([name]) => name)).toEqual(['DE'])
    const empty = counter.taken()
    expect([empty.decisions, empty.top.networks]).toEqual([[], []])
    expect(empty.scores).toEqual(Array.from({ length: 10 }, () => 0))
  })

  it('counts names of many checks by one in 64 or 512, and all of them in sum', () => {
    const counter = createTrafficCounter()
    const answer = Buffer.from(answerOf('9.1.2.3'))
    const { risk_score } = table.check('9.1.2.3')!
    for (let at = 0; at < 640_000; at += 1) counter.takeCheck(risk_score, answer)
    const taken = counter.taken()
    expect(taken.scores[bandOf('9.1.2.3')]).toBe(640_000)
    expect(taken.decisions).toEqual([])
    expect(taken.top.networks[0]?.[1]).toBeGreaterThan(637_000)
    expect(taken.top.networks[0]?.[1]).toBeLessThan(643_000)
  })

  it('lets some answers stand for a piece of a batch, and survives what is no address', () => {
    const counter = createTrafficCounter()
    const piece = Array.from({ length: 100 }, () => answerOf('9.1.2.3', 'block'))
    counter.takePiece(Buffer.from(piece.join(',')), 100)
    counter.takePiece(Buffer.from(`{"ip":"x","error":"no"},${answerOf('9.1.2.3', 'block')}`), 1)
    counter.takePiece(Buffer.from('{"ip":"x","error":"no"}'), 0)
    const refused = '{"ip":"x","error":{"code":"no"}}'
    counter.takePiece(Buffer.from(`${answerOf('9.1.2.3', 'block')},${refused}`), 1)
    const mixed = Array.from({ length: 3 }, () => `${answerOf('9.1.2.3', 'block')},${refused}`)
    counter.takePiece(Buffer.from(mixed.join(',')), 3)
    const taken = counter.taken()
    expect(taken.scores[bandOf('9.1.2.3')]).toBe(105)
    expect(taken.decisions).toEqual([['login/block', 105]])
  })
})
