// A finding: what all counted evidence of one kind comes to. Its points are of that kind alone;
// how the kinds go together is the ledger's business. Hosting has an additional way to be found and
// so a file of its own; blocklists make no class and are counted, not weighed: blocklist-points.ts.

import type { Kind } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import { hostingStrength } from './hosting-finding.ts'
import { providerOf } from './provider-name.ts'
import { percentDaysSeen } from '../weight/days-seen.ts'
import { presentStrengthMin, roundStrength, strengthOf } from '../weight/strength.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'

/** Kinds that have points of their own. */
export type ScoredKind = Exclude<Kind, 'blocklist'>

/** In the order in which equal points are told. */
export const scoredKinds = [
  'tor',
  'residential_proxy',
  'vpn',
  'proxy',
  'hosting',
  'relay',
  'bot',
] as const satisfies readonly ScoredKind[]

/** Points of one fresh, certain finding (MODEL.md, section 2). */
export const anchors: Readonly<Record<ScoredKind, number>> = {
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
  /** Only from the network, not from any list of addresses (hosting alone). */
  readonly inferred: boolean
  /** It was seen on so few days that it counts less. */
  readonly rare: boolean
  /** Independent voices that add up; of hosting alone, 1 elsewhere. */
  readonly voices: number
  /** The evidence that the finding stands on. */
  readonly counted: readonly CountedEvidence[]
  /** The operator, '' where no evidence names one. */
  readonly provider: string
}

export type Findings = Readonly<Record<ScoredKind, Finding>>

/** The finding of a kind without evidence. */
export const absentFindings: Readonly<Record<ScoredKind, Finding>> = {
  tor: absentFinding('tor'),
  vpn: absentFinding('vpn'),
  proxy: absentFinding('proxy'),
  residential_proxy: absentFinding('residential_proxy'),
  hosting: absentFinding('hosting'),
  relay: absentFinding('relay'),
  bot: absentFinding('bot'),
}

function absentFinding(kind: ScoredKind): Finding {
  const rest = { strength: 0, points: 0, present: false, inferred: false, rare: false, voices: 1 }
  return { kind, ...rest, counted: [], provider: '' }
}

/** What `counted`, all of one kind, comes to in `network`. */
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

/** Its publisher used the proxy: that it is new is no reason to doubt it. */
function isTested({ evidence }: CountedEvidence): boolean {
  return evidence.kind === 'proxy' && evidence.voice.assurance === 'direct'
}

/** On people's own lines the address is somebody else's after a while. */
function changesHands(kind: ScoredKind, network: Network | undefined): boolean {
  return kind === 'residential_proxy' || (kind === 'proxy' && network?.access === true)
}

function makeFinding(
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
