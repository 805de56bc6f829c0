// Policies that decide: their conditions compiled. `outcomeOf` evaluates every rule anew and is the
// slow twin of what is remembered (decision-memory.ts).
//
// Invariant: an outcome depends on the answer's facts alone, so equal facts have the same number.

import { type JsonRun, jsonRun } from '../table/answer/answer-writer.ts'
import type { Decision } from '../api/check-answer.ts'
import {
  decisionLabel,
  defaultPolicyName,
  type Policies,
  type PolicyRules,
} from '../model/policy-form.ts'
import type { Facts } from './condition/condition-members.ts'
import { compileCondition, type Condition } from './condition/condition.ts'

export interface Outcome {
  readonly decision: Decision
  /** The rules in observation that hold, in the policy's order; often none. */
  readonly observed: readonly string[]
  /** Policy, rule and action, by which it is counted: a tab between, which no name has. */
  readonly label: string
  /** Of `observed` the same, without an action. */
  readonly observedLabels: readonly string[]
  /** The members as JSON, from the comma before them to the answer's brace. */
  readonly tail: JsonRun
}

export interface Policy {
  readonly name: string
  readonly rules: PolicyRules['rules']
  /** The outcomes that have come up, by their numbers, which begin with 0. */
  readonly outcomes: readonly Outcome[]
  /** Whether a condition of it reads the member: facts that differ in others decide alike. */
  readonly reads: (member: string) => boolean
  /** The most that one evaluation of all rules may take (condition-program.ts). */
  readonly steps: number
  /** Evaluates the rules; gives the outcome's number. */
  readonly outcomeOf: (facts: Facts) => number
}

export interface PolicySet {
  readonly revision: string
  /** By name; the order is that of names. */
  readonly policies: readonly Policy[]
  /** The place in `policies`, -1 where there is none of that name. */
  readonly indexOf: (name: string) => number
  readonly defaultIndex: number
}

/** `policies` have been checked: an error in a condition is a bug here. */
export function compilePolicies({ revision, policies }: Policies): PolicySet {
  const compiled = Object.entries(policies).map(([name, rules]) => compilePolicy(name, rules))
  const places = new Map(compiled.map(({ name }, index) => [name, index] as const))
  const indexOf = (name: string): number => places.get(name) ?? -1
  return { revision, policies: compiled, indexOf, defaultIndex: indexOf(defaultPolicyName) }
}

function outcomeFor(decision: Decision, observed: readonly string[]): Outcome {
  const members = observed.length === 0 ? { decision } : { decision, observed }
  const { policy } = decision
  return {
    decision,
    observed,
    label: decisionLabel(decision),
    observedLabels: observed.map((rule) => decisionLabel({ policy, rule, action: '' })),
    tail: jsonRun(`,${JSON.stringify(members).slice(1)}`),
  }
}

interface CompiledRule {
  readonly name: string
  readonly action: string
  readonly observe: boolean
  readonly holds: Condition['holds']
  readonly reads: Condition['reads']
  readonly steps: number
}

function compilePolicy(name: string, { rules, otherwise }: PolicyRules): Policy {
  const compiled = rules.map(compileRule)
  const watching = compiled.filter(({ observe }) => observe)
  const deciding = compiled.filter(({ observe }) => !observe)
  const outcomes: Outcome[] = []
  const numbers = new Map<string, number>()
  return {
    name,
    rules,
    outcomes,
    steps: compiled.reduce((sum, { steps }) => sum + steps, 0),
    reads: (member) => compiled.some(({ reads }) => reads.has(member)),
    outcomeOf: (facts) => {
      const decider = deciding.find(({ holds }) => holds(facts))
      const { action, name: rule } = decider ?? { action: otherwise, name: '' }
      const observed = watching.filter(({ holds }) => holds(facts)).map(({ name }) => name)
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

function compileRule({
  name,
  condition,
  action,
  observe,
}: PolicyRules['rules'][number]): CompiledRule {
  const compiled = compileCondition(condition)
  if (compiled.kind === 'fault') throw new Error(`${name}: ${compiled.message}`)
  const { holds, reads, steps } = compiled
  return { name, action, observe, holds, reads, steps }
}

/**
 * Which policy decides a request (contract 5.4): the one that it names, where its key allows that,
 * else the key's first one, else `default`. A key's first policy that the file no longer has is no
 * reason to refuse its callers: then `default` decides, and the decision says so.
 *
 * Returns the place in the set; -1 for a name that is unknown, or that the key does not allow.
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

/** The same for a request that was accepted; if policies have changed since, the key's own decides. */
export function chosenPolicyIndex(
  set: PolicySet,
  allowed: readonly string[] | undefined,
  named: string,
): number {
  const index = policyIndexOf(set, allowed, named)
  return index < 0 ? policyIndexOf(set, allowed, '') : index
}
