// Which of several names an answer gives. Deterministic: the order of the evidence does not matter.

import type { CountedEvidence } from '../weight/weigh-evidence.ts'

/**
 * The name that the strongest evidence gives. Of equally strong ones, that of the network's owner
 * (GitHub lists Microsoft's cloud, too: there it is Microsoft's), else the first in code order.
 */
export function providerOf(counted: readonly CountedEvidence[], organization = ''): string {
  let name = ''
  let strongest = -1
  for (const { evidence, value } of counted) {
    const { provider } = evidence
    if (provider === '') continue
    const wins = value === strongest && isBefore(provider, name, organization)
    if (value > strongest || wins) {
      name = provider
      strongest = value
    }
  }
  return name
}

function isBefore(one: string, other: string, organization: string): boolean {
  const [owns, otherOwns] = [isOwner(one, organization), isOwner(other, organization)]
  return owns === otherOwns ? one < other : owns
}

/** `Microsoft Azure` is of `Microsoft Corporation`. */
function isOwner(provider: string, organization: string): boolean {
  const [first = ''] = provider.split(' ')
  return organization.toLowerCase().startsWith(first.toLowerCase())
}
