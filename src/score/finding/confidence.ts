// How certain a finding is, for `confidence`: by assurance of its feeds and number of independent
// voices. Voices faded by age or of low weight do not count.
//
// Invariants: more evidence never lowers the confidence; time alone never raises it.

import type { Confidence } from '../../model/kind.ts'
import { strongestByGroup } from '../weight/strength.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

/** Least w·d·m of a voice that counts: a lower one changes the others' doubt by under a tenth. */
export const voiceValueMin = 0.1

/** `counted` is of one kind; `inferred`: from the network, not the address. */
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

const isHeard = ({ value }: CountedEvidence): boolean => value >= voiceValueMin
