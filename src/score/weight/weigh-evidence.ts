// From evidence as given to evidence as it counts here and today: each piece gets its kind in this
// network, its age, its decay and its value w·d·m. What does not count is left out, and a note says
// why.

import type { Day } from '../../base/day.ts'
import type { Evidence } from '../../model/evidence.ts'
import type { Kind } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import { decayOf, type Turnover } from './decay.ts'
import type { GroupValue } from './strength.ts'

/** One piece of evidence as it counts. */
export interface CountedEvidence extends GroupValue {
  readonly evidence: Evidence
  /** Days that are later than `asOf` are clamped to it. */
  readonly lastSeen: Day
  /** d·m: how near it is in time and space, whatever the feed. */
  readonly nearness: number
  /** d alone. */
  readonly decay: number
}

/** The feed of what the build infers from VPN servers around an address. */
export const inferredVpnId = 'inferred-vpn'

/** What a range's word on its addresses is worth beside an exact one. */
const rangeMatch = 0.9
/** What a network's word on its addresses is worth. */
export const networkMatch = 0.5
/** What remains of evidence that does not name the very address where many people share one. */
export const sharedRemainder = 0.4

/** A list's range of households never makes the signal: few of its lines are proxies (rule 13). */
const wideValueMax = 0.24

/** Neighbours that were listed longer ago say nothing any more. */
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
export function isShared(network: Network | undefined): boolean {
  return network !== undefined && (network.shared || network.mobile)
}

/** Weighs each piece of evidence for one network and day. */
export function weighEvidence(input: {
  readonly evidence: readonly Evidence[]
  readonly network: Network | undefined
  readonly asOf: Day
}) {
  const { network, asOf } = input
  const shared = isShared(network)
  /** Why some evidence does not count, or counts less. Each becomes a reason without points. */
  const notes = {
    expired: false,
    originChanged: false,
    contradicted: false,
    sharedDiscount: false,
    rangeOverLines: false,
  }
  const byKind: Record<Kind, CountedEvidence[] | readonly CountedEvidence[]> = { ...noEvidence }
  /** Kinds of which some neighbours are listed; they say nothing of the address itself. */
  const near: Kind[] = []
  /** So many servers of VPN operators stand around it that it may be one (finding/inferred-vpn.ts). */
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
      // The build takes servers alone that count themselves, some of them for years.
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

/** How fast an address changes hands there; the half-lives are by it. */
export function turnoverOf(network: Network | undefined): Turnover {
  if (isShared(network)) return 'shared'
  return network?.access === true ? 'lines' : 'elsewhere'
}

/**
 * No feed lists residential proxies purely: only on people's own lines is such evidence
 * residential; elsewhere, and where the network is unknown, it is evidence of a proxy.
 */
function effectiveKind(kind: Kind, network: Network | undefined): Kind {
  return kind === 'residential_proxy' && network?.access !== true ? 'proxy' : kind
}

/**
 * Third parties keep listing ranges of hosters that moved to people's own lines long ago, and call
 * whole access networks hosting. An operator's own list, and what its AS announces, is believed.
 */
function isContradicted(evidence: Evidence, network: Network | undefined): boolean {
  const { kind, voice } = evidence
  return kind === 'hosting' && voice.assurance === 'weak' && network?.access === true
}

/** Of whole networks only hosting is believed (rule 5); bots that are no crawlers say nothing. */
function canCount(evidence: Evidence): boolean {
  if (evidence.voice.weight <= 0) return false
  if (evidence.match === 'as') return evidence.kind === 'hosting'
  return evidence.kind !== 'bot' || evidence.category !== undefined
}

/**
 * m. An operator's own published ranges of its hosting, bot or relay state a fact of every address
 * in them, so they count in full. Those of a VPN do not: which addresses are exits changes within.
 */
function matchOf(evidence: Evidence, kind: Kind): number {
  if (evidence.match === 'exact') return 1
  if (evidence.match === 'as') return networkMatch
  const stated = kind === 'hosting' || kind === 'bot' || kind === 'relay'
  return stated && evidence.voice.assurance === 'direct' ? 1 : rangeMatch
}

/** Days that the share is taken of at least, so that one day of one snapshot is not 100 percent. */
export const daysObservedMin = 7

/**
 * Listed days over max(7, days with a snapshot), in percent, two decimals; of several feeds the
 * highest. Feeds that publish a rolling window do not count: a window of five days lists an address
 * for five days that was seen on one. 0 where no other feed lists it.
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

export function listedShare(days: Pick<Evidence, 'daysListed' | 'daysObserved'>): number {
  return days.daysListed / Math.max(daysObservedMin, days.daysObserved)
}

/** The newest day on which one of them was listed. `counted` is not empty. */
export function lastSeenDay(counted: readonly CountedEvidence[]): Day {
  let newest = -Infinity
  for (const { lastSeen } of counted) if (lastSeen > newest) newest = lastSeen
  return newest as Day
}
