// Compiled policies. `outcomeOf` evaluates every rule and is the slow twin of decision-memory.ts.
// Invariant: equal facts have the same outcome number.

import { jsonRun } from '../table/answer/answer-writer.ts'
import type { Decision } from '../api/check-answer.ts'
import {
  type Policies,
  type PolicyRules,
  decisionLabel,
  defaultPolicyName,
} from '../model/policy-form.ts'
import { type Facts, readContext } from './condition/condition-members.ts'
import { compileCondition } from './condition/condition.ts'

export type Outcome = ReturnType<typeof outcomeFor>
export type Policy = ReturnType<typeof compilePolicy>
export type PolicySet = ReturnType<typeof compilePolicies>

/** In the order of names. An error in a checked condition is a bug. */
export function compilePolicies({ revision, policies }: Policies) {
  const compiled = Object.entries(policies).map(([name, rules]) => compilePolicy(name, rules))
  const places = new Map(compiled.map(({ name }, index) => [name, index] as const))
  /** -1 for an unknown name. */
  const indexOf = (name: string): number => places.get(name) ?? -1
  return { revision, policies: compiled, indexOf, defaultIndex: indexOf(defaultPolicyName) }
}

/** `observed`: rules in observation, in the policy's order. */
function outcomeFor(decision: Decision, observed: readonly string[]) {
  const members = observed.length === 0 ? { decision } : { decision, observed }
  const { policy } = decision
  return {
    decision,
    observed,
    label: decisionLabel(decision),
    observedLabels: observed.map((rule) => decisionLabel({ policy, rule, action: '' })),
    /** From the comma before them to the answer's brace. */
    tail: jsonRun(`,${JSON.stringify(members).slice(1)}`),
  }
}

function compilePolicy(name: string, { rules, otherwise }: PolicyRules) {
  const compiled = rules.map(compileRule)
  const withoutContext = rules.filter((_, index) => !compiled[index]!.readsContext)
  const watching = compiled.filter(({ observe }) => observe)
  const deciding = compiled.filter(({ observe }) => !observe)
  const outcomes: Outcome[] = []
  const numbers = new Map<string, number>()
  return {
    name,
    rules,
    readsContext: withoutContext.length < rules.length,
    /** Its rules that read no context; requests with context share their results. */
    remembered: { rules: withoutContext, otherwise },
    outcomes: outcomes as readonly Outcome[],
    /** For one evaluation of all rules (condition-program.ts). */
    steps: compiled.reduce((sum, { steps }) => sum + steps, 0),
    /** Facts that differ in other members decide alike. */
    reads: (member: string) => compiled.some(({ reads }) => reads.has(member)),
    /** Returns the outcome's number. `known`: that of `remembered`, whose rules are not evaluated.
     * */
    outcomeOf: (facts: Facts, known?: Pick<Outcome, 'decision' | 'observed'>): number => {
      const isTrue = ({ name, readsContext, holds }: CompiledRule): boolean =>
        known === undefined || readsContext
          ? holds(facts)
          : known.decision.rule === name || known.observed.includes(name)
      const decider = deciding.find(isTrue)
      const { action, name: rule } = decider ?? { action: otherwise, name: '' }
      const observed = watching.filter(isTrue).map(({ name }) => name)
      const key = [rule, ...observed].join()
      let number = numbers.get(key)
      if (number === undefined) {
        number = outcomes.length
        outcomes.push(outcomeFor({ action, rule, policy: name }, observed))
        numbers.set(key, number)
      }
      return number
    },
  }
}

function compileRule({ name, condition, action, observe }: PolicyRules['rules'][number]) {
  const compiled = compileCondition(condition)
  if (compiled.kind === 'fault') throw new Error(`${name}: ${compiled.message}`)
  const { holds, reads, steps } = compiled
  const readsContext = readContext(reads) !== undefined
  return { name, action, observe, holds, reads, readsContext, steps }
}
type CompiledRule = ReturnType<typeof compileRule>

/**
 * Which policy decides a request (contract 5.4: decision): the named one if its key allows it, else
 * the key's first one, else `default`, also if the file no longer has the key's first. -1 for a
 * name that is unknown or not allowed.
 */
export function policyIndexOf(
  set: PolicySet,
  allowed: readonly string[] | undefined,
  named: string,
): number {
  if (named === '') {
    const index = allowed === undefined ? -1 : set.indexOf(allowed[0]!)
    return index < 0 ? set.defaultIndex : index
  }
  const isAllowed = allowed === undefined ? named === defaultPolicyName : allowed.includes(named)
  return isAllowed ? set.indexOf(named) : -1
}

/** For an accepted request; if policies have changed since, the key's own decides. */
export function chosenPolicyIndex(
  set: PolicySet,
  allowed: readonly string[] | undefined,
  named: string,
): number {
  const index = policyIndexOf(set, allowed, named)
  return index < 0 ? policyIndexOf(set, allowed, '') : index
}
