// The policies file: read whole, or every mistake told with its place.

import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { IpriskError } from '../../src/base/coded-error.ts'
import {
  type CheckedPolicies,
  checkPolicies,
  checkWritten,
  readPolicyFile,
} from '../../src/policy/policy-file.ts'

const rule = { name: 'high', condition: 'risk_score >= 50', action: 'challenge' }
const policy = { rules: [rule], otherwise: 'allow' }
const file = (policies: unknown): string => JSON.stringify({ policies })

function mistakesOf(text: string): readonly string[] {
  const checked = checkPolicies(text)
  return 'mistakes' in checked ? checked.mistakes : []
}

function revisionOf(text: string): string {
  const checked = checkPolicies(text)
  return 'mistakes' in checked ? '' : checked.policies.revision
}

describe('policies', () => {
  it.each([
    ['no JSON', '{"policies": ', /^must be JSON/],
    ['no object', '[]', /^must be a JSON object with the member policies$/],
    ['no policies', '{}', /^policies: missing; must be an object of policies by name$/],
    ['no default', file({ login: policy }), /^policies: must be .* the policy default/],
    [
      'an unknown member',
      '{"policies": {"default": {"rules": [], "otherwise": "allow"}}, "rules": []}',
      /^rules: unknown member/,
    ],
    [
      'an unknown member of a rule',
      file({ default: { ...policy, rules: [{ ...rule, observed: true }] } }),
      /^policies\.default\.rules\[0\] \(high\)\.observed: .* did you mean observe\?$/,
    ],
    [
      'a wrong name of a policy',
      file({ default: policy, 'Log in': policy }),
      /^policies\.Log in: its name must be a–z/,
    ],
    [
      'no condition',
      file({ default: { ...policy, rules: [{ name: 'a', action: 'allow' }] } }),
      /^policies\.default\.rules\[0\] \(a\)\.condition: missing; must be a condition/,
    ],
    [
      'a wrong action',
      file({ default: { ...policy, rules: [{ ...rule, action: 'Block!' }] } }),
      /^policies\.default\.rules\[0\] \(high\)\.action: must be allow, challenge, block, or/,
    ],
    ['no otherwise', file({ default: { rules: [] } }), /^policies\.default\.otherwise: missing/],
    [
      'a name twice',
      file({ default: { ...policy, rules: [rule, rule] } }),
      /^policies\.default\.rules\[1\] \(high\)\.name: must differ from the names/,
    ],
    [
      'an unknown member in a condition',
      file({
        default: policy,
        login: {
          ...policy,
          rules: [rule, { ...rule, name: 'x', condition: 'risk_score > 5 && network.asm == 1' }],
        },
      }),
      /^policies\.login\.rules\[1\] \(x\)\.condition, column 19: network has no member asm/,
    ],
    ['a reserved name', '{"policies": {"__proto__": {}}}', /__proto__: .*reserved/],
    [
      'too many rules',
      file({
        default: {
          ...policy,
          rules: Array.from({ length: 101 }, (_, i) => ({ ...rule, name: `r${i}` })),
        },
      }),
      /^policies\.default\.rules: must be at most 100 rules$/,
    ],
  ])('with %s are refused', (_, text, message) => {
    expect(mistakesOf(text)).toEqual([expect.stringMatching(message)])
  })

  it('are told every mistake', () => {
    const rules = ['a', 'b'].map((name) => ({ ...rule, name, condition: 'nothing == 1' }))
    expect(mistakesOf(file({ default: { ...policy, rules } }))).toHaveLength(2)
  })

  it('have a revision that changes with what they decide, and with nothing else', () => {
    const revision = revisionOf(file({ default: policy, login: policy }))
    expect(revision).toMatch(/^[0-9a-f]{16}$/)
    const described = { description: 'why', ...policy, rules: [{ description: 'x', ...rule }] }
    expect(revisionOf(file({ login: described, default: policy }))).toBe(revision)
    const rules = [{ ...rule, observe: true }]
    expect(revisionOf(file({ default: policy, login: { ...policy, rules } }))).not.toBe(revision)
  })
})

describe('readPolicyFile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-policy-'))
  const path = join(folder, 'policies.json')

  it('finds none where nobody named one', () => {
    expect(readPolicyFile({ path, named: false })).toBeUndefined()
    expect(() => readPolicyFile({ path, named: true })).toThrow(IpriskError)
  })

  it('obeys a file that others can write only where it was named', () => {
    writeFileSync(path, file({ default: policy }))
    chmodSync(path, 0o644)
    expect(readPolicyFile({ path, named: false })).toMatchObject({ path })
    chmodSync(path, 0o666)
    expect(() => readPolicyFile({ path, named: false })).toThrow(/others|--policies/s)
    expect(readPolicyFile({ path, named: true })?.distrust).toMatch(/can write to it/)
  })

  it('names the file and the place', () => {
    writeFileSync(path, file({ default: { ...policy, rules: [{ ...rule, condition: 'x' }] } }))
    expect(() => readPolicyFile({ path, named: true })).toThrow(
      /policies\.json cannot be used \(1 mistake\):\n {2}policies\.default\.rules\[0\] \(high\)\.condition, column 1: unknown member x/,
    )
  })
})

describe('the work of policies', () => {
  const loop = 'lists.exists(l, l.startsWith("team-"))'
  const ruled = (conditions: readonly string[]) => ({
    rules: conditions.map((condition, i) => ({ name: `r${i}`, condition, action: 'block' })),
    otherwise: 'allow',
  })

  it('is bounded for all rules of a policy together', () => {
    const most = `${loop} || ${loop}`
    const many = [...Array.from({ length: 90 }, () => loop), most]
    const over = file({ default: ruled([loop]), login: ruled(many) })
    expect(mistakesOf(over)).toEqual([
      expect.stringMatching(
        /^policies\.login\.rules\[90\] \(r90\)\.condition: all rules of login together may take [\d,]+ steps per address, more than the 500,000 allowed; .*; this rule takes most of them, [\d,]+$/,
      ),
    ])
  })

  it('leaves room for a hundred rules that ask for lists, and for the longest lists of numbers', () => {
    const ask = Array.from({ length: 100 }, (_, i) => `!("list-${i}" in lists) && risk_score > 50`)
    expect(mistakesOf(file({ default: ruled(ask) }))).toEqual([])
    const numbers = Array.from({ length: 600 }, (_, i) => 64_000 + i)
    const long = Array.from({ length: 100 }, () => `network.asn in [${numbers.join()}]`)
    expect(mistakesOf(file({ default: ruled(long) }))).toEqual([])
  })
})

describe('policies with warnings', () => {
  const never = { name: 'tor', condition: '"tor_exit_listd" in reasons', action: 'block' }
  const warned = file({ default: { ...policy, rules: [rule, never] } })
  const joining = (condition: string): string =>
    file({ default: { ...policy, rules: [{ ...rule, condition }] } })
  const place = 'policies.default.rules[1] (tor).condition, column 1: '
  const one = JSON.stringify(policy)
  const twice = `{"policies": {"default": ${one}, "login": ${one},\n"login": ${one}}}`

  it.each([
    ['a condition that never matches', warned, place],
    ['a sum of lists', joining('"a" in (lists + lists + reasons)'), 'column 9: `+` on lists'],
    ['a sum of texts', joining('("a" + location.city).contains("aa")'), 'column 2: `+` on lists'],
    ['a policy that stands twice', twice, 'policies.login: it appears twice'],
    [
      'a rule that stands twice in one',
      `{"policies": {"default": {"rules": [{"name": "a", "condition": "signals.tor",
        "condition": "signals.vpn", "action": "block"}], "otherwise": "allow"}}}`,
      'policies.default.rules[0].condition: it appears twice',
    ],
    [
      'an action that is misspelt',
      file({ default: { rules: [{ ...rule, action: 'blok' }], otherwise: 'allow' } }),
      'policies.default.rules[0] (high).action: blok looks like a typo; did you mean block?',
    ],
    [
      'a misspelt action where no rule decides',
      file({ default: { rules: [rule], otherwise: 'alow' } }),
      'policies.default.otherwise: alow looks like a typo; did you mean allow?',
    ],
  ])('of %s can be used, and cannot be written', (_, text, message) => {
    const checked = checkPolicies(text)
    const warnings = [expect.stringContaining(message)]
    expect(checked).toMatchObject({ policies: { revision: expect.any(String) }, warnings })
    expect(checkWritten(text)).toEqual({ mistakes: warnings })
  })

  it('have a hundred warnings about conditions at most', () => {
    const rules = Array.from({ length: 60 }, (_, i) => ({ ...never, name: `rule-${i}` }))
    const many = { rules, otherwise: 'allow' }
    const { warnings } = checkPolicies(file({ default: many, login: many })) as CheckedPolicies
    expect(warnings).toHaveLength(100)
  })
})
