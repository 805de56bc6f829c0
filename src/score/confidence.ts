// How sure a finding is (contract 3.2): who says so and how many independently, not how strongly.

import type { Confidence } from '../model/kind.ts'
import { strongestByGroup } from './strength.ts'
import type { Counted } from './weigh.ts'

/** `counted` is of one kind; `inferred`: it speaks of the network, not of addresses. */
export function confidenceOf(counted: readonly Counted[], inferred: boolean): Confidence {
  if (inferred) return 'low'
  let good = false
  for (const { evidence } of counted) {
    if (evidence.voice.assurance === 'direct') return 'high'
    if (evidence.voice.assurance === 'good') good = true
  }
  const voices = counted.length < 2 ? counted.length : strongestByGroup(counted).length
  if (voices >= 3) return 'high'
  return voices === 2 || good ? 'medium' : 'low'
}
