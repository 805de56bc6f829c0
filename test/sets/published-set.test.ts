// A published set against its slow twin, a scan: an address is in it, under the same action and rule,
// exactly where the policy evaluated on the whole answer says so. And it is sorted, disjoint, and has
// no two prefixes that one would hold.

import { describe, expect, it } from 'vitest'
import { policySet } from '../../src/sets/policy-set.ts'
import { factsOf } from '../../src/policy/condition/condition-members.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import { compareWords } from '../../src/ip/address.ts'
import { setRecordWords } from '../../src/sets/set-records.ts'
import { isLeftOut, sampleAddresses, smallTable } from '../export/small-export.ts'
import { inForm } from '../form.ts'
import {
  below,
  drawnLists,
  drawnPolicies,
  isMinimal,
  prefixesOf,
  textOf,
  valueOf,
} from './drawn-sets.ts'

const common = sampleAddresses(inForm({ short: 300, full: 3000 }))

describe('a published set', () => {
  it('holds what a scan of check holds, under the same action and rule', () => {
    const held = new Map<string, number>()
    const wrong: string[] = []
    for (let round = 0; round < inForm({ short: 12, full: 100 }); round++) {
      const policies = drawnPolicies()
      smallTable.useLists(below(5) === 0 ? undefined : drawnLists())
      const { records, labels } = policySet(smallTable.reader, {
        policies,
        known: [{ action: 'gone', rule: 'before' }],
        prefixesMax: 10_000,
      })
      const prefixes = prefixesOf(records)
      const policy = compilePolicies(policies).policies[0]!
      const edges = prefixes.flatMap(({ family, first, last }) =>
        [first - 1n, first, last, last + 1n]
          .filter((value) => value >= 0n && value < 1n << (family === 4 ? 32n : 128n))
          .map((value) => textOf(family, value)),
      )
      for (const ip of new Set([...edges, ...common])) {
        if (isLeftOut(ip)) continue
        const answer = smallTable.check(ip)!
        const { action, rule } =
          policy.outcomes[policy.outcomeOf(factsOf(answer, answer.lists ?? []))]!.decision
        const twin = answer.signals.bogon || action === 'allow' ? '' : `${action} ${rule}`
        const { family, value } = valueOf(ip)
        const holder = prefixes.find(
          (one) => one.family === family && one.first <= value && value <= one.last,
        )
        const label = holder === undefined ? undefined : labels[holder.label]
        const found = label === undefined ? '' : `${label.action} ${label.rule}`
        if (found !== twin) wrong.push(`${JSON.stringify(policies.policies)} ${ip}: ${found}`)
        held.set(action, (held.get(action) ?? 0) + 1)
      }
    }
    smallTable.useLists(undefined)
    expect(wrong).toEqual([])
    expect([...held.keys()].sort()).toEqual(['allow', 'block', 'challenge', 'slow'])
  })

  it('is sorted, disjoint and minimal', () => {
    for (let round = 0; round < inForm({ short: 40, full: 300 }); round++) {
      smallTable.useLists(drawnLists())
      const how = { policies: drawnPolicies(), known: [], prefixesMax: 10_000 }
      const { records } = policySet(smallTable.reader, how)
      const prefixes = prefixesOf(records)
      expect([round, isMinimal(prefixes)]).toEqual([round, true])
      for (let at = 0; at + setRecordWords < records.length; at += setRecordWords)
        expect(compareWords(records, at, records, at + setRecordWords, 4)).toBeLessThan(0)
    }
    smallTable.useLists(undefined)
  })

  it('that is larger than it may be is refused, not cut off', () => {
    const policies = {
      revision: '',
      policies: {
        default: {
          rules: [{ name: 'all', condition: 'risk_score >= 0', action: 'block', observe: false }],
          otherwise: 'allow',
        },
      },
    }
    expect(() => policySet(smallTable.reader, { policies, known: [], prefixesMax: 3 })).toThrow(
      /^The set has \d+ prefixes, more than 3; narrow its condition\.$/,
    )
  })
})
