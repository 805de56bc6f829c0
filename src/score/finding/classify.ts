// The main word of a verdict (contract 3.7): the first that holds. Bogons are known before any
// evidence is asked and never come here.

import type { Day } from '../../base/day.ts'
import type { Classification } from '../../model/kind.ts'
import type { BotFinding } from '../../model/verdict.ts'
import { confidenceOf, voiceValueMin } from './confidence.ts'
import { type CountedEvidence, lastSeenDay } from '../weight/weigh-evidence.ts'
import type { Finding, Findings } from './finding.ts'

/** Residential proxy and VPN contradict each other only where both were seen so recently. */
export const conflictDaysMax = 7

/**
 * Residential proxy against VPN: `open` makes the class mixed; `resolved` would, but an operator's
 * own list is among the evidence and settles it.
 */
export type ProxyVpnConflict = 'none' | 'open' | 'resolved'

export function conflictOf(findings: Findings, asOf: Day): ProxyVpnConflict {
  const { residential_proxy: residential, vpn } = findings
  if (residential.present && isOwnExit(vpn)) return 'resolved'
  if (!isSolid(residential) || !isSolid(vpn)) return 'none'
  if (!isRecent(residential, asOf) || !isRecent(vpn, asOf)) return 'none'
  return hasDirect(residential) || hasDirect(vpn) ? 'resolved' : 'open'
}

export function isRecent(finding: Finding, asOf: Day): boolean {
  return asOf - lastSeenDay(finding.counted) <= conflictDaysMax
}

export function classify(input: {
  readonly findings: Findings
  readonly bot: BotFinding | undefined
  readonly conflict: ProxyVpnConflict
}): Classification {
  const { findings, bot, conflict } = input
  if (bot?.confidence === 'high') return 'known_bot'
  if (findings.tor.present) return 'tor'
  if (isOwnExit(findings.vpn)) return 'vpn'
  if (conflict === 'open') return 'mixed'
  if (findings.residential_proxy.present) return 'residential_proxy'
  const { vpn } = findings
  if (vpn.present && !vpn.inferred) return 'vpn'
  if (findings.proxy.present) return 'proxy'
  if (bot !== undefined) return 'known_bot'
  if (vpn.present) return 'vpn'
  return findings.hosting.present ? 'hosting' : 'clean'
}

/** A VPN's operator names the very address as its own: whatever others took it for. */
export function isOwnExit({ present, counted }: Finding): boolean {
  return present && counted.some(isNamedByOperator)
}

function isNamedByOperator({ evidence, value }: CountedEvidence): boolean {
  const { match, provider, voice } = evidence
  const isHeard = value >= voiceValueMin
  return match === 'exact' && voice.assurance === 'direct' && provider !== '' && isHeard
}

function isSolid(finding: Finding): boolean {
  return finding.present && confidenceOf(finding.counted, finding.inferred) !== 'low'
}

function hasDirect(finding: Finding): boolean {
  return finding.counted.some(({ evidence }) => evidence.voice.assurance === 'direct')
}
