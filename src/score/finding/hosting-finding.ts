// Hosting, the one kind also inferred from the network: by the hand-kept table of hosters, or by
// two independent voices, one of which may be a list of ranges. Voices of ranges and of the AS add
// up:
//
//   one AS list alone          half of its value, never the signal: AS lists include universities,
//                              carriers and CDNs
//   the table, or two voices   their combined strength, at least 0.625 (25 points)
//   three                      40 points, by a floor (points/score-limits.ts)
//
// Invariants: more evidence never lowers the strength; in a shared network an inference is at most
// 0.2, below the signal.

import type { Network } from '../../model/network.ts'
import { voiceValueMin } from './confidence.ts'
import {
  presentStrengthMin,
  roundStrength,
  strengthOf,
  strongestByGroup,
} from '../weight/strength.ts'
import {
  type CountedEvidence,
  isShared,
  networkMatch,
  sharedRemainder,
} from '../weight/weigh-evidence.ts'

/** The hand-kept table of hosters: believed without a second voice. */
export const hosterTableId = 'table-hosting'

/** Independent voices for an inference without the table. */
const voicesMin = 2
/** Least strength of an inference. */
const inferredStrengthMin = 0.625
/** Factor of a lone AS list, and its limit just below the signal. */
const loneRemainder = 0.5
const loneStrengthMax = 0.24
/** Independent voices as certain as an operator's own list. */
export const agreedVoicesMin = 3

interface HostingStrength {
  readonly strength: number
  /** The evidence that decides. */
  readonly counted: readonly CountedEvidence[]
  /** Lists of ranges alone would not make the signal. */
  readonly inferred: boolean
  /** Independent voices that add up, of ranges or the network. */
  readonly voices: number
}

/** The strength of `counted`, which is not empty and all hosting. */
export function hostingStrength(
  counted: readonly CountedEvidence[],
  network: Network | undefined,
): HostingStrength {
  const listed = counted.filter(({ evidence }) => evidence.match !== 'as')
  const strength = strengthOf(listed)
  const byLists = { strength, counted: listed, inferred: false }
  if (isShared(network)) return inSharedNetwork(counted, byLists)
  if (listed.length === counted.length || isNetworkBelieved(counted)) {
    const voices = independentVoices(counted)
    if (listed.length === counted.length) return { ...byLists, voices }
    const together = Math.max(inferredStrengthMin, strengthOf(counted))
    const inferred = strength < presentStrengthMin
    return { strength: together, counted: inferred ? counted : listed, inferred, voices }
  }
  const halved = counted.map((one) =>
    one.evidence.match === 'as' ? { ...one, value: one.value * loneRemainder } : one,
  )
  const lone = Math.max(strength, Math.min(loneStrengthMax, strengthOf(halved)))
  return { strength: lone, counted: strength > 0 ? listed : counted, inferred: false, voices: 1 }
}

/** If many people share an address, evidence of the network is an alternative and adds nothing. */
function inSharedNetwork(
  counted: readonly CountedEvidence[],
  byLists: Omit<HostingStrength, 'voices'>,
): HostingStrength {
  const ofNetwork = counted.filter(({ evidence }) => evidence.match === 'as')
  const whole = isNetworkBelieved(ofNetwork) ? strengthOf(ofNetwork) : 0
  const strength = roundStrength(Math.min(networkMatch, whole) * sharedRemainder)
  if (byLists.strength >= strength) return { ...byLists, voices: 1 }
  return { strength, counted: ofNetwork, inferred: true, voices: 1 }
}

/** Whether evidence of the network as a whole is believed. */
export function isNetworkBelieved(counted: readonly CountedEvidence[]): boolean {
  const isOfNetwork = ({ evidence }: CountedEvidence): boolean => evidence.match === 'as'
  if (!counted.some(isOfNetwork)) return false
  if (counted.some(({ evidence }) => evidence.voice.id === hosterTableId)) return true
  return independentVoices(counted) >= voicesMin
}

const independentVoices = (counted: readonly CountedEvidence[]): number =>
  strongestByGroup(counted.filter(({ value }) => value >= voiceValueMin)).length
