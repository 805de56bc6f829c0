// What policies decide of a test key's answers (contract 5.7): they apply as to any other key's, by
// the answer's facts; own lists do not, for no list names a test address.

import type { Authenticated } from '../../account/keyring.ts'
import type { CheckAnswer } from '../../api/check-answer.ts'
import type { InputFault } from '../../api/input-fault.ts'
import { parseJsonObject } from '../../base/json-object.ts'
import { factsOf } from '../../policy/condition/condition-facts.ts'
import { policyIndexOf } from '../../policy/policy-choice.ts'
import { takePolicy } from '../endpoint/named-policy.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** What is wrong with the policy that the body names; a right one is kept for the answer. */
export function testPolicyFault(
  exchange: Exchange,
  key: Authenticated,
  body: Uint8Array,
): InputFault | undefined {
  exchange.policy = ''
  const object = parseJsonObject(body)
  if (typeof object === 'string' || !Object.hasOwn(object, 'policy')) return undefined
  return takePolicy(exchange, key, object['policy'])
}

/** The answer with its decision, where there are policies. */
export function decidedTestAnswer<Answer extends CheckAnswer>(
  { service, policy }: Exchange,
  key: Authenticated,
  answer: Answer,
): Answer {
  const set = service.policies.set()
  if (set === undefined) return answer
  const named = policyIndexOf(set, key.policies, policy)
  // Policies may have changed since the request came; then the key's own one decides.
  const chosen = set.policies[named < 0 ? policyIndexOf(set, key.policies, '') : named]!
  const { decision, observed } = chosen.outcomes[chosen.outcomeOf(factsOf(answer, []))]!
  return { ...answer, decision, ...(observed.length === 0 ? {} : { observed }) }
}
