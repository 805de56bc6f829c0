// The `proxy` member of a verdict (contract 3.5): there exactly when one of the signals proxy, vpn,
// tor, hosting, residential_proxy is true, but not for a bot that its operator's own range
// verifies.

import type { Classification, ProxyType } from '../../model/kind.ts'
import type { BotFinding, ProxyFinding } from '../../model/verdict.ts'
import { confidenceOf } from './confidence.ts'
import { lastSeenDay, percentDaysSeen } from '../weight/days-seen.ts'
import type { Finding, Findings, ScoredKind } from './finding.ts'

// The order of contract 3.5 for classes that are no kind. A class that is one has its own type: an
// operator's own exit is vpn although a residential list names it, too.
const proxyTypeOrder = [
  { kind: 'tor', type: 'tor' },
  { kind: 'residential_proxy', type: 'residential' },
  { kind: 'vpn', type: 'vpn' },
  { kind: 'proxy', type: 'proxy' },
  { kind: 'hosting', type: 'data_center' },
] as const satisfies readonly { readonly kind: ScoredKind; readonly type: ProxyType }[]

export function proxyOf(
  findings: Findings,
  of: { readonly classification: Classification; readonly bot: BotFinding | undefined },
): ProxyFinding | undefined {
  if (of.bot?.confidence === 'high') return undefined
  const named =
    proxyTypeOrder.find(({ kind }) => kind === of.classification) ??
    proxyTypeOrder.find(({ kind }) => findings[kind].present)
  return named === undefined ? undefined : proxyFinding(findings[named.kind], named.type)
}

function proxyFinding(finding: Finding, type: ProxyType): ProxyFinding {
  const { counted, inferred, provider } = finding
  return {
    confidence: confidenceOf(counted, inferred),
    type,
    provider,
    lastSeen: lastSeenDay(counted),
    percentDaysSeen: percentDaysSeen(counted),
  }
}
