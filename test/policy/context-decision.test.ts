// Decisions with context (contract 6.5): those that evaluate only the rules that read context
// against all rules evaluated anew, and what is remembered.

import { expect, it } from 'vitest'
import type { TravelAnswer } from '../../src/api/check-answer.ts'
import { unknownTravel } from '../../src/context/travel.ts'
import { listEffects } from '../../src/model/kind.ts'
import { factsOf } from '../../src/policy/condition/condition-members.ts'
import { decideQuery, memoryBytes, newDecisionMemory } from '../../src/policy/decision-memory.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import { newQuery, parseQuery } from '../../src/table/lookup/query.ts'
import { openTable } from '../../src/table/open-table.ts'
import { matcherOf, plainList } from '../lists/matcher-of.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { sampleAddresses, seeded } from './sample-addresses.ts'

const table = openTable(writeSmallTable())
const query = newQuery()

function setOf(rules: readonly object[]) {
  const policies = { default: { rules, otherwise: 'allow' }, other: { rules: [], otherwise: 'x' } }
  const checked = checkPolicies(JSON.stringify({ policies }))
  if ('mistakes' in checked) throw new Error(checked.mistakes.join('\n'))
  return compilePolicies(checked.policies)
}

const ask = (ip: string): typeof query => {
  const sent = Buffer.from(ip)
  expect(parseQuery(query, sent, 0, sent.length)).toBe(true)
  return query
}

it('decides as all rules would, in their order, with rules in observation', () => {
  const random = seeded(65)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const conditions = [
    'signals.tor',
    'risk_score >= 50',
    'network.type == "isp"',
    '"office" in lists',
    'travel.kmh > 1000',
    'travel.known && !travel.reliable',
    '!travel.known && version == 6',
    '"vpn" in travel.unreliable_because || risk_score >= 75',
    'travel.km == 0',
  ]
  const wrong: string[] = []
  let inContext = 0
  for (let round = 0; round < 60; round++) {
    const count = Math.floor(random() * 6)
    const rules = Array.from({ length: count }, (_, index) => ({
      name: `r${index}`,
      condition: pick(conditions),
      action: pick(['block', 'challenge']),
      observe: random() < 0.3,
    }))
    const set = setOf(rules)
    table.useLists(
      random() < 0.3
        ? undefined
        : matcherOf([plainList('office', pick(listEffects), '9.0.0.0/12', '11.1.0.0/16')]),
    )
    const memory = newDecisionMemory(set, table.reader)
    for (const ip of sampleAddresses(60, round)) {
      const kmh = pick([0, 900, 2000])
      const travel: TravelAnswer = pick([
        unknownTravel,
        { ...unknownTravel, known: true, km: kmh, kmh, reliable: true },
        { ...unknownTravel, known: true, kmh, unreliable_because: ['vpn'] },
      ])
      const answer = table.check(ip)!
      const policy = set.policies[set.defaultIndex]!
      for (const context of [{ travel }, undefined]) {
        const facts = factsOf({ ...answer, ...context }, answer.lists ?? [])
        const expected = policy.outcomes[policy.outcomeOf(facts)]
        const found = decideQuery(memory, set.defaultIndex, ask(ip), undefined, context)
        if (found !== expected) wrong.push(`${ip} ${JSON.stringify({ rules, context, found })}`)
      }
      if (policy.readsContext) inContext++
    }
  }
  table.useLists(undefined)
  expect(wrong.slice(0, 3)).toEqual([])
  expect(inContext).toBeGreaterThan(500)
})

it('remembers what rules without context say, and nothing that context decides', () => {
  const set = setOf([
    { name: 'fast', condition: 'travel.kmh > 1000', action: 'challenge' },
    { name: 'tor', condition: 'signals.tor', action: 'block' },
  ])
  const memory = newDecisionMemory(set, table.reader)
  const index = set.defaultIndex
  const ruleWith = (kmh: number): string => {
    const context = { travel: { ...unknownTravel, known: true, kmh } }
    return decideQuery(memory, index, ask('9.1.2.3'), undefined, context).decision.rule
  }
  expect([ruleWith(2000), ruleWith(0), ruleWith(2000)]).toEqual(['fast', 'tor', 'fast'])
  expect(memoryBytes(memory)).toBe(0)
  // A record's element in the memory of the other rules decides, without their evaluation.
  const { elements, set: others } = memory.withoutContext!
  const remembered = elements[index]!
  const { outcomes } = others.policies[index]!
  expect(remembered.filter((one) => one > 0)).toEqual(Uint16Array.of(1))
  expect(outcomes.map(({ decision }) => decision.rule)).toEqual(['tor'])
  decideQuery(memory, index, ask('13.0.0.1'), undefined, { travel: unknownTravel })
  remembered.fill(outcomes.findIndex(({ decision }) => decision.rule === '') + 1)
  expect([ruleWith(0), ruleWith(2000)]).toEqual(['', 'fast'])
  // A policy that reads no context has one memory for all.
  decideQuery(memory, set.indexOf('other'), ask('9.1.2.3'), undefined, { travel: unknownTravel })
  expect(memoryBytes(memory)).toBeGreaterThan(0)
})
