// Weighs evidence for a network and day: each piece gets its kind in this network, its age, its
// decay and its value w·d·m. Discarded evidence leaves a note.

import type { Day } from '../../base/day.ts'
import type { Evidence } from '../../model/evidence.ts'
import type { Kind } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import { decayOf, type Turnover } from './decay.ts'
import type { GroupValue } from './strength.ts'

export interface CountedEvidence extends GroupValue {
  readonly evidence: Evidence
  /** Days after `asOf` become `asOf`. */
  readonly lastSeen: Day
  /** d·m: how close it is in time and space, for any feed. */
  readonly nearness: number
  readonly decay: number
}

/** The feed of the build's inferences from VPN servers around an address. */
export const inferredVpnId = 'inferred-vpn'

/** Factor of evidence of a range, against an exact one. */
const rangeMatch = 0.9
/** Factor of evidence of the network. */
export const networkMatch = 0.5
/** Factor of evidence of a range if many people share an address. */
export const sharedRemainder = 0.4

/** Below the signal: few lines of a listed range are proxies (rule 13). */
const wideValueMax = 0.24

/** Neighbours listed longer ago do not count. */
export const nearDaysMax = 60

const none: readonly CountedEvidence[] = []
const noEvidence: Readonly<Record<Kind, readonly CountedEvidence[]>> = {
  tor: none,
  vpn: none,
  proxy: none,
  residential_proxy: none,
  hosting: none,
  bot: none,
  blocklist: none,
  relay: none,
}

/** Many people behind one address (MODEL.md, rule 9). */
export const isShared = (network: Network | undefined): boolean =>
  network !== undefined && (network.shared || network.mobile)

export function weighEvidence(input: {
  readonly evidence: readonly Evidence[]
  readonly network: Network | undefined
  readonly asOf: Day
}) {
  const { network, asOf } = input
  const shared = isShared(network)
  /** Why evidence was discarded or discounted. Each becomes a reason without points. */
  const notes = {
    expired: false,
    originChanged: false,
    contradicted: false,
    sharedDiscount: false,
    rangeOverLines: false,
  }
  const byKind: Record<Kind, CountedEvidence[] | readonly CountedEvidence[]> = { ...noEvidence }
  /** Kinds listed nearby; no evidence of the address itself. */
  const near: Kind[] = []
  /** Enough VPN servers around it to infer one (finding/inferred-vpn.ts). */
  let inferredVpn: CountedEvidence | undefined
  const turnover = turnoverOf(network)
  for (const evidence of input.evidence) {
    const { voice } = evidence
    const kind = effectiveKind(evidence.kind, network)
    if (!canCount(evidence)) continue
    if (voice.asns.length > 0 && (network === undefined || !voice.asns.includes(network.asn))) {
      notes.originChanged = true
      continue
    }
    if (voice.id === inferredVpnId) {
      const { group, weight: value } = voice
      const lastSeen = evidence.lastSeen > asOf ? asOf : evidence.lastSeen
      inferredVpn = { group, value, evidence, lastSeen, nearness: 1, decay: 1 }
      continue
    }
    if (evidence.match === 'near') {
      // The build selects servers that count by themselves, some of them for years.
      const isRecent = evidence.kind === 'vpn' || asOf - evidence.lastSeen <= nearDaysMax
      if (isRecent && !near.includes(evidence.kind)) near.push(evidence.kind)
      continue
    }
    if (isContradicted(evidence, network)) {
      notes.contradicted = true
      continue
    }
    const age = asOf - evidence.lastSeen
    const decay = decayOf(kind, age, { turnover, measured: voice.halfLives })
    if (decay === 0) {
      notes.expired = true
      continue
    }
    const discounted = shared && evidence.match === 'range' && kind !== 'bot' && kind !== 'relay'
    if (discounted) notes.sharedDiscount = true
    const nearness = decay * matchOf(evidence, kind) * (discounted ? sharedRemainder : 1)
    const lastSeen = evidence.lastSeen > asOf ? asOf : evidence.lastSeen
    const isWide = kind === 'residential_proxy' && evidence.match === 'range'
    if (isWide) notes.rangeOverLines = true
    const full = voice.weight * nearness
    const value = isWide ? Math.min(full, wideValueMax) : full
    const counted = { group: voice.group, value, evidence, lastSeen, nearness, decay }
    const list = byKind[kind]
    if (list === none) byKind[kind] = [counted]
    else (list as CountedEvidence[]).push(counted)
  }
  return { byKind, notes, near, inferredVpn }
}

/** The class of network that selects the half-life. */
export function turnoverOf(network: Network | undefined): Turnover {
  if (isShared(network)) return 'shared'
  return network?.access === true ? 'lines' : 'elsewhere'
}

/**
 * Every residential list contains other proxies: evidence is residential only on people's own
 * lines; elsewhere, and in unknown networks, it is evidence of a proxy.
 */
const effectiveKind = (kind: Kind, network: Network | undefined): Kind =>
  kind === 'residential_proxy' && network?.access !== true ? 'proxy' : kind

/**
 * Third parties keep listing hosters' ranges that became people's lines long ago, and whole access
 * networks as hosting. An operator's own list, and its AS' announcements, are believed.
 */
function isContradicted(evidence: Evidence, network: Network | undefined): boolean {
  const { kind, voice } = evidence
  return kind === 'hosting' && voice.assurance === 'weak' && network?.access === true
}

/** For whole networks, only hosting is believed (rule 5); bots without a category do not count. */
function canCount(evidence: Evidence): boolean {
  if (evidence.voice.weight <= 0) return false
  if (evidence.match === 'as') return evidence.kind === 'hosting'
  return evidence.kind !== 'bot' || evidence.category !== undefined
}

/**
 * m. Operators' published ranges for hosting, bots and relays hold for every address in them, so
 * they count fully; those of VPNs do not, since exits change within them.
 */
function matchOf(evidence: Evidence, kind: Kind): number {
  if (evidence.match === 'exact') return 1
  if (evidence.match === 'as') return networkMatch
  const stated = kind === 'hosting' || kind === 'bot' || kind === 'relay'
  return stated && evidence.voice.assurance === 'direct' ? 1 : rangeMatch
}

/** Minimum divisor of the share: one day of one snapshot is not 100 percent. */
export const daysObservedMin = 7

/**
 * Listed days by max(7, days with a snapshot), in percent with two decimals; the highest of several
 * feeds. Feeds with a rolling window do not count: they list an address for days after one
 * sighting. 0 without any other feed.
 */
export function percentDaysSeen(counted: readonly CountedEvidence[]): number {
  let highest = 0
  for (const { evidence } of counted) {
    if (evidence.voice.rolling) continue
    const share = listedShare(evidence)
    if (share > highest) highest = share
  }
  return Math.round(Math.min(1, highest) * 10_000) / 100
}

export const listedShare = (days: Pick<Evidence, 'daysListed' | 'daysObserved'>): number =>
  days.daysListed / Math.max(daysObservedMin, days.daysObserved)

/** `counted` is not empty. */
export function lastSeenDay(counted: readonly CountedEvidence[]): Day {
  let newest = -Infinity
  for (const { lastSeen } of counted) if (lastSeen > newest) newest = lastSeen
  return newest as Day
}
