// The set of a drawn condition against a scan of `check`: at its edges and at random addresses it holds
// exactly what the condition holds for, never what an own list allows, in the fewest prefixes.

import { expect, it } from 'vitest'
import { compileCondition } from '../../src/policy/condition/condition.ts'
import { factsOf } from '../../src/policy/condition/condition-members.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import {
  compileSetCondition,
  conditionSet,
  decidedCondition,
  readsDecision,
} from '../../src/sets/condition-set.ts'
import { isLeftOut, sampleAddresses, smallTable } from '../export/small-export.ts'
import { inForm } from '../form.ts'
import {
  below,
  drawnLists,
  drawnPolicies,
  drawnTests,
  isHeld,
  isMinimal,
  pick,
  prefixesOf,
  textOf,
  valueOf,
} from './drawn-sets.ts'

const decided = [
  "decision.action != 'allow'",
  "decision.rule == 'r0'",
  "decision.action in ['block', 'slow']",
]

function drawnCondition(): string {
  const one = (): string => {
    const test = below(3) === 0 ? pick(decided) : pick(drawnTests)
    return below(4) === 0 ? `!(${test})` : test
  }
  return Array.from({ length: 1 + below(3) }, one).join(pick([' && ', ' || ']))
}

function holdsOf(condition: string) {
  const compiled = compileCondition(condition)
  if (compiled.kind === 'fault') throw new Error(compiled.message)
  return compiled.holds
}

const common = sampleAddresses(inForm({ short: 200, full: 1000, long: 5000 })).filter(
  (ip) => !isLeftOut(ip),
)

function seen(ip: string) {
  const answer = smallTable.check(ip)!
  const facts = factsOf(answer, answer.lists ?? [])
  const isAllowed = answer.reasons.includes('list_allowed')
  return { ip, at: valueOf(ip), facts, isAllowed, isBogon: answer.signals.bogon }
}

it('a set of a condition holds what a scan of check finds', { timeout: 600_000 }, () => {
  const wrong: string[] = []
  let [held, spared] = [0, 0]
  let scanned: readonly ReturnType<typeof seen>[] = []
  const rounds = inForm({ short: 20, full: 100, long: 1000 })
  for (let round = 0; round < rounds; round++) {
    if (round % inForm({ short: 5, full: 20, long: 50 }) === 0) {
      smallTable.useLists(round === 0 ? undefined : drawnLists())
      scanned = common.map(seen)
    }
    const condition = drawnCondition()
    const policies = drawnPolicies()
    const how = { name: 'drawn', condition, policies, prefixesMax: 10_000 }
    const prefixes = prefixesOf(conditionSet(smallTable.reader, how).records)
    if (!isMinimal(prefixes)) wrong.push(`${condition}: more prefixes than needed`)
    const policy = compilePolicies(policies).policies[0]!
    const edges = prefixes.flatMap(({ family, first, last }) =>
      [first - 1n, first, last, last + 1n]
        .filter((value) => value >= 0n && value < 1n << (family === 4 ? 32n : 128n))
        .map((value) => textOf(family, value)),
    )
    const compiled = new Map<string, ReturnType<typeof holdsOf>>()
    const atEdges = edges.filter((ip) => !isLeftOut(ip)).map(seen)
    for (const { ip, at, facts, isAllowed, isBogon } of [...atEdges, ...scanned]) {
      const { decision } = policy.outcomes[policy.outcomeOf(facts)]!
      const text = decidedCondition(condition, decision)
      const holdsIn = compiled.get(text) ?? holdsOf(text)
      compiled.set(text, holdsIn)
      const holds = holdsIn(facts)
      if (isAllowed && holds) spared++
      const isIn = holds && !isBogon && !isAllowed
      if (isIn) held++
      if (isHeld(prefixes, at) !== isIn) wrong.push(`${condition} ${ip}: ${isIn}`)
    }
  }
  smallTable.useLists(undefined)
  expect(wrong.slice(0, 5)).toEqual([])
  expect(Math.min(held, spared)).toBeGreaterThan(rounds)
})

it('texts of a condition are no decisions', () => {
  const condition = `"decision.action" in lists || 'a\\'decision.rule' == decision . action`
  const decision = { action: 'sl"ow', rule: 'r', policy: 'default' }
  const decided = decidedCondition(condition, decision)
  expect(decided.trimEnd()).toBe(`"decision.action" in lists || 'a\\'decision.rule' == "sl\\"ow"`)
  // So that a mistake behind it keeps its place.
  expect(decided.length).toBe(condition.length)
  expect(readsDecision(`"decision.action" in lists`)).toBe(false)
})

it('a set reads nothing of a request, even where its condition would never ask', () => {
  const compiled = compileSetCondition('decision.action == "block" ||\n false && travel.known')
  const message = expect.stringMatching(/^a set cannot read travel, .* use it in a policy$/)
  expect(compiled).toEqual({ kind: 'fault', message, line: 2, column: 11 })
})
