// VPN by inference (MODEL.md, rule 4): in a hosting network, an address among servers that VPN
// operators publish counts as another. The build finds those ranges
// (build/evidence/neighbourhoods.ts). The stronger of a list and the inference counts.

import type { Network } from '../../model/network.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'
import { type Finding, makeFinding } from './finding.ts'
import { hosterTableId } from './hosting-finding.ts'

interface InferenceSite {
  readonly network: Network | undefined
  readonly hosting: Finding
  readonly relay: Finding
  readonly isBot: boolean
}

/** `suppressed`: the inference would count if the address were no relay or bot. */
export function vpnInferenceAt(
  evidence: CountedEvidence | undefined,
  { network, hosting, relay, isBot }: InferenceSite,
): { readonly inferred: CountedEvidence | undefined; readonly suppressed: boolean } {
  const inferred = speaksIn(network, hosting) ? evidence : undefined
  const suppressed = inferred !== undefined && (relay.present || isBot)
  return { inferred: suppressed ? undefined : inferred, suppressed }
}

function speaksIn(network: Network | undefined, hosting: Finding): boolean {
  if (network === undefined) return false
  if (network.cdn || network.corporate || network.anycast) return false
  const isHoster = network.type === 'hosting' && !network.access
  return isHoster || rentsServers(hosting)
}

/** For networks with people's lines, the hand-kept table names their server ranges. */
export const rentsServers = ({ counted }: Finding): boolean =>
  counted.some(({ evidence }) => evidence.voice.id === hosterTableId && evidence.match !== 'as')

/** The finding of VPN lists together with the inference. */
export function withInferredVpn(listed: Finding, inferred: CountedEvidence): Finding {
  if (listed.strength >= inferred.value) return listed
  // Lists strong enough for the signal keep naming the operator.
  const counted = listed.present ? listed.counted : [...listed.counted, inferred]
  const found = makeFinding('vpn', inferred.value, counted, !listed.present, false)
  return listed.present ? found : { ...found, provider: '' }
}
