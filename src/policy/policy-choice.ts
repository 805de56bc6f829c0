// Which policy decides a request (contract 5.4): the one that it names, where its key allows that,
// else the key's first one, else `default`. A key's first policy that the file no longer has is no
// reason to refuse its callers: then `default` decides, and the decision says so.

import { defaultPolicyName } from '../model/policy-form.ts'
import type { PolicySet } from './policy.ts'

/** The place in the set; -1 for a name that is unknown, or that the key does not allow. */
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
