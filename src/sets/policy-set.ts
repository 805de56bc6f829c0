// The set of what a policy decides other than `allow`, by action and rule. Bogons are left out: a
// firewall that blocked private addresses would cut off its machine.

import type { Policies } from '../model/policy-form.ts'
import { decide, newDecisionMemory } from '../policy/decision-memory.ts'
import { compilePolicies } from '../policy/policy.ts'
import { type LabelOf, outside, publishedSet } from './published-set.ts'
import type { SetContent } from './next-generation.ts'
import type { SetLabel } from './set-folder.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'

export function policySet(
  reader: AnswerReader,
  how: {
    readonly policies: Policies
    /** Labels that have numbers already. */
    readonly known: readonly SetLabel[]
    readonly prefixesMax: number
  },
): SetContent {
  const labels = [...how.known]
  const set = compilePolicies(how.policies)
  const { defaultIndex } = set
  const memory = newDecisionMemory(set, reader)
  const numberOf = (outcome: number): number => {
    const { action, rule } = set.policies[defaultIndex]!.outcomes[outcome]!.decision
    if (action === 'allow') return outside
    const number = labels.findIndex((one) => one.action === action && one.rule === rule)
    return number < 0 ? labels.push({ action, rule }) - 1 : number
  }
  const numbers: number[] = []
  const labelOf: LabelOf = (words, located) => {
    if (located.bogon || defaultIndex < 0) return outside
    const outcome = decide(memory, defaultIndex, words, located)
    return (numbers[outcome] ??= numberOf(outcome))
  }
  return { records: publishedSet(reader, labelOf, how.prefixesMax), labels }
}
