// Privacy relays (MODEL.md, rule 7). Lists of VPNs, proxies and hosters hold the ranges of relays
// wholesale: a third party's word there does not count. What counts is a Tor exit by any exact list,
// and a VPN, proxy or residential proxy that an operator's own list or a test names exactly; hosting
// never, because every relay is hosted. Only what makes its kind present lifts the relay's cap.

import type { Kind } from '../../model/kind.ts'
import type { Findings, ScoredKind } from './finding.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

const none: readonly CountedEvidence[] = []

/** Kinds that lists of third parties take a relay's ranges for. */
const relayMistakenKinds: ReadonlySet<ScoredKind> = new Set(['vpn', 'proxy', 'residential_proxy'])

/** What is left of `counted`, all of `kind`, on an address of a relay. */
export function afterRelaySuppression(
  kind: ScoredKind,
  counted: readonly CountedEvidence[],
): readonly CountedEvidence[] {
  if (kind === 'hosting') return none
  if (!relayMistakenKinds.has(kind)) return counted
  return counted.every(isDirectAndExact) ? counted : counted.filter(isDirectAndExact)
}

/** What neighbours still say: relays stand beside whatever else their networks host. */
export function nearRelay(near: readonly Kind[]): readonly Kind[] {
  return near.filter((kind) => kind === 'blocklist')
}

/** Whether something seen at this very address wins over the relay. */
export function overridesRelay(findings: Findings): boolean {
  // After suppression these stand on nothing but direct, exact evidence.
  if (findings.vpn.present || findings.proxy.present) return true
  if (findings.residential_proxy.present) return true
  const { tor } = findings
  return tor.present && tor.counted.some(({ evidence }) => evidence.match === 'exact')
}

function isDirectAndExact({ evidence }: CountedEvidence): boolean {
  return evidence.match === 'exact' && evidence.voice.assurance === 'direct'
}
