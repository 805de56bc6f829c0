// Points for evidence around an address (rule 4): a reason, never a signal. The build finds those
// /24s (build/evidence/neighbourhoods.ts).
//
// Invariant: more evidence never lowers a score: a neighbourhood adds only what the kind itself
// lacks to its points, and no present kind has fewer.

import type { Kind } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import type { Reason } from '../../model/verdict.ts'
import type { Findings } from '../finding/finding.ts'
import { isShared } from '../weight/weigh-evidence.ts'
import type { BlocklistFinding } from './blocklist-points.ts'
import type { ReasonCode } from './reason-codes.ts'

/** `speaksIn`: whether such neighbours matter in this network. */
const neighbourhoods: readonly (Reason & {
  readonly kind: Kind
  readonly code: ReasonCode
  readonly speaksIn: (network: Network | undefined) => boolean
})[] = [
  {
    kind: 'vpn',
    code: 'vpn_neighbourhood',
    points: 5,
    speaksIn: (network) => network?.type === 'hosting',
  },
  {
    kind: 'proxy',
    code: 'proxy_neighbourhood',
    points: 8,
    speaksIn: (network) => network?.access === true && !isShared(network),
  },
  {
    kind: 'blocklist',
    code: 'blocklist_neighbourhood',
    points: 8,
    speaksIn: (network) => !isShared(network),
  },
]

export function neighbourhoodOf(of: {
  readonly near: readonly Kind[]
  readonly findings: Findings
  readonly blocklist: BlocklistFinding
  readonly network: Network | undefined
}): Reason[] {
  const reasons: Reason[] = []
  for (const { kind, code, points, speaksIn } of neighbourhoods) {
    if (!of.near.includes(kind) || !speaksIn(of.network)) continue
    const left = points - ownPoints(kind, of)
    if (left > 0) reasons.push({ code, points: left })
  }
  return reasons
}

/** Points of the kind itself, for proxies of either kind. */
function ownPoints(
  kind: Kind,
  { findings, blocklist }: { readonly findings: Findings; readonly blocklist: BlocklistFinding },
): number {
  if (kind === 'blocklist') return blocklist.points
  if (kind === 'vpn') return findings.vpn.points
  return Math.max(findings.proxy.points, findings.residential_proxy.points)
}
