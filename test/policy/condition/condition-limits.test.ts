// The limits of conditions, each at its exact value.

import { describe, expect, it } from 'vitest'
import { conditionCharsMax, policiesBytesMax, policyStepsMax } from '../../../src/base/limits.ts'
import { compileCondition } from '../../../src/policy/condition/condition.ts'
import { operatorDepthMax } from '../../../src/policy/condition/condition-refusal.ts'

const messageOf = (text: string): string => {
  const compiled = compileCondition(text)
  return compiled.kind === 'fault' ? compiled.message : ''
}
const stepsOf = (text: string): number => {
  const compiled = compileCondition(text)
  if (compiled.kind === 'fault') throw new Error(compiled.message)
  return compiled.steps
}

describe('a condition at a limit', () => {
  it('may have so many characters', () => {
    const longest = `true${' '.repeat(conditionCharsMax - 4)}`
    expect([messageOf(longest), messageOf(`${longest} `)]).toEqual([
      '',
      `it is longer than ${conditionCharsMax} characters`,
    ])
  })

  it('may have a number of ten million millions', () => {
    expect(messageOf('risk_score < 10000000000000')).toBe('')
    expect(messageOf('risk_score < 10000000000001')).toBe('the number is too large')
  })

  it('may nest operators so deep', () => {
    const chain = (terms: number): string =>
      Array.from({ length: terms }, () => '1').join('+') + ' == 1'
    expect(messageOf(chain(operatorDepthMax - 1))).toBe('')
    expect(messageOf(chain(operatorDepthMax))).toContain('chained operators')
  })

  it('may take so many steps', () => {
    // Terms whose steps add up, so that a sum reaches the limit exactly.
    const loop = 'lists.exists(l, l == "a")'
    const search = '"a" in lists'
    const between = stepsOf(`${search}||${search}`) - 2 * stepsOf(search)
    const cost = (text: string): number => stepsOf(text) + between
    const few = '"a" in reasons'
    const of = (steps: number): string => {
      let rest = steps + between
      const terms: string[] = []
      for (const text of [loop, search, few, 'version == 4', 'true']) {
        const each = cost(text)
        for (; rest >= each; rest -= each) terms.push(text)
      }
      expect(rest).toBe(0)
      return terms.join('||')
    }
    const most = of(policyStepsMax)
    expect(most.length).toBeLessThanOrEqual(conditionCharsMax)
    expect(stepsOf(most)).toBe(policyStepsMax)
    expect(messageOf(`${most}||true`)).toContain('more than the 500,000 allowed')
  })
})

it('conditions are remembered until they are longer together than the largest file', async () => {
  // A copy of its own: other tests have filled the usual one.
  const copy = '../../../src/policy/condition/condition.ts?copy'
  const fresh = (await import(copy)) as { readonly compileCondition: typeof compileCondition }
  const first = fresh.compileCondition('true')
  let rest = policiesBytesMax - 4
  for (let i = 0; rest > 0; i += 1) {
    const length = Math.min(rest, conditionCharsMax)
    const text = `risk_score == ${i}`.padEnd(length)
    fresh.compileCondition(text)
    rest -= text.length
  }
  expect(rest).toBe(0)
  expect(fresh.compileCondition('true')).toBe(first)
  fresh.compileCondition('risk_score == 1000')
  expect(fresh.compileCondition('true')).not.toBe(first)
})
