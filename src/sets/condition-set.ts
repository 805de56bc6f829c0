// The set of a condition (contract 6.3): the addresses for which it holds, without bogons and what an
// own list of effect `allow` names. `decision` is what the default policy decides; its members are
// texts in the condition that is tested then, one condition for each decision.

import { type Policies, defaultPolicyName } from '../model/policy-form.ts'
import { type DecisionMemory, decide, newDecisionMemory } from '../policy/decision-memory.ts'
import { compilePolicies } from '../policy/policy.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { listsOf } from '../table/answer/own-lists.ts'
import type { SetContent } from './next-generation.ts'
import { outside, publishedSet } from './published-set.ts'

type Decision = Readonly<Record<'action' | 'rule' | 'policy', string>>

const noDecision: Decision = { action: 'allow', rule: '', policy: defaultPolicyName }

/** A literal text, in which nothing is replaced, or a member of `decision`. */
const decisionForm =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.])decision\s*\.\s*(action|rule|policy)\b/g

/** The condition where that is decided. */
export function decidedCondition(condition: string, decision: Decision = noDecision): string {
  return condition.replaceAll(decisionForm, (text, member: keyof Decision | undefined) =>
    member === undefined ? text : JSON.stringify(decision[member]),
  )
}

export const readsDecision = (condition: string): boolean =>
  decidedCondition(condition) !== condition

/** Throws `set_too_large`. */
export function conditionSet(
  reader: AnswerReader,
  how: {
    readonly name: string
    readonly condition: string
    readonly policies: Policies
    readonly prefixesMax: number
  },
): SetContent {
  const { name, condition, prefixesMax } = how
  const { lists, views } = reader
  const deciding = newDecisionMemory(compilePolicies(how.policies), reader)
  const { policies, defaultIndex } = deciding.set
  const byText = new Map<string, DecisionMemory>()
  const byOutcome: DecisionMemory[] = []
  const tester = (decision?: Decision): DecisionMemory => {
    const text = decidedCondition(condition, decision)
    const known = byText.get(text) ?? newDecisionMemory(blocking(name, text), reader)
    byText.set(text, known)
    return known
  }
  const fixed = defaultIndex < 0 || !readsDecision(condition) ? tester() : undefined
  const records = publishedSet(
    reader,
    (words, located) => {
      if (located.bogon) return outside
      if (listsOf(lists, views, words, located)?.effect === 'allow') return outside
      let memory = fixed
      if (memory === undefined) {
        const outcome = decide(deciding, defaultIndex, words, located)
        memory = byOutcome[outcome] ??= tester(policies[defaultIndex]!.outcomes[outcome]!.decision)
      }
      const [policy] = memory.set.policies
      const { action } = policy!.outcomes[decide(memory, 0, words, located)]!.decision
      return action === 'block' ? 0 : outside
    },
    prefixesMax,
  )
  return { records, labels: [{ action: 'block', rule: name }] }
}

function blocking(name: string, condition: string) {
  const rules = [{ name, condition, action: 'block', observe: false }]
  return compilePolicies({
    revision: '',
    policies: { [defaultPolicyName]: { rules, otherwise: 'allow' } },
  })
}
