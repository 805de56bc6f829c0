// The policies that a worker decides by, and its memory of decisions, which belongs to one set and
// one table. One set decides a whole request.

import type { OpenTable } from '../../table/open-table.ts'
import type { Table } from '../../table/table.ts'
import { compileAhead } from '../../policy/condition/condition.ts'
import { type DecisionMemory, newDecisionMemory } from '../../policy/decision-memory.ts'
import { compilePolicies, policyIndexOf, type PolicySet } from '../../policy/policy.ts'
import type { ChosenPolicy, Policies } from '../../model/policy-form.ts'
import { inlineStepsMax } from '../../pool/offload-policy.ts'
import type { Authenticated } from '../../account/keyring.ts'

export type ServedPolicies = ReturnType<typeof createServedPolicies>

export function createServedPolicies() {
  let policies: Policies | undefined
  let set: PolicySet | undefined
  let memory: DecisionMemory | undefined
  let isHeavy = false
  let readsContext = false
  let newest: Policies | undefined
  let using: Promise<void> | undefined

  const take = async (changed: Policies): Promise<void> => {
    await compileAhead(changed, false)
    if (changed !== newest) return
    set = compilePolicies(changed)
    isHeavy = set.policies.some(({ steps }) => steps > inlineStepsMax)
    readsContext = set.policies.some((policy) => policy.readsContext)
    policies = changed
    memory = undefined
  }
  /** Compiles in turns of the loop, then uses the policies unless newer ones have come. */
  const use = (changed: Policies): Promise<void> => {
    newest = changed
    using = take(changed)
    return using
  }
  return {
    set: () => set,
    /** Some rule reads what a request says besides its address. */
    readsContext: () => readsContext,
    /** A decision may take so long that the loop should make one per turn. */
    isHeavy: () => isHeavy,
    memoryOf: (table: Table): DecisionMemory | undefined => {
      if (set === undefined) return undefined
      const { reader } = table as OpenTable
      if (memory?.reader !== reader) memory = newDecisionMemory(set, reader)
      return memory
    },
    /** What a pool thread decides by, for the policy that the key and the name choose. */
    itemPolicy: ({ policies: allowed }: Authenticated, named: string): ChosenPolicy | undefined => {
      if (set === undefined || policies === undefined) return undefined
      const chosen = policyIndexOf(set, allowed, named)
      const { name } = set.policies[chosen < 0 ? set.defaultIndex : chosen]!
      return { revision: policies.revision, name, rules: policies.policies[name]! }
    },
    use,
    /** For the first policies: does nothing if others have come. */
    begin: (first: Policies) => using ?? use(first),
  }
}
