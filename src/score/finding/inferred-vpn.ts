// VPN by inference (MODEL.md, rule 4): in a network that rents servers, an address among servers
// that VPN operators name as their own is taken for another one. The build finds those ranges
// (build/evidence/neighbourhoods.ts). Of a list and the inference the stronger counts.

import type { Network } from '../../model/network.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'
import { type Finding, makeFinding } from './finding.ts'
import { hosterTableId } from './hosting-finding.ts'

/** What the address and its network are beside. */
interface InferenceSite {
  readonly network: Network | undefined
  readonly hosting: Finding
  readonly relay: Finding
  readonly isBot: boolean
}

/** The evidence, where it counts, and whether only the address's own use keeps it from counting. */
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

/** Of a network with people's lines the hand-kept table names the ranges of its servers. */
export function rentsServers({ counted }: Finding): boolean {
  return counted.some(
    ({ evidence }) => evidence.voice.id === hosterTableId && evidence.match !== 'as',
  )
}

/** What the lists of VPNs come to, with the inference beside them. */
export function withInferredVpn(listed: Finding, inferred: CountedEvidence): Finding {
  if (listed.strength >= inferred.value) return listed
  // Lists that make the signal themselves go on naming the operator.
  const counted = listed.present ? listed.counted : [...listed.counted, inferred]
  const found = makeFinding('vpn', inferred.value, counted, !listed.present, false)
  return listed.present ? found : { ...found, provider: '' }
}
