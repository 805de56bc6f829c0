// The set of a condition (contract 6.3: published sets): the addresses that match, without bogons
// and those that an own list with effect `allow` names. `decision` is what the default policy
// decides; its members are substituted as texts into the tested condition, once per decision.

import type { Decision } from '../api/check-answer.ts'
import { placeAt } from '../base/text/repeated-members.ts'
import { type Policies, defaultPolicyName, noPolicies } from '../model/policy-form.ts'
import { type Condition, compileCondition } from '../policy/condition/condition.ts'
import { readContext } from '../policy/condition/condition-members.ts'
import { decide, newDecisionMemory } from '../policy/decision-memory.ts'
import { type Policy, compilePolicies } from '../policy/policy.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { listsOf } from '../table/answer/own-lists.ts'
import type { SetContent } from './next-generation.ts'
import { type LabelOf, outside, publishedSet } from './published-set.ts'

const noDecision: Decision = { action: 'allow', rule: '', policy: defaultPolicyName }

/** A literal text, in which nothing is replaced, or a member of `decision`. */
const decisionForm =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.])decision\s*\.\s*(action|rule|policy)\b/g

/** The condition for a decision; places in it do not change if the text is as short. */
export function decidedCondition(condition: string, decision: Decision = noDecision): string {
  return condition.replaceAll(decisionForm, (text, member: keyof Decision | undefined) =>
    member === undefined ? text : JSON.stringify(decision[member]).padEnd(text.length),
  )
}

export const readsDecision = (condition: string): boolean =>
  decidedCondition(condition) !== condition

/** A set has no requests, so its condition reads none (contract 6.3: published sets). */
export function compileSetCondition(
  condition: string,
  decision?: Decision,
): ReturnType<typeof compileCondition> {
  const compiled = compileCondition(decidedCondition(condition, decision))
  const member = compiled.kind === 'fault' ? undefined : readContext(compiled.reads)
  if (member === undefined) return compiled
  const message = `a set cannot read ${member}, which differs by request; use it in a policy`
  return { kind: 'fault', message, ...placeAt(condition, condition.indexOf(member)) }
}

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
  const { name, condition } = how
  const { lists, views } = reader
  const set = compilePolicies(how.policies)
  const decider = readsDecision(condition) ? set.policies[set.defaultIndex] : undefined
  const reads = checked(condition).reads
  /** Keyed by the decider's outcome. */
  const tests: Condition['holds'][] = []
  const policy: Policy = {
    ...compilePolicies(noPolicies).policies[0]!,
    reads: (member) => reads.has(member) || decider?.reads(member) === true,
    outcomeOf: (facts) => {
      const outcome = decider?.outcomeOf(facts) ?? 0
      const test = (tests[outcome] ??= checked(condition, decider?.outcomes[outcome]).holds)
      return test(facts) ? inside : inside + 1
    },
  }
  const memory = newDecisionMemory({ ...set, policies: [policy] }, reader)
  const labelOf: LabelOf = (words, located) => {
    if (located.bogon || listsOf(lists, views, words, located)?.effect === 'allow') return outside
    return decide(memory, 0, words, located) === inside ? inside : outside
  }
  const records = publishedSet(reader, labelOf, how.prefixesMax)
  return { records, labels: [{ action: 'block', rule: name }] }
}

/** The outcome and the label of what matches the condition. */
const inside = 0

/** The condition of a checked setting. */
function checked(
  condition: string,
  { decision }: { readonly decision?: Decision } = {},
): Condition {
  const compiled = compileSetCondition(condition, decision)
  if (compiled.kind === 'fault') throw new Error(compiled.message)
  return compiled
}
