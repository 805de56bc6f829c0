// The policy that a body names (contract 5.4): kept for the answer, or why it is refused. Only
// asked where there are policies and the body has the member.

import type { Authenticated } from '../../account/keyring.ts'
import { type InputFault, policyFaults } from '../../api/input-fault.ts'
import { policyIndexOf } from '../../policy/policy-choice.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** `undefined` where the exchange has it. */
export function takePolicy(
  exchange: Exchange,
  key: Authenticated,
  named: unknown,
): InputFault | undefined {
  const set = exchange.service.policies.set()
  if (set === undefined) return undefined
  if (typeof named !== 'string') return policyFaults.no_string
  if (named === '' || policyIndexOf(set, key.policies, named) < 0) return policyFaults.not_allowed
  exchange.policy = named
  return undefined
}
