// Which of several names an answer gives. Deterministic: the order of the evidence does not matter.

import type { Counted } from './weigh.ts'

/** The name that the strongest evidence gives; of equally strong ones the first in code order. */
export function providerOf(counted: readonly Counted[]): string {
  let name = ''
  let strongest = -1
  for (const { evidence, value } of counted) {
    const { provider } = evidence
    if (provider === '') continue
    if (value > strongest || (value === strongest && provider < name)) {
      name = provider
      strongest = value
    }
  }
  return name
}
