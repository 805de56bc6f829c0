// Hot path: `decideQuery`, `decide` and `recall`. No allocation, throw, closure, BigInt or regular
// expression there.
//
// Remembers decisions. Without a matching list a decision depends on the table's record and the
// family alone: each policy has one element a record and family, the number of its outcome
// (policy.ts) + 1, 0 where it is not known yet.
//
//   elements of a policy   0           bogons of IPv4      records + 1       bogons of IPv6
//                          1 + record  IPv4                records + 2 + …   IPv6
//
// Rules that read context (contract 6.5: context) are evaluated for each request that has
// some; results of the others are cached separately. Without context all rules see empty members.
//
// Outcomes are also remembered by the facts that a policy reads, so that most records need no
// evaluation. What two records answer (6to4), and what lists change, is recomputed. Memory is
// allocated as zeros, which the kernel backs when written. A memory belongs to one table and one
// set of policies.

import type { CheckAnswer, ContextAnswer } from '../api/check-answer.ts'
import { covered, listedAnswer, listsOf } from '../table/answer/own-lists.ts'
import type { ListMatch } from '../lists/list-matcher.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { type Located, locate, newLocated } from '../table/lookup/locate.ts'
import type { Query } from '../table/lookup/query.ts'
import { networkWords, recordWords } from '../schema/table-layout.ts'
import { factsOf, type SeenAnswer } from './condition/condition-members.ts'
import { compilePolicies, type Outcome, type Policy, type PolicySet } from './policy.ts'

export interface DecisionMemory {
  readonly set: PolicySet
  /** Keyed by the policy's place; made on first use. */
  readonly elements: (Uint16Array | undefined)[]
  readonly reader: AnswerReader
  readonly facts: readonly ReturnType<typeof newFactMemory>[]
  readonly stride: number
  /** For the rules that read no context; made for the first request with context. */
  withoutContext: DecisionMemory | undefined
}

/** Outcomes with higher numbers are not remembered. */
const rememberedMax = 0xffff

export function newDecisionMemory(set: PolicySet, reader: AnswerReader): DecisionMemory {
  const stride = reader.views.records.length / recordWords + 1
  const elements = set.policies.map(() => undefined)
  const facts = set.policies.map((policy) => newFactMemory(policy, reader))
  return { set, elements, reader, facts, stride, withoutContext: undefined }
}

/** Some 5 MB; nearly all policies distinguish fewer facts. */
const factsMax = 65_536

/** Outcomes by what a policy reads of a record: verdict, network, location, family. */
function newFactMemory(policy: Policy, { views }: AnswerReader) {
  const network = policy.reads('network') ? views.networks.length / networkWords + 1 : 0
  const location = policy.reads('location') ? views.location_runs.length + 1 : 0
  const family = policy.reads('version') ? 2 : 0
  return {
    outcomes: new Map<number, number>(),
    // Each id is below its factor; the product stays below 2^53 for any table that fits in memory.
    keyOf: (located: Located): number => {
      let key = located.bogon ? 0 : located.verdict + 1
      if (network > 0) key = key * network + (located.bogon ? 0 : located.network)
      if (location > 0) key = key * location + (located.bogon ? 0 : located.location)
      return family === 0 ? key : key * family + (located.version === 4 ? 0 : 1)
    },
  }
}

const own = newLocated()

/** `found`: where the address was located, if known. */
export function decideQuery(
  memory: DecisionMemory,
  policy: number,
  query: Query,
  found?: Located,
  context?: ContextAnswer,
): Outcome {
  if (found === undefined) {
    locate(memory.reader.views, query.family === 4 ? 4 : 6, query.words, own)
  }
  const { outcomes, readsContext } = memory.set.policies[policy]!
  const number =
    context === undefined || !readsContext
      ? decide(memory, policy, query.words, found ?? own)
      : decideInContext(memory, policy, query.words, found ?? own, context)
  return outcomes[number]!
}

/** For the address that `parseAddress` left in `words`. */
export function decide(
  memory: DecisionMemory,
  policy: number,
  words: Uint32Array,
  located: Located,
): number {
  const { lists, views } = memory.reader
  if (lists !== undefined && covered(lists, views, words, located))
    return decideListed(memory, policy, words, located)
  return recall(memory, policy, located)
}

export function recall(memory: DecisionMemory, policy: number, located: Located): number {
  const { record, bogon, version } = located
  const elements = memory.elements[policy]
  if (elements === undefined || (record < 0 && !bogon)) return learn(memory, policy, located)
  const known = elements[elementOf(memory, record, version)]!
  return known === 0 ? learn(memory, policy, located) : known - 1
}

/** A bogon's record is -1. */
function elementOf({ stride }: DecisionMemory, record: number, version: 4 | 6): number {
  return version === 4 ? record + 1 : stride + record + 1
}

/** Not hot. */
function learn(memory: DecisionMemory, index: number, located: Located): number {
  const { elements, stride } = memory
  const number = outcomeByFacts(memory, index, located)
  const { record, bogon, version } = located
  if ((record < 0 && !bogon) || number + 1 > rememberedMax) return number
  const own = (elements[index] ??= new Uint16Array(stride * 2))
  own[elementOf(memory, record, version)] = number + 1
  return number
}

function outcomeByFacts({ set, reader, facts }: DecisionMemory, index: number, located: Located) {
  const { outcomes, keyOf } = facts[index]!
  const key = keyOf(located)
  let number = outcomes.get(key)
  if (number === undefined) {
    number = set.policies[index]!.outcomeOf(factsAt(reader, located))
    if (outcomes.size >= factsMax) outcomes.clear()
    outcomes.set(key, number)
  }
  return number
}

/** An entry of a list may have expired since the lists were compiled; then none matches. */
function decideListed(
  memory: DecisionMemory,
  policy: number,
  words: Uint32Array,
  located: Located,
): number {
  const { set, reader } = memory
  const match = listsOf(reader.lists, reader.views, words, located)
  if (match === undefined) return recall(memory, policy, located)
  return set.policies[policy]!.outcomeOf(factsAt(reader, located, match))
}

/** Not hot. */
function decideInContext(
  memory: DecisionMemory,
  policy: number,
  words: Uint32Array,
  located: Located,
  context: ContextAnswer,
): number {
  const { set, reader } = memory
  const others = (memory.withoutContext ??= newDecisionMemory(rulesWithoutContext(set), reader))
  const known = others.set.policies[policy]!.outcomes[decide(others, policy, words, located)]!
  const match = listsOf(reader.lists, reader.views, words, located)
  return set.policies[policy]!.outcomeOf(factsAt(reader, located, match, context), known)
}

/** A condition sees what lists change. */
function factsAt(reader: AnswerReader, located: Located, match?: ListMatch, context?: object) {
  const seen = { ...seenAnswer(reader, located), ...context }
  if (match === undefined) return factsOf(seen, [])
  return factsOf(listedAnswer(seen as CheckAnswer, match), match.names)
}

function rulesWithoutContext({ revision, policies }: PolicySet): PolicySet {
  const remembered = policies.map((policy) => [policy.name, policy.remembered] as const)
  return compilePolicies({ revision, policies: Object.fromEntries(remembered) })
}

function seenAnswer({ parts }: AnswerReader, located: Located): SeenAnswer {
  const { bogon, version } = located
  const part = bogon ? parts.bogon : parts.verdict(located.verdict)
  return {
    ...part,
    version,
    network: bogon || located.network === 0 ? null : parts.network(located.network),
    location: bogon || located.location === 0 ? null : parts.location(located.location),
  }
}

/** Written, or yet to be. */
export function memoryBytes({ elements }: DecisionMemory): number {
  return elements.reduce((sum, one) => sum + (one?.byteLength ?? 0), 0)
}
