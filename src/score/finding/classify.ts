// The classification of a verdict, by precedence (contract 3.7: classes). Bogons never get here.

import type { Day } from '../../base/day.ts'
import type { Classification } from '../../model/kind.ts'
import type { BotFinding } from '../../model/verdict.ts'
import { confidenceOf, voiceValueMin } from './confidence.ts'
import { type CountedEvidence, lastSeenDay } from '../weight/weigh-evidence.ts'
import type { Finding, Findings } from './finding.ts'

/** Residential proxy and VPN conflict only if both were seen this recently. */
export const conflictDaysMax = 7

/**
 * Residential proxy against VPN: `open` makes the class mixed; in `resolved`, an operator's own
 * list decides.
 */
export type ProxyVpnConflict = 'none' | 'open' | 'resolved'

export function conflictOf(findings: Findings, asOf: Day): ProxyVpnConflict {
  const { residential_proxy: residential, vpn } = findings
  if (residential.present && isOwnExit(vpn)) return 'resolved'
  if (!isSolid(residential) || !isSolid(vpn)) return 'none'
  if (!isRecent(residential, asOf) || !isRecent(vpn, asOf)) return 'none'
  return hasDirect(residential) || hasDirect(vpn) ? 'resolved' : 'open'
}

export const isRecent = (finding: Finding, asOf: Day): boolean =>
  asOf - lastSeenDay(finding.counted) <= conflictDaysMax

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

/** A VPN operator names the very address as its own, which outweighs all other lists. */
export const isOwnExit = ({ present, counted }: Finding): boolean =>
  present && counted.some(isNamedByOperator)

function isNamedByOperator({ evidence, value }: CountedEvidence): boolean {
  const { match, provider, voice } = evidence
  const isHeard = value >= voiceValueMin
  return match === 'exact' && voice.assurance === 'direct' && provider !== '' && isHeard
}

const isSolid = (finding: Finding): boolean =>
  finding.present && confidenceOf(finding.counted, finding.inferred) !== 'low'

const hasDirect = (finding: Finding): boolean =>
  finding.counted.some(({ evidence }) => evidence.voice.assurance === 'direct')
