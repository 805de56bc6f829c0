// Decides by a policy that comes as plain data with its work (an item of the pool, a batch of
// lines): all parts are decided alike. Compiled once.

import type { ContextAnswer } from '../api/check-answer.ts'
import type { OpenTable } from '../table/open-table.ts'
import type { Query } from '../table/lookup/query.ts'
import type { Located } from '../table/lookup/locate.ts'
import { type DecisionMemory, decideQuery, newDecisionMemory } from './decision-memory.ts'
import type { ChosenPolicy } from '../model/policy-form.ts'
import { type Outcome, type PolicySet, compilePolicies } from './policy.ts'

/** `found`: where the address was located, if known. */
export type Decide = (query: Query, found?: Located, context?: ContextAnswer) => Outcome

/** Any more are compiled again. */
const setsMax = 64

const sets = new Map<string, PolicySet>()
const memories = new WeakMap<PolicySet, DecisionMemory>()

/** `undefined` without a policy. */
export function decideBy(table: OpenTable, policy: ChosenPolicy | undefined): Decide | undefined {
  if (policy === undefined) return undefined
  const memory = memoryFor(table, policy)
  return (query, found, context) => decideQuery(memory, 0, query, found, context)
}

function memoryFor(table: OpenTable, { revision, name, rules }: ChosenPolicy): DecisionMemory {
  const key = `${revision} ${name}`
  let set = sets.get(key)
  if (set === undefined) {
    set = compilePolicies({ revision, policies: { [name]: rules } })
    if (sets.size >= setsMax) sets.clear()
    sets.set(key, set)
  }
  let memory = memories.get(set)
  if (memory?.reader !== table.reader) {
    memory = newDecisionMemory(set, table.reader)
    memories.set(set, memory)
  }
  return memory
}
