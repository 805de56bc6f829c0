// Floors and caps of the score (scoring.md, rules 7 to 12): which apply, not how they are posted.

import type { Day } from '../../base/day.ts'
import type { Classification } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import { listsThatMatter } from './blocklist-points.ts'
import { isRecent } from '../finding/classify.ts'
import type { Findings } from '../finding/finding.ts'
import type { Limit } from './score-ledger.ts'
import { beatsRelay } from '../finding/relay-suppression.ts'
import { isShared } from '../weight/weigh-evidence.ts'

/** What floors and caps follow from. */
export interface Case {
  readonly classification: Classification
  readonly findings: Findings
  readonly network: Network | undefined
  readonly blocklists: number
  readonly asOf: Day
}

const unannounced: Limit = { code: 'unannounced', score: 15 }
const mixed: Limit = { code: 'floor_mixed', score: 80 }
const residentialAgreed: Limit = { code: 'floor_residential_proxy', score: 80 }

const bot: Limit = { code: 'cap_bot', score: 10 }
const relay: Limit = { code: 'cap_relay', score: 20 }
const corporate: Limit = { code: 'cap_corporate', score: 30 }
const clean: Limit = { code: 'cap_clean', score: 49 }
const shared: Limit = { code: 'cap_shared', score: 74 }

export function floorsOf(input: Case): Limit[] {
  const floors: Limit[] = []
  if (input.network === undefined) floors.push(unannounced)
  if (input.classification === 'mixed') floors.push(mixed)
  else if (isResidentialAgreed(input.findings, input.asOf)) floors.push(residentialAgreed)
  return floors
}

export function capsOf(input: Case): Limit[] {
  const { classification, findings, network } = input
  const caps: Limit[] = []
  if (classification === 'known_bot' && input.blocklists < listsThatMatter) caps.push(bot)
  if (findings.relay.present && !beatsRelay(findings)) caps.push(relay)
  if (network?.corporate === true) caps.push(corporate)
  if (classification === 'clean') caps.push(clean)
  if (isShared(network) && !findings.tor.present) caps.push(shared)
  return caps
}

/**
 * A list of residential proxies and an independent list of public ones, both recent: what neither
 * could claim of somebody's home line alone, the two confirm.
 */
function isResidentialAgreed(findings: Findings, asOf: Day): boolean {
  const { residential_proxy: residential, proxy } = findings
  if (!residential.present || !proxy.present) return false
  if (!isRecent(residential, asOf) || !isRecent(proxy, asOf)) return false
  return residential.counted.some(({ group }) =>
    proxy.counted.some((other) => other.group !== group),
  )
}
