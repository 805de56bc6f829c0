// A rehearsal as one report: counts and shares by action and rule, what changes against the other
// policy, who would be hit most, and examples. What `policy test --json` prints.

import { formatDay } from '../base/day.ts'
import { factsOf } from '../policy/condition/condition-members.ts'
import type { PolicyRule } from '../model/policy-form.ts'
import type { OpenTable } from '../table/open-table.ts'
import {
  type ExampleFacts,
  type HitLists,
  type RequestShare,
  exampleFacts,
  hitListsOf,
  requestShare,
} from './hit-lists.ts'
import type { Rehearsed } from './compared-table.ts'
import { type OutcomeCount, type RehearsalCounter, policyOf } from './rehearsal.ts'

/** What the lines came to. */
export interface RehearsedLines {
  readonly lines: number
  readonly addresses: number
  readonly bad: number
}

export interface RehearsalReport {
  readonly table: { readonly id: string; readonly as_of: string }
  readonly policy: string
  readonly revision: string
  /** The policy that it was compared with. */
  readonly against?: { readonly policy: string; readonly revision: string }
  readonly lines: number
  readonly requests: number
  /** Lines that should name an address and do not. */
  readonly bad_lines: number
  readonly actions: readonly ({ readonly action: string } & RequestShare)[]
  /** In the policy's order, and last with the rule `""` what no rule decided. */
  readonly rules: readonly RuleReport[]
  /** Requests that get another action than from the other policy. */
  readonly changed?: RequestShare & {
    readonly by_action: readonly ({ readonly from: string; readonly to: string } & RequestShare)[]
  }
  /** Of requests whose action changes; without another policy, of those that are not allowed. */
  readonly hit: HitLists
  readonly examples: readonly Example[]
}

type RuleReport = {
  readonly rule: string
  readonly action: string
  /** Absent unless the rule is in observation: requests to which it would give another action. */
  readonly would_change?: number
} & RequestShare

type Example = { readonly ip: string; readonly requests: number } & ExampleFacts & {
    readonly action: string
    readonly rule: string
    readonly action_before?: string
    readonly rule_before?: string
  }

const examplesMax = 20

export function rehearsalReport(options: {
  readonly table: OpenTable
  readonly one: Rehearsed
  readonly other: Rehearsed | undefined
  readonly counter: RehearsalCounter
  readonly result: RehearsedLines
  readonly top: number
}): RehearsalReport {
  const { table, one, other, counter, result, top } = options
  const { lines, addresses: all, bad } = result
  const outcomes = counter.outcomes()
  const { name: policy, rules } = policyOf(one)
  const compared =
    other === undefined
      ? {}
      : {
          against: { policy: policyOf(other).name, revision: other.memory.set.revision },
          changed: changesOf(outcomes, all),
        }
  return {
    table: { id: table.id, as_of: formatDay(table.asOf) },
    policy,
    revision: one.memory.set.revision,
    ...compared,
    lines,
    requests: all,
    bad_lines: bad,
    actions: actionsOf(outcomes, all),
    rules: rulesOf(rules, outcomes, all),
    hit: hitListsOf(table, counter.hits, { top, all }),
    examples: examplesOf(table, counter, one, other),
  }
}

function sumBy<Key>(
  outcomes: readonly OutcomeCount[],
  keyOf: (one: OutcomeCount) => Key,
): Map<Key, number> {
  const sums = new Map<Key, number>()
  for (const one of outcomes) {
    const key = keyOf(one)
    sums.set(key, (sums.get(key) ?? 0) + one.requests)
  }
  return sums
}

const bySize = ([, a]: readonly [string, number], [, b]: readonly [string, number]): number => b - a

function actionsOf(outcomes: readonly OutcomeCount[], all: number): RehearsalReport['actions'] {
  const sums = sumBy(outcomes, ({ outcome }) => outcome.decision.action)
  return [...sums]
    .sort(bySize)
    .map(([action, requests]) => ({ action, ...requestShare(requests, all) }))
}

function rulesOf(
  rules: readonly PolicyRule[],
  outcomes: readonly OutcomeCount[],
  all: number,
): readonly RuleReport[] {
  const decided = sumBy(outcomes, ({ outcome }) => outcome.decision.rule)
  const placeOf = new Map(rules.map(({ name }, place) => [name, place] as const))
  const reports = rules.map(({ name, action, observe }, place): RuleReport => {
    if (!observe) return { rule: name, action, ...requestShare(decided.get(name) ?? 0, all) }
    const held = outcomes.filter(({ outcome }) => outcome.observed.includes(name))
    // Live, it would decide before the rules behind it.
    const acting = held.filter(({ outcome: { decision } }) => {
      return place < (placeOf.get(decision.rule) ?? Infinity) && decision.action !== action
    })
    const share = requestShare(requestsOf(held), all)
    return { rule: name, action, ...share, would_change: requestsOf(acting) }
  })
  const rest = outcomes.filter(({ outcome }) => outcome.decision.rule === '')
  const action = rest[0]?.outcome.decision.action
  if (action === undefined) return reports
  return [...reports, { rule: '', action, ...requestShare(requestsOf(rest), all) }]
}

function requestsOf(outcomes: readonly OutcomeCount[]): number {
  return outcomes.reduce((sum, { requests }) => sum + requests, 0)
}

function changesOf(
  outcomes: readonly OutcomeCount[],
  all: number,
): NonNullable<RehearsalReport['changed']> {
  const changed = outcomes.filter(
    ({ outcome, other }) =>
      other !== undefined && other.decision.action !== outcome.decision.action,
  )
  const sums = sumBy(
    changed,
    ({ outcome, other }) => `${other?.decision.action} ${outcome.decision.action}`,
  )
  const by_action = [...sums].sort(bySize).map(([key, requests]) => {
    const [from = '', to = ''] = key.split(' ')
    return { from, to, ...requestShare(requests, all) }
  })
  return { ...requestShare(requestsOf(changed), all), by_action }
}

function examplesOf(
  table: OpenTable,
  { hits }: RehearsalCounter,
  one: Rehearsed,
  other: Rehearsed | undefined,
): readonly Example[] {
  return hits.addresses.top(examplesMax).flatMap(([ip, counts]) => {
    const answer = table.check(ip)
    if (answer === undefined) return []
    const decisionOf = (by: Rehearsed) => {
      const policy = policyOf(by)
      return policy.outcomes[policy.outcomeOf(factsOf(answer, answer.lists ?? []))]!.decision
    }
    const { action, rule } = decisionOf(one)
    const before = other === undefined ? undefined : decisionOf(other)
    const was =
      before === undefined ? {} : { action_before: before.action, rule_before: before.rule }
    const requests = counts[0] ?? 0
    return [{ ip, requests, action, rule, ...was, ...exampleFacts(answer) }]
  })
}
