// How sure a finding is (contract 3.2): which feeds say so and how many independently. Voices that
// have faded, by age or because their feed is hardly believed, do not count.
//
// Invariants: one more piece of evidence never lowers the confidence; time alone never raises it.

import type { Confidence } from '../../model/kind.ts'
import { strongestByGroup } from '../weight/strength.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

/** Least w·d·m of a voice that counts: below it a voice moves the others' doubt by under a tenth. */
export const voiceValueMin = 0.1

/** `counted` is of one kind; `inferred`: it speaks of the network, not of addresses. */
export function confidenceOf(counted: readonly CountedEvidence[], inferred: boolean): Confidence {
  if (inferred) return 'low'
  const heard = counted.every(isHeard) ? counted : counted.filter(isHeard)
  let good = false
  for (const { evidence } of heard) {
    if (evidence.voice.assurance === 'direct') return 'high'
    if (evidence.voice.assurance === 'good') good = true
  }
  const voices = heard.length < 2 ? heard.length : strongestByGroup(heard).length
  if (voices >= 3) return 'high'
  return voices === 2 || good ? 'medium' : 'low'
}

function isHeard({ value }: CountedEvidence): boolean {
  return value >= voiceValueMin
}
