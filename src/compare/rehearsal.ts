// What a policy would have done with the addresses of files: requests by outcome, and those that it
// would not have allowed, or decided differently from another policy, by network, provider and
// country. `policy test --json` prints the report.

import type { RehearsalReport } from '../api/admin-answers.ts'
import { addTo, largestFirst } from '../base/counts.ts'
import { formatDay } from '../base/day.ts'
import type { LineTally } from '../bulk/line-tally.ts'
import { newAddressWords } from '../ip/address.ts'
import type { PolicyRule } from '../model/policy-form.ts'
import { factsOf } from '../policy/condition/condition-members.ts'
import { decide } from '../policy/decision-memory.ts'
import type { Policy } from '../policy/policy.ts'
import { locate, newLocated } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import { type PolicyInUse, newChangeCounter, visitTally } from './comparison.ts'
import { addHit, exampleFacts, hitListsOf, newHits, requestShare } from './hit-lists.ts'

type RehearsalCounter = ReturnType<typeof newRehearsalCounter>
type OutcomeCount = ReturnType<RehearsalCounter['outcomes']>[number]

const policyOf = ({ memory, index }: PolicyInUse): Policy => memory.set.policies[index]!

export function newRehearsalCounter(
  table: OpenTable,
  one: PolicyInUse,
  other: PolicyInUse | undefined,
) {
  const { views } = table.reader
  const words = newAddressWords()
  const located = newLocated()
  /** Keyed by outcome, then by the other policy's outcome. */
  const counts: number[][] = []
  const hits = newHits()
  const policy = policyOf(one)
  const otherPolicy = other === undefined ? undefined : policyOf(other)
  const isHit = (number: number, otherNumber: number): boolean => {
    const { action } = policy.outcomes[number]!.decision
    if (otherPolicy === undefined) return action !== 'allow'
    return action !== otherPolicy.outcomes[otherNumber]!.decision.action
  }
  const count = (family: 4 | 6, requests: number, textOf: () => string): void => {
    locate(views, family, words, located)
    const number = decide(one.memory, one.index, words, located)
    const otherNumber = other === undefined ? 0 : decide(other.memory, other.index, words, located)
    const row = (counts[number] ??= [])
    row[otherNumber] = (row[otherNumber] ?? 0) + requests
    if (isHit(number, otherNumber)) addHit(hits, table, { located, requests, text: textOf() })
  }
  return {
    /** Requests that would not have been allowed; with another policy, those that change. */
    hits,
    add: (tally: Pick<LineTally, 'ipv4' | 'ipv6'>) => visitTally(tally, words, count),
    outcomes: () =>
      counts.flatMap((row, number) =>
        row.flatMap((requests, otherNumber) => {
          const outcome = policy.outcomes[number]!
          return [{ outcome, other: otherPolicy?.outcomes[otherNumber], requests }]
        }),
      ),
  }
}

const examplesMax = 20

export function rehearsalReport(options: {
  readonly table: OpenTable
  readonly one: PolicyInUse
  readonly other: PolicyInUse | undefined
  readonly counter: RehearsalCounter
  readonly result: Readonly<Record<'lines' | 'addresses' | 'bad', number>>
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
  for (const one of outcomes) addTo(sums, keyOf(one), one.requests)
  return sums
}

function actionsOf(outcomes: readonly OutcomeCount[], all: number): RehearsalReport['actions'] {
  const sums = sumBy(outcomes, ({ outcome }) => outcome.decision.action)
  return largestFirst(sums).map(([action, requests]) => ({
    action,
    ...requestShare(requests, all),
  }))
}

function rulesOf(
  rules: readonly PolicyRule[],
  outcomes: readonly OutcomeCount[],
  all: number,
): RehearsalReport['rules'] {
  const decided = sumBy(outcomes, ({ outcome }) => outcome.decision.rule)
  const placeOf = new Map(rules.map(({ name }, place) => [name, place] as const))
  const reports = rules.map(
    ({ name, action, observe }, place): RehearsalReport['rules'][number] => {
      if (!observe) return { rule: name, action, ...requestShare(decided.get(name) ?? 0, all) }
      const held = outcomes.filter(({ outcome }) => outcome.observed.includes(name))
      // Live, it would decide before later rules.
      const acting = held.filter(({ outcome: { decision } }) => {
        return place < (placeOf.get(decision.rule) ?? Infinity) && decision.action !== action
      })
      const share = requestShare(requestsOf(held), all)
      return { rule: name, action, ...share, would_change: requestsOf(acting) }
    },
  )
  const rest = outcomes.filter(({ outcome }) => outcome.decision.rule === '')
  const action = rest[0]?.outcome.decision.action
  if (action === undefined) return reports
  return [...reports, { rule: '', action, ...requestShare(requestsOf(rest), all) }]
}

const requestsOf = (outcomes: readonly OutcomeCount[]): number =>
  outcomes.reduce((sum, { requests }) => sum + requests, 0)

function changesOf(
  outcomes: readonly OutcomeCount[],
  all: number,
): NonNullable<RehearsalReport['changed']> {
  const counter = newChangeCounter()
  for (const { outcome, other, requests } of outcomes) {
    const to = outcome.decision.action
    counter.add(other?.decision.action ?? to, to, requests)
  }
  const { changed, changes } = counter.comparison()
  const by_action = changes.map(({ from, to, count }) => ({
    from,
    to,
    ...requestShare(count, all),
  }))
  return { ...requestShare(changed, all), by_action }
}

function examplesOf(
  table: OpenTable,
  { hits }: RehearsalCounter,
  one: PolicyInUse,
  other: PolicyInUse | undefined,
): RehearsalReport['examples'] {
  return hits.addresses.top(examplesMax).flatMap(([ip, counts]) => {
    const answer = table.check(ip)
    if (answer === undefined) return []
    const decisionOf = (by: PolicyInUse) => {
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
