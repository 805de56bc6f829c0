// Floors and caps of the score (MODEL.md, rules 7 to 12), and the ledger that records them.

import type { Day } from '../../base/day.ts'
import type { Classification } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import type { Reason } from '../../model/verdict.ts'
import { isRecent } from '../finding/classify.ts'
import { voiceValueMin } from '../finding/confidence.ts'
import type { Findings } from '../finding/finding.ts'
import { agreedVoicesMin } from '../finding/hosting-finding.ts'
import { rentsServers } from '../finding/inferred-vpn.ts'
import { overridesRelay } from '../finding/relay-suppression.ts'
import { isShared } from '../weight/weigh-evidence.ts'
import { significantListsMin } from './blocklist-points.ts'
import type { ReasonCode } from './reason-codes.ts'

export interface LimitInput {
  readonly classification: Classification
  readonly findings: Findings
  readonly network: Network | undefined
  readonly blocklists: number
  /** For a verified bot, independent feeds only: crawlers run into traps. */
  readonly listsOfBot: number
  /** An inference from surrounding VPN servers counts (finding/inferred-vpn.ts). */
  readonly isVpnInferred: boolean
  /** Network data are too old to say that an address is unannounced. */
  readonly areNetworksOld: boolean
  readonly asOf: Day
}

export function floorsOf(input: LimitInput): ScoreLimit[] {
  const floors: ScoreLimit[] = []
  if (input.network === undefined && !input.areNetworksOld)
    floors.push({ code: 'unannounced', score: 15 })
  const { hosting } = input.findings
  if (hosting.present && hosting.voices >= agreedVoicesMin)
    floors.push({ code: 'floor_hosting', score: 40 })
  if (input.isVpnInferred) floors.push({ code: 'floor_vpn_inferred', score: 50 })
  if (input.classification === 'mixed') floors.push({ code: 'floor_mixed', score: 80 })
  else if (isResidentialAgreed(input.findings, input.asOf))
    floors.push({ code: 'floor_residential_proxy', score: 80 })
  return floors
}

export function capsOf(input: LimitInput): ScoreLimit[] {
  const { classification, findings, network } = input
  const caps: ScoreLimit[] = []
  if (classification === 'known_bot' && input.listsOfBot < significantListsMin)
    caps.push({ code: 'cap_bot', score: 10 })
  if (findings.relay.present && !overridesRelay(findings))
    caps.push({ code: 'cap_relay', score: 20 })
  if (network?.corporate === true) caps.push({ code: 'cap_corporate', score: 30 })
  if (isConsumerVpn(input)) caps.push({ code: 'consumer_vpn', score: 49 })
  if (isLoneRange(input)) caps.push({ code: 'cap_lone_range', score: 49 })
  if (classification === 'clean') caps.push({ code: 'cap_clean', score: 49 })
  if (isShared(network) && !findings.tor.present) caps.push({ code: 'cap_shared', score: 74 })
  return caps
}

/** Ordinary people use it in their own country; other evidence lifts the cap. */
export function isConsumerVpn({ findings, blocklists }: LimitInput): boolean {
  const { vpn, tor, proxy, residential_proxy: residential } = findings
  if (!vpn.present || tor.present || proxy.present || residential.present) return false
  if (blocklists >= significantListsMin) return false
  return vpn.counted.some(
    ({ evidence, value }) =>
      (evidence.voice.consumer === true || consumerVpns.has(evidence.provider)) &&
      value >= voiceValueMin,
  )
}

/**
 * ISP or carrier space with evidence only from one third-party range (rule 13), unless the
 * hand-kept table says that it is rented to servers.
 */
function isLoneRange({ findings, network, blocklists }: LimitInput): boolean {
  if (network?.access !== true && network?.type !== 'isp') return false
  if (blocklists > 0 || rentsServers(findings.hosting)) return false
  const { tor, vpn, proxy, residential_proxy: residential } = findings
  const heard = [tor, vpn, proxy, residential]
    .flatMap(({ counted }) => counted)
    .filter(({ value }) => value >= voiceValueMin)
  if (new Set(heard.map(({ group }) => group)).size !== 1) return false
  // Hand-kept tables follow the space's owner.
  return heard.every(
    ({ evidence: { match, voice } }) =>
      match === 'range' && voice.assurance !== 'direct' && !voice.id.startsWith('table-'),
  )
}

/** Lists of many VPNs also name them. */
const consumerVpns: ReadonlySet<string> = new Set(['Cloudflare WARP', 'VPN by Google'])

/**
 * A list of residential proxies and an independent one of public proxies, both recent, confirm what
 * neither could claim of a home line alone.
 */
function isResidentialAgreed(findings: Findings, asOf: Day): boolean {
  const { residential_proxy: residential, proxy } = findings
  if (!residential.present || !proxy.present) return false
  if (!isRecent(residential, asOf) || !isRecent(proxy, asOf)) return false
  return residential.counted.some(({ group }) =>
    proxy.counted.some((other) => other.group !== group),
  )
}

/** Limit of what the other kinds add to the strongest. */
const otherKindsPointsMax = 10
const scoreMax = 100

interface ScoreLimit {
  readonly code: ReasonCode
  readonly score: number
}

/**
 * Each posting is a reason with its points, so their sum is the score by construction. Order
 * (MODEL.md, rule 11): kinds, blocklists, floors, the lowest cap, the limit of the scale, then
 * notes without points.
 */
export interface ScoreLedger {
  score: number
  readonly reasons: Reason[]
}

export function postReason(ledger: ScoreLedger, code: ReasonCode, points: number): void {
  ledger.score += points
  ledger.reasons.push({ code, points })
}

/** Kinds by points, the strongest first; the others add at most 10 together. */
export function postKinds(ledger: ScoreLedger, kinds: readonly Reason[]): void {
  let others = 0
  const sorted = kinds.length > 1 ? kinds.toSorted((a, b) => b.points - a.points) : kinds
  for (const [index, { code, points }] of sorted.entries()) {
    postReason(ledger, code as ReasonCode, points)
    if (index > 0) others += points
  }
  if (others > otherKindsPointsMax)
    postReason(ledger, 'others_limited', otherKindsPointsMax - others)
}

export function postFloor(ledger: ScoreLedger, floor: ScoreLimit): void {
  if (ledger.score < floor.score) postReason(ledger, floor.code, floor.score - ledger.score)
}

/** Lowers the score to the lowest cap; the first of equal caps is named. */
export function postCaps(ledger: ScoreLedger, caps: readonly ScoreLimit[]): void {
  let lowest: ScoreLimit | undefined
  for (const cap of caps) {
    if (lowest === undefined || cap.score < lowest.score) lowest = cap
  }
  if (lowest !== undefined && ledger.score > lowest.score) {
    postReason(ledger, lowest.code, lowest.score - ledger.score)
  }
  if (ledger.score > scoreMax) postReason(ledger, 'clamp_100', scoreMax - ledger.score)
}
