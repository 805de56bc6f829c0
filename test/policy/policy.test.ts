// What policies decide: the first rule that holds, rules in observation beside it, and decisions
// that are remembered against decisions that are computed anew.

import { describe, expect, it } from 'vitest'
import { newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { defaultPoliciesText } from '../../src/policy/default-policies.ts'
import { factsOf } from '../../src/policy/condition/condition-members.ts'
import { memoryBytes, newDecisionMemory, recall } from '../../src/policy/decision-memory.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { type PolicySet, compilePolicies } from '../../src/policy/policy.ts'
import { locate, newLocated } from '../../src/table/lookup/locate.ts'
import { openTable } from '../../src/table/open-table.ts'
import { inForm } from '../form.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { sampleAddresses } from './sample-addresses.ts'

const table = openTable(writeSmallTable())

function policySet(policies: object): PolicySet {
  const checked = checkPolicies(JSON.stringify({ policies }))
  if ('mistakes' in checked) throw new Error(checked.mistakes.join('\n'))
  return compilePolicies(checked.policies)
}

const rule = (name: string, condition: string, action: string, observe = false) => ({
  name,
  condition,
  action,
  observe,
})

const set = policySet({
  default: {
    rules: [
      rule('watch-vpn', 'signals.vpn', 'challenge', true),
      rule('office', '"office" in lists', 'allow'),
      rule('tor', 'signals.tor', 'block'),
      rule('v6', 'version == 6 && risk_score >= 20', 'slow_down'),
      rule('high', 'risk_score >= 50', 'challenge'),
      rule('watch-hosting', 'network.type == "hosting" && !("office" in lists)', 'block', true),
    ],
    otherwise: 'allow',
  },
  other: { rules: [], otherwise: 'step-up' },
  places: {
    rules: [rule('berlin', 'location.city == "Berlin" && location.latitude > 50.0', 'block')],
    otherwise: 'allow',
  },
})

function outcomeOf(address: string, policy = 'default', lists: readonly string[] = []) {
  const one = set.policies[set.indexOf(policy)]!
  return one.outcomes[one.outcomeOf(factsOf(table.check(address)!, lists))]
}

describe('a policy', () => {
  it.each([
    ['9.1.2.3', 'block', 'tor', []],
    ['13.0.0.1', 'allow', '', []],
    ['11.1.1.1', 'challenge', 'high', ['watch-vpn', 'watch-hosting']],
    ['11.5.5.5', 'allow', '', ['watch-hosting']],
    ['2a01:4f8::2', 'slow_down', 'v6', ['watch-hosting']],
    ['10.0.0.1', 'allow', '', []],
  ])('decides %s by the first rule that holds', (address, action, name, observed) => {
    expect(outcomeOf(address)).toMatchObject({
      decision: { action, rule: name, policy: 'default' },
      observed,
    })
  })

  it('sees the lists', () => {
    expect(outcomeOf('11.1.1.1', 'default', ['office'])).toMatchObject({
      decision: { action: 'allow', rule: 'office', policy: 'default' },
      observed: ['watch-vpn'],
    })
  })

  it('without rules says what it says otherwise', () => {
    const decision = { action: 'step-up', rule: '', policy: 'other' }
    expect(outcomeOf('9.1.2.3', 'other')).toMatchObject({ decision, observed: [] })
  })

  it('is found by its name', () => {
    expect(set.policies.map(({ name }) => name)).toEqual(['default', 'other', 'places'])
    expect(set.defaultIndex).toBe(0)
    expect(set.indexOf('nowhere')).toBe(-1)
  })
})

describe('the policies of init', () => {
  const checked = checkPolicies(defaultPoliciesText({ observe: false }))
  if ('mistakes' in checked) throw new Error(checked.mistakes.join('\n'))
  const [policy] = compilePolicies(checked.policies).policies
  const decide = (address: string, change: object = {}): string => {
    const facts = factsOf({ ...table.check(address)!, ...change }, [])
    const { action, rule } = policy!.outcomes[policy!.outcomeOf(facts)]!.decision
    return `${action} ${rule}`
  }

  it.each([
    ['13.0.0.1', {}, 'allow '],
    ['13.0.0.1', { risk_score: 49 }, 'allow '],
    ['13.0.0.1', { risk_score: 50 }, 'challenge high-score'],
    ['13.0.0.1', { risk_score: 89 }, 'challenge high-score'],
    ['13.0.0.1', { risk_score: 90 }, 'block critical-score'],
    ['13.0.0.1', { risk_score: 100, reasons: ['list_blocked'] }, 'block own-block-list'],
    ['11.66.1.1', { risk_score: 95 }, 'allow verified-bot'],
    ['11.66.1.1', { risk_score: 100, reasons: ['list_blocked'] }, 'block own-block-list'],
    ['10.0.0.1', {}, 'allow '],
  ])('decide %s with %j: %s', (address, change, expected) => {
    expect(decide(address, change)).toBe(expected)
  })
})

const addresses = inForm({ short: 8_000, full: 200_000 })

describe('a remembered decision', () => {
  it('is the one that is recomputed, for addresses of every form', () => {
    const memory = newDecisionMemory(set, table.reader)
    const { views } = table.reader
    const words = newAddressWords()
    const located = newLocated()
    const wrong: string[] = []
    const seen = new Set<string>()
    let remembered = 0
    for (const address of sampleAddresses(addresses)) {
      const family = parseAddress(address, words)
      if (family === 0) throw new Error(address)
      locate(views, family, words, located)
      const facts = factsOf(table.check(address)!, [])
      set.policies.forEach((policy, index) => {
        const direct = policy.outcomes[policy.outcomeOf(facts)]
        const recalled = policy.outcomes[recall(memory, index, located)]
        if (recalled !== direct && wrong.length < 10) wrong.push(`${address} ${policy.name}`)
        seen.add(JSON.stringify(direct))
      })
      if (located.record >= 0) remembered += 1
    }
    expect(wrong).toEqual([])
    expect(seen.size).toBeGreaterThan(7)
    expect(remembered).toBeGreaterThan(addresses / 2)
  })

  it('takes two bytes for each record and family of each policy that was asked', () => {
    const memory = newDecisionMemory(set, table.reader)
    expect(memoryBytes(memory)).toBe(0)
    const located = newLocated()
    locate(table.reader.views, 4, Uint32Array.of(0x0901_0203, 0, 0, 0), located)
    recall(memory, 0, located)
    const records = table.reader.views.records.length / 4
    expect(memoryBytes(memory)).toBe((records + 1) * 2 * 2)
    recall(memory, 2, located)
    expect(memoryBytes(memory)).toBe((records + 1) * 2 * 2 * 2)
  })
})
