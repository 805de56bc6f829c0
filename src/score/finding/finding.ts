// A finding: all counted evidence of a kind together. Hosting may also be inferred
// (hosting-finding.ts); blocklists are counted, not weighed (blocklist-points.ts).

import type { Classification, Kind, ProxyType } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import type { BotFinding, ProxyFinding } from '../../model/verdict.ts'
import { type CountedEvidence, lastSeenDay, percentDaysSeen } from '../weight/weigh-evidence.ts'
import { presentStrengthMin, roundStrength, strengthOf } from '../weight/strength.ts'
import { confidenceOf } from './confidence.ts'
import { hostingStrength } from './hosting-finding.ts'

/** Kinds with points of their own, in the order of reasons with equal points. */
export const scoredKinds = [
  'tor',
  'residential_proxy',
  'vpn',
  'proxy',
  'hosting',
  'relay',
  'bot',
] as const satisfies readonly Kind[]
export type ScoredKind = (typeof scoredKinds)[number]

/** Points of one fresh, certain finding (MODEL.md, section 2). */
const anchors: Readonly<Record<ScoredKind, number>> = {
  tor: 85,
  residential_proxy: 80,
  proxy: 70,
  vpn: 60,
  hosting: 40,
  relay: 10,
  bot: 5,
}

export interface Finding {
  readonly kind: ScoredKind
  /** 0 to 1, six decimals. */
  readonly strength: number
  readonly points: number
  /** strength ≥ 0.25: the signal is true. */
  readonly present: boolean
  /** From the network or its neighbours, without a list (hosting and VPN). */
  readonly inferred: boolean
  /** Seen on few days, so it counts less. */
  readonly rare: boolean
  /** Independent voices that add up, for hosting; otherwise 1. */
  readonly voices: number
  /** The evidence behind the finding. */
  readonly counted: readonly CountedEvidence[]
  /** The operator, or '' if no evidence names one. */
  readonly provider: string
}

export type Findings = Readonly<Record<ScoredKind, Finding>>

const absentFindings = Object.fromEntries(
  scoredKinds.map((kind) => [kind, makeFinding(kind, 0, [], false, false)]),
) as unknown as Findings

/** The finding of `counted`, all of one kind. */
export function findingOf(
  kind: ScoredKind,
  counted: readonly CountedEvidence[],
  network: Network | undefined,
): Finding {
  if (counted.length === 0) return absentFindings[kind]
  if (kind === 'hosting') {
    const hosting = hostingStrength(counted, network)
    const { strength, inferred, voices } = hosting
    const found = makeFinding(kind, strength, hosting.counted, inferred, false)
    const owner = network?.organization
    const provider = providerOf(hosting.counted, owner) || providerOf(counted, owner)
    // Lists of ranges often name no provider; evidence of the whole network may.
    return { ...found, voices, provider }
  }
  const strength = strengthOf(counted)
  if (!changesHands(kind, network)) return makeFinding(kind, strength, counted, false, false)
  const percent = percentDaysSeen(counted)
  const steady = roundStrength(strength * (0.5 + percent / 200))
  const tested = kind === 'proxy' ? strengthOf(counted.filter(isTested)) : 0
  const rare = percent < 50 && steady > tested
  return makeFinding(kind, Math.max(tested, steady), counted, false, rare)
}

/** Its publisher used the proxy, so a new entry is as credible as an old one. */
const isTested = ({ evidence }: CountedEvidence): boolean =>
  evidence.kind === 'proxy' && evidence.voice.assurance === 'direct'

/** Addresses of people's own lines change customers. */
const changesHands = (kind: ScoredKind, network: Network | undefined): boolean =>
  kind === 'residential_proxy' || (kind === 'proxy' && network?.access === true)

export function makeFinding(
  kind: ScoredKind,
  strength: number,
  counted: readonly CountedEvidence[],
  inferred: boolean,
  rare: boolean,
): Finding {
  const points = Math.round(anchors[kind] * strength)
  const present = strength >= presentStrengthMin
  const provider = providerOf(counted)
  return { kind, strength, points, present, inferred, rare, voices: 1, counted, provider }
}

/**
 * `undefined` if the evidence is too weak. A crawler's own published range is high, a third party's
 * list of it medium (MODEL.md, rule 8).
 */
export function botOf(finding: Finding): BotFinding | undefined {
  if (!finding.present) return undefined
  const direct = finding.counted.filter(({ evidence }) => evidence.voice.assurance === 'direct')
  const believed = direct.length > 0 ? direct : finding.counted
  // If two bots publish the same ranges, the crawler is named.
  const crawlers = believed.filter(({ evidence }) => evidence.category === 'search_crawler')
  const category = crawlers.length > 0 ? 'search_crawler' : 'ai_tool'
  const provider = providerOf(crawlers.length > 0 ? crawlers : believed)
  return { confidence: direct.length > 0 ? 'high' : 'medium', provider, category }
}

/** Bot operators with their own networks, by the prefix of their networks' and hosters' names. */
const owners = ['google', 'apple', 'amazon', 'yandex', 'baidu', 'microsoft'] as const

function botOwner(provider: string): string | undefined {
  const name = provider.toLowerCase()
  return name === 'bingbot' ? 'microsoft' : owners.find((owner) => name.startsWith(owner))
}

/**
 * The hosting evidence beside a bot: evidence of its own operator's network is dropped for a
 * verified bot. A bot in another provider's cloud remains hosted.
 */
export function hostingBesideBot(
  hosting: readonly CountedEvidence[],
  of: { readonly bot: BotFinding | undefined; readonly network: Network | undefined },
): readonly CountedEvidence[] {
  const owner = of.bot?.confidence === 'high' ? botOwner(of.bot.provider) : undefined
  if (owner === undefined) return hosting
  const isOwners = (name: string): boolean => name.toLowerCase().startsWith(owner)
  if (isOwners(of.network?.organization ?? '')) return []
  const isForeign = ({ evidence }: CountedEvidence): boolean => !isOwners(evidence.provider)
  return hosting.every(isForeign) ? hosting : hosting.filter(isForeign)
}

// The order of `proxy.type` for classes that are not a kind. Other classes have their own type: an
// operator's own exit is vpn even if a residential list names it.
const proxyTypeOrder = [
  { kind: 'tor', type: 'tor' },
  { kind: 'residential_proxy', type: 'residential' },
  { kind: 'vpn', type: 'vpn' },
  { kind: 'proxy', type: 'proxy' },
  { kind: 'hosting', type: 'data_center' },
] as const satisfies readonly { readonly kind: ScoredKind; readonly type: ProxyType }[]

/**
 * The `proxy` member of a verdict, present exactly if one of the signals proxy, vpn,
 * tor, hosting, residential_proxy is true, unless a bot is verified by its operator's range.
 */
export function proxyOf(
  findings: Findings,
  of: { readonly classification: Classification; readonly bot: BotFinding | undefined },
): ProxyFinding | undefined {
  if (of.bot?.confidence === 'high') return undefined
  const named =
    proxyTypeOrder.find(({ kind }) => kind === of.classification) ??
    proxyTypeOrder.find(({ kind }) => findings[kind].present)
  if (named === undefined) return undefined
  const { counted, inferred, provider } = findings[named.kind]
  return {
    confidence: confidenceOf(counted, inferred),
    type: named.type,
    provider,
    lastSeen: lastSeenDay(counted),
    percentDaysSeen: percentDaysSeen(counted),
  }
}

/**
 * The strongest evidence's name; among equals that of the network's owner (GitHub also lists
 * Microsoft's cloud), then the first in code order.
 */
function providerOf(counted: readonly CountedEvidence[], organization = ''): string {
  let name = ''
  let strongest = -1
  for (const { evidence, value } of counted) {
    const { provider } = evidence
    if (provider === '') continue
    const wins = value === strongest && isBefore(provider, name, organization)
    if (value > strongest || wins) {
      name = provider
      strongest = value
    }
  }
  return name
}

function isBefore(one: string, other: string, organization: string): boolean {
  const [owns, otherOwns] = [isOwner(one, organization), isOwner(other, organization)]
  return owns === otherOwns ? one < other : owns
}

/** `Microsoft Azure` belongs to `Microsoft Corporation`. */
function isOwner(provider: string, organization: string): boolean {
  const [first = ''] = provider.split(' ')
  return organization.toLowerCase().startsWith(first.toLowerCase())
}

/** The hand-kept table of ranges dedicated to Tor exits (MODEL.md, rule 5). */
export const torOperatorsId = 'table-tor-operators'

/** Whether a Tor exit is only in an operator's range, on no list. */
export const isByOperatorRange = ({ kind, counted }: Finding): boolean =>
  kind === 'tor' && counted.every(({ evidence }) => evidence.voice.id === torOperatorsId)
