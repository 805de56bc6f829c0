// Privacy relays (MODEL.md, rule 7). Lists of VPNs, proxies and hosters contain whole relay ranges,
// so third parties do not count there. What counts: a Tor exit on any exact list, and a VPN, proxy
// or residential proxy named exactly by an operator's own list or a test; hosting never, since every
// relay is hosted. Only a kind that is present lifts the relay's cap.

import type { Kind } from '../../model/kind.ts'
import type { Findings, ScoredKind } from './finding.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

const none: readonly CountedEvidence[] = []

/** Kinds that third-party lists mistake relays for. */
const relayMistakenKinds: ReadonlySet<ScoredKind> = new Set(['vpn', 'proxy', 'residential_proxy'])

/** The evidence of `kind` that counts at a relay's address. */
export function afterRelaySuppression(
  kind: ScoredKind,
  counted: readonly CountedEvidence[],
): readonly CountedEvidence[] {
  if (kind === 'hosting') return none
  if (!relayMistakenKinds.has(kind)) return counted
  return counted.every(isDirectAndExact) ? counted : counted.filter(isDirectAndExact)
}

/** Neighbours that still count: relays share networks with anything. */
export const nearRelay = (near: readonly Kind[]): readonly Kind[] =>
  near.filter((kind) => kind === 'blocklist')

/** Whether evidence of this very address overrides the relay. */
export function overridesRelay(findings: Findings): boolean {
  // After suppression only direct, exact evidence is left.
  if (findings.vpn.present || findings.proxy.present) return true
  if (findings.residential_proxy.present) return true
  const { tor } = findings
  return tor.present && tor.counted.some(({ evidence }) => evidence.match === 'exact')
}

const isDirectAndExact = ({ evidence }: CountedEvidence): boolean =>
  evidence.match === 'exact' && evidence.voice.assurance === 'direct'
