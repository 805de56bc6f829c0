// Decisions where own lists match: by name, and by what their effects make of the score. The twin
// is the policy evaluated on the whole answer.

import { describe, expect, it } from 'vitest'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { factsOf } from '../../src/policy/condition/condition-members.ts'
import { decide, newDecisionMemory } from '../../src/policy/decision-memory.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import { locate, newLocated } from '../../src/table/lookup/locate.ts'
import { openTable } from '../../src/table/open-table.ts'
import { inForm } from '../form.ts'
import { matcherOf, plainList } from '../lists/matcher-of.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { sampleAddresses } from './sample-addresses.ts'

const rules = [
  { name: 'office', condition: '"office" in lists', action: 'allow' },
  { name: 'blocked', condition: '"list_blocked" in reasons', action: 'block' },
  { name: 'calm', condition: '"list_allowed" in reasons && risk_score == 0', action: 'calm' },
  { name: 'known', condition: 'size(lists) > 0', action: 'note', observe: true },
  { name: 'high', condition: 'risk_score >= 20', action: 'challenge' },
]
const checked = checkPolicies(
  JSON.stringify({ policies: { default: { rules, otherwise: 'pass' } } }),
)
if ('mistakes' in checked) throw new Error(checked.mistakes.join('\n'))
const set = compilePolicies(checked.policies)

const matcher = matcherOf([
  plainList('office', 'none', '9.1.0.0/17', '2a01:4f8::/33'),
  plainList('attackers', 'block', '9.0.0.0/8', '11.66.0.0/16', '13.0.0.1', '192.0.0.0/8'),
  plainList('partners', 'allow', '9.200.0.0/14', '9.1.128.0/20', '2002:0b00::/24'),
])

describe('a decision beside own lists', () => {
  it('is that of the whole answer, for addresses of every form', () => {
    const table = openTable(writeSmallTable())
    table.useLists(matcher)
    const memory = newDecisionMemory(set, table.reader)
    const words = newAddressWords()
    const located = newLocated()
    const wrong: string[] = []
    const seen = new Map<string, number>()
    for (const address of sampleAddresses(inForm({ short: 8_000, full: 200_000 }))) {
      const family = parseAddress(address, words)
      if (family === 0) throw new Error(address)
      locate(table.reader.views, family, words, located)
      const answer = table.check(address)!
      const [policy] = set.policies
      const direct = policy!.outcomes[policy!.outcomeOf(factsOf(answer, answer.lists ?? []))]!
      const decided = policy!.outcomes[decide(memory, 0, words, located)]!
      if (decided !== direct && wrong.length < 10) wrong.push(address)
      const name = direct.decision.rule
      seen.set(name, (seen.get(name) ?? 0) + 1)
    }
    expect(wrong).toEqual([])
    expect([...seen.keys()].sort()).toEqual(['', 'blocked', 'calm', 'high', 'office'])
    table.close()
  })

  it('follows lists that change, whatever was remembered before', () => {
    const table = openTable(writeSmallTable())
    const memory = newDecisionMemory(set, table.reader)
    const words = newAddressWords()
    const located = newLocated()
    const family = parseAddress('13.0.0.1', words)
    const ruleNow = (): string => {
      locate(table.reader.views, family === 4 ? 4 : 6, words, located)
      return set.policies[0]!.outcomes[decide(memory, 0, words, located)]!.decision.rule
    }
    const before = ruleNow()
    table.useLists(matcher)
    expect(ruleNow()).toBe('blocked')
    table.useLists(undefined)
    expect(ruleNow()).toBe(before)
    table.close()
  })
})
