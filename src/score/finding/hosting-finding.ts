// Hosting, the one kind that may also be inferred from the network: by the hand-kept table of
// hosters, or by two independent voices: lists of ASes, or one of them and the organization's own
// name. One alone is no evidence, however weighty: AS lists call universities, carriers and CDNs
// hosters. A list of ranges beats the inference.
//
// Invariants: more evidence never lowers the strength; an inference never passes 0.5, and in a
// shared network never reaches the signal.

import type { Network } from '../../model/network.ts'
import { roundStrength, strengthOf, strongestByGroup } from '../weight/strength.ts'
import { isShared, networkMatch, sharedRemainder } from '../weight/weigh-evidence.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

/** The voice of the hand-kept table of hosters: believed without a second one. */
export const hosterTableId = 'table-hosting'

/** Independent AS lists that make an inference without the table. */
const listsMin = 2

export interface HostingStrength {
  readonly strength: number
  /** The evidence that decides: that of ranges, or that of the network. */
  readonly counted: readonly CountedEvidence[]
  readonly inferred: boolean
}

/** How strongly `counted`, all of kind hosting and not empty, says that this is a hoster. */
export function hostingStrength(
  counted: readonly CountedEvidence[],
  network: Network | undefined,
): HostingStrength {
  const listed = counted.filter(({ evidence }) => evidence.match !== 'as')
  const strength = strengthOf(listed)
  const inference = hostingInference(counted)
  if (inference.length === 0) return { strength, counted: listed, inferred: false }
  const limited = Math.min(networkMatch, strengthOf(inference))
  const inferred = roundStrength(limited * (isShared(network) ? sharedRemainder : 1))
  if (strength >= inferred) return { strength, counted: listed, inferred: false }
  return { strength: inferred, counted: inference, inferred: true }
}

/** The evidence of the network that may be believed; none where only one list speaks. */
export function hostingInference(counted: readonly CountedEvidence[]): readonly CountedEvidence[] {
  const ofNetwork = counted.filter(({ evidence }) => evidence.match === 'as')
  if (ofNetwork.length === 0) return ofNetwork
  const table = ofNetwork.filter(({ evidence }) => evidence.voice.id === hosterTableId)
  const lists = ofNetwork.filter(({ evidence }) => evidence.voice.id !== hosterTableId)
  return table.length > 0 || strongestByGroup(lists).length >= listsMin ? ofNetwork : []
}
