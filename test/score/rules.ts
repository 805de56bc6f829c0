// Every fixed rule of MODEL.md (1 to 13) and of contract 3.1 to 3.8 as a statement about one case:
// evidence, a network, and the verdict on them. The key begins with the rule's number. Rules about
// addresses rather than evidence are named at the end with the tests that hold them.

import { inferredVpnId } from '../../src/score/weight/weigh-evidence.ts'
import type { Day } from '../../src/base/day.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import { classifications, levels, riskLevelOf, signalNames } from '../../src/model/kind.ts'
import type { Network } from '../../src/model/network.ts'
import type { Verdict } from '../../src/model/verdict.ts'
import { judge } from '../../src/score/judge.ts'
import { reasonTexts } from '../../src/score/points/reason-codes.ts'
import { type PlainVerdict, anchors, isMixed, isOwnExit, isSharedNetwork } from './plain-model.ts'
import { today } from './evidence-sample.ts'

export interface Case {
  readonly evidence: readonly Evidence[]
  readonly network: Network | undefined
  readonly verdict: Verdict
  /** What the plain model says. */
  readonly plain: PlainVerdict
  /** One more piece of evidence, in no relation to the rest. */
  readonly more: Evidence
  /** Some number from 0 to 1. */
  readonly share: number
}

export type Rule = (of: Case) => boolean

/** Reasons through which more evidence may lower a score (rule 2). */
const lowering = new Set([
  'cap_bot',
  'cap_relay',
  'cap_corporate',
  'cap_clean',
  'cap_shared',
  'range_suppressed_by_relay',
  'blocklist_explained',
  'conflict_resolved',
  'consumer_vpn',
  'bot_own_network',
  'inference_suppressed',
  'cap_lone_range',
])

const typeOfClass: Readonly<Record<string, string>> = {
  proxy: 'proxy',
  vpn: 'vpn',
  tor: 'tor',
  hosting: 'data_center',
  residential_proxy: 'residential',
}

/** In the order of contract 3.5. */
const proxyKinds = ['tor', 'residential_proxy', 'vpn', 'proxy', 'hosting'] as const

const judged = (evidence: readonly Evidence[], network: Network | undefined): Verdict =>
  judge({ evidence, network, asOf: today })
const has = ({ reasons }: Verdict, start: string): boolean =>
  reasons.some(({ code }) => code.startsWith(start))
const pointsOf = ({ reasons }: Verdict, test: RegExp): number =>
  reasons.reduce((sum, { code, points }) => (test.test(code) ? sum + points : sum), 0)
/** Deep equality of plain data; far faster than a comparison of texts. */
function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => same(one[name as never], other[name as never]))
}

/** The same evidence in other objects, the last first. */
const copied = (evidence: readonly Evidence[]): readonly Evidence[] =>
  evidence.map((one) => ({ ...one, voice: { ...one.voice } })).toReversed()
const isHighRisk = ({ signals }: Verdict): boolean => proxyKinds.some((kind) => signals[kind])
/** The kind that `proxy` speaks of; none of a bot that is verified. */
const speaker = ({
  classification,
  signals,
  bot,
}: Verdict): (typeof proxyKinds)[number] | undefined =>
  bot?.confidence === 'high'
    ? undefined
    : (proxyKinds.find((kind) => kind === classification) ??
      proxyKinds.find((kind) => signals[kind]))

/** Points of a kind, under whichever reason; a kind without any has none. */
const kindReason = {
  tor: /^tor_/,
  residential_proxy: /^residential_proxy_/,
  vpn: /^vpn_(?:listed|inferred|trace)$/,
  proxy: /^proxy_(?:listed|trace)$/,
  hosting: /^hosting_(?:listed|inferred|trace|unconfirmed)$/,
  relay: /^relay_/,
  bot: /^bot_/,
} as const
const kindNames = Object.keys(kindReason) as (keyof typeof kindReason)[]

const older = (evidence: Evidence): Evidence => ({
  ...evidence,
  lastSeen: (evidence.lastSeen - 1) as Day,
})

/** Rules 1 to 13 of MODEL.md. */
const scoring: Readonly<Record<string, Rule>> = {
  '1 the order of the evidence and its identity do not matter': ({ evidence, network, verdict }) =>
    same(judged(copied(evidence), network), verdict),
  '1 nor does a day that passes, where all evidence is as old as before': (of) => {
    const moved = of.evidence.map((one) => ({ ...one, lastSeen: (one.lastSeen + 9) as Day }))
    const later = judge({ evidence: moved, network: of.network, asOf: (today + 9) as Day })
    const { proxy } = later
    const back = proxy && { ...proxy, lastSeen: (proxy.lastSeen - 9) as Day }
    return same({ ...later, proxy: back }, of.verdict)
  },
  '2 the reasons add up to the score': ({ verdict }) => pointsOf(verdict, /./) === verdict.score,
  '2 the score is whole and from 0 to 100': ({ verdict: { score } }) =>
    Number.isInteger(score) && score >= 0 && score <= 100,
  '2 points are whole, codes known, each once': ({ verdict: { reasons } }) =>
    reasons.every((one) => Number.isInteger(one.points) && Object.hasOwn(reasonTexts, one.code)) &&
    new Set(reasons.map(({ code }) => code)).size === reasons.length,
  '2 more evidence lowers a score only through a reason that says so': (of) => {
    const after = judged([...of.evidence, of.more], of.network)
    if (after.score >= of.verdict.score) return true
    const old = new Map(of.verdict.reasons.map(({ code, points }) => [code, points]))
    return after.reasons.some(
      ({ code, points }) => lowering.has(code) && points < (old.get(code) ?? Infinity),
    )
  },
  '3 who republishes and says no more adds nothing': (of) => {
    const [first] = of.evidence
    // The hand-kept table is believed under its own name alone.
    if (first === undefined || ['table-hosting', inferredVpnId].includes(first.voice.id))
      return true
    const { voice } = first
    const echo = {
      ...voice,
      id: 'echo',
      weight: voice.weight * of.share,
      assurance: 'weak' as const,
    }
    const after = judged([...of.evidence, { ...first, voice: echo, provider: '' }], of.network)
    return (
      after.score === of.verdict.score &&
      same(after.signals, of.verdict.signals) &&
      after.classification === of.verdict.classification &&
      after.proxy?.confidence === of.verdict.proxy?.confidence
    )
  },
  '3 across groups evidence adds up': (of) => {
    const { voice } = of.more
    const other = { ...voice, group: 'group-of-nobody-else', id: 'nobody-else', rolling: true }
    const after = judged([...of.evidence, { ...of.more, voice: other }], of.network)
    if (has(after, 'range_suppressed') || has(after, 'bot_own_network')) return true
    if (has(after, 'inference_suppressed')) return true
    return kindNames.every(
      (kind) => pointsOf(after, kindReason[kind]) >= pointsOf(of.verdict, kindReason[kind]),
    )
  },
  '4 neighbours make no signal, no class, and at most 18 points': (of) => {
    const near = of.evidence
      .filter(({ voice }) => voice.id !== inferredVpnId)
      .map((one) => ({ ...one, match: 'near' as const }))
    const { classification, signals, proxy, bot, score } = judged(near, of.network)
    const isSilent = !isHighRisk({ signals } as Verdict) && !signals.blocklist_match
    return classification === 'clean' && isSilent && !proxy && !bot && score <= 18
  },
  '4 neighbours beside what is known of the address add no signal and no class': (of) => {
    if (of.more.voice.id === inferredVpnId) return true
    const near = { ...of.more, match: 'near' as const }
    const after = judged([...of.evidence, near], of.network)
    return same(after.signals, of.verdict.signals) && same(after.proxy, of.verdict.proxy)
  },
  '4 an inference makes no more than vpn of low confidence and 50, and nothing on lines': (of) => {
    const alone = of.evidence.filter(({ voice }) => voice.id === inferredVpnId)
    const { classification, score, proxy } = judged(alone, of.network)
    if (classification === 'clean') return score <= 15
    const isCapped = of.network?.shared === true || of.network?.mobile === true
    return (
      !of.network?.access &&
      proxy?.confidence === 'low' &&
      !proxy.provider &&
      (isCapped || score === 50)
    )
  },
  '4 a range is worth no more than the address itself': (of) => {
    const wider = of.evidence.map((one) => ({ ...one, match: 'range' as const }))
    const exact = wider.map((one) => ({ ...one, match: 'exact' as const }))
    const [ranges, addresses] = [judged(wider, of.network), judged(exact, of.network)]
    if ([ranges, addresses].some((one) => has(one, 'range_suppressed') || has(one, 'bot_own')))
      return true
    return kindNames.every(
      (kind) => pointsOf(ranges, kindReason[kind]) <= pointsOf(addresses, kindReason[kind]),
    )
  },
  '4 old evidence is worth no more than fresh': (of) => {
    const after = judged(of.evidence.map(older), of.network)
    if (has(after, 'range_suppressed') || has(of.verdict, 'range_suppressed')) return true
    return kindNames.every(
      (kind) => pointsOf(after, kindReason[kind]) <= pointsOf(of.verdict, kindReason[kind]),
    )
  },
  '4 a list of ranges beats the inference from the network': ({ plain, verdict }) =>
    has(verdict, 'hosting_inferred') === (plain.kinds.hosting.inferred && verdict.signals.hosting),
  '5 networks alone make no vpn, proxy, tor or residential proxy': (of) => {
    const networks = of.evidence.map((one) => ({ ...one, match: 'as' as const }))
    const { signals } = judged(networks, of.network)
    return !signals.vpn && !signals.proxy && !signals.tor && !signals.residential_proxy
  },
  '5 hosting from networks needs the table or two voices, is low, and 40 of three': (of) => {
    const networks = of.evidence.filter(({ match, kind }) => match === 'as' && kind === 'hosting')
    const verdict = judged(networks, of.network)
    if (!verdict.signals.hosting) return true
    const voices = new Set(networks.map(({ voice }) => voice.group)).size
    const table = networks.some(({ voice }) => voice.id === 'table-hosting')
    const low = verdict.proxy?.confidence === 'low'
    const agreed = has(verdict, 'floor_hosting') || pointsOf(verdict, /^hosting_inferred/) === 40
    return (table || voices >= 2) && low && verdict.score >= 25 && (!agreed || voices >= 3)
  },
  '5 a type hosting is never without points, once anything says so': (of) => {
    const networks = of.evidence.filter(
      ({ match, kind, voice }) =>
        match === 'as' && kind === 'hosting' && voice.weight >= 0.5 && voice.asns.length === 0,
    )
    const isHoster =
      of.network?.type === 'hosting' && !of.network.access && !isSharedNetwork(of.network)
    if (!isHoster || networks.length === 0) return true
    return judged(networks, of.network).score > 0
  },
  '5 a range of a Tor operator is told as that where no list names the address': (of) => {
    const { pieces, strength } = of.plain.kinds.tor
    const alone = pieces.every(({ evidence }) => evidence.voice.id === 'table-tor-operators')
    const told = has(of.verdict, 'tor_operator_range') || has(of.verdict, 'tor_operator_trace')
    return told === (strength > 0 && alone)
  },
  '5 derived ranges count while the origin AS is the hoster’s': (of) => {
    const isOwn = ({ voice: { asns } }: Evidence): boolean =>
      asns.length === 0 || asns.includes(of.network?.asn ?? 0)
    const mine = of.evidence.filter(isOwn)
    const moved = of.evidence.filter((one) => !isOwn(one))
    if (moved.length === 0) return !has(of.verdict, 'origin_changed')
    const without = judged(mine, of.network)
    const reasons = of.verdict.reasons.filter(({ code }) => code !== 'origin_changed')
    return (
      same({ ...without, reasons: 0 }, { ...of.verdict, reasons: 0 }) &&
      same(without.reasons, reasons) &&
      has(of.verdict, 'origin_changed') === moved.some(counts)
    )
  },
  '6 a kind is present from 0.25 on': ({ plain, verdict: { signals } }) =>
    proxyKinds.every((kind) => signals[kind] === plain.kinds[kind].present) &&
    signals.relay === plain.kinds.relay.present,
  '6 points are the anchor times the strength': ({ plain, verdict }) =>
    kindNames.every((kind) => {
      const exactly = anchors[kind] * plain.kinds[kind].strength
      return Math.abs(pointsOf(verdict, kindReason[kind]) - exactly) <= 0.501
    }),
  '6 below it there are only reasons': ({ plain, verdict }) =>
    kindNames.every((kind) => {
      const { strength, present } = plain.kinds[kind]
      const traces = [`${kind}_trace`]
      if (kind === 'tor') traces.push('tor_operator_trace')
      if (kind === 'hosting') traces.push('hosting_unconfirmed')
      return (strength > 0 && !present) === traces.some((code) => has(verdict, code))
    }),
  '7 a privacy relay is at most 20, unless Tor or a test of the address wins': (of) => {
    const { signals, score } = of.verdict
    const wins = signals.tor || signals.vpn || signals.proxy || signals.residential_proxy
    return !signals.relay || wins || score <= 20
  },
  '7 there ranges of vpn, hosting, proxy, residential proxy say nothing': (of) => {
    if (!of.verdict.signals.relay) return true
    const silent = new Set(['vpn', 'hosting', 'proxy', 'residential_proxy'])
    const left = of.evidence.filter(({ kind, match }) => match === 'exact' || !silent.has(kind))
    const without = judged(left, of.network)
    return (
      !of.verdict.signals.hosting &&
      without.score === of.verdict.score &&
      same(without.signals, of.verdict.signals)
    )
  },
  '8 a crawler’s own range is high, a third party’s medium': ({ plain, verdict }) => {
    const bot = plain.kinds.bot.present ? (plain.verifiedBot ? 'high' : 'medium') : undefined
    return verdict.bot?.confidence === bot
  },
  '8 a known bot is at most 10, unless three lists name it': ({ plain, verdict }) =>
    verdict.classification !== 'known_bot' || plain.listsOfBot >= 3 || verdict.score <= 10,
  '8 of the operators’ bots the search crawler is named': ({ plain, verdict }) => {
    const direct = plain.kinds.bot.pieces.filter(
      ({ evidence }) => evidence.voice.assurance === 'direct',
    )
    const crawls = direct.some(({ evidence }) => evidence.category === 'search_crawler')
    return !plain.verifiedBot || (verdict.bot?.category === 'search_crawler') === crawls
  },
  '8 what is no crawler is no bot': (of) => {
    const others = of.evidence.map((one) => ({ ...one, category: undefined }))
    if (others.every(({ kind }) => kind !== 'bot')) return of.verdict.bot === undefined
    return judged(others, of.network).bot === undefined
  },
  '9 mobile is what the table of networks says': ({ network, verdict }) =>
    verdict.signals.mobile === (network?.mobile === true),
  '9 a shared network is at most 74, unless Tor': ({ network, verdict }) =>
    !isSharedNetwork(network) || verdict.signals.tor || verdict.score <= 74,
  '11 a VPN of ordinary people is at most 49, unless more than it speaks': (of) => {
    const consumed = of.evidence.map((one) =>
      one.kind === 'vpn' ? { ...one, voice: { ...one.voice, consumer: true } } : one,
    )
    const verdict = judged(consumed, of.network)
    const { signals, score } = verdict
    const accused = signals.tor || signals.proxy || signals.residential_proxy
    return (
      !signals.vpn || accused || of.plain.lists >= 3 || score <= 49 || !has(verdict, 'consumer')
    )
  },
  '9 known corporate egress is at most 30': ({ network, verdict }) =>
    network?.corporate !== true || verdict.score <= 30,
  '10 lists make no class': (of) => {
    const without = of.evidence.filter(({ kind }) => kind !== 'blocklist')
    if (without.length === of.evidence.length) return true
    return judged(without, of.network).classification === of.verdict.classification
  },
  '10 the points of 1, 2, 3 to 4, and 5 lists': ({ plain, verdict }) =>
    pointsOf(verdict, /^blocklist_\d$/) === plain.blocklistPoints,
  '10 alone they are clean, at most 49': (of) => {
    const lists = of.evidence.filter(({ kind }) => kind === 'blocklist')
    const { classification, score } = judged(lists, of.network)
    return classification === 'clean' && score <= 49
  },
  '10 beside tor or proxy they count from 3 on': ({ plain, verdict }) => {
    const { tor, proxy, blocklist_match: match } = verdict.signals
    const few = match && (tor || proxy) && plain.lists < 3
    return few === pointsOf(verdict, /^blocklist_explained$/) < 0
  },
  '11 the strongest kind, 10 of the others, lists; floors, the lowest cap, the scale': (of) =>
    of.verdict.score === of.plain.score,
  '13 a range of one third party over people’s lines stays below 50, a residential one below 25': (
    of,
  ) => {
    const { voice } = of.more
    const only = { ...of.more, match: 'range' as const, lists: 1 }
    if (voice.assurance === 'direct' || voice.id.startsWith('table-')) return true
    const isAccess = of.network?.access === true
    if (only.kind === 'blocklist' || !(isAccess || of.network?.type === 'isp')) return true
    const { score } = judged([only], of.network)
    return score < 50 && (only.kind !== 'residential_proxy' || !isAccess || score < 25)
  },
  '12 nor are there points where the data of networks are old': () => {
    const old = judge({ evidence: [], network: undefined, areNetworksOld: true, asOf: today })
    return old.score === 0 && has(old, 'announcement_unknown')
  },
  '12 unannounced space is clean, 15': ({ network }) => {
    if (network !== undefined) return true
    const { classification, score, reasons } = judged([], network)
    const [first, ...rest] = reasons
    return (
      classification === 'clean' &&
      score === 15 &&
      first?.code === 'unannounced' &&
      rest.length === 0
    )
  },
}

/** Whether a piece gets so far that its origin is asked for. */
function counts({ voice, match, kind, category }: Evidence): boolean {
  if (voice.weight === 0 || (match === 'as' && kind !== 'hosting')) return false
  return kind !== 'bot' || category !== undefined
}

/** What contract 3.1 to 3.8 says of a verdict. */
const contract: Readonly<Record<string, Rule>> = {
  '3.1 the level follows from the score': ({ verdict: { score } }) =>
    levels.indexOf(riskLevelOf(score)) ===
    [25, 50, 75, 90].filter((floor) => score >= floor).length,
  '3.2 confidence is who says so and how many': ({ plain, verdict }) => {
    const kind = speaker(verdict)
    return verdict.proxy?.confidence === (kind && plain.kinds[kind].confidence)
  },
  '3.2 a voice gone silent does not raise it': (of) => {
    const kind = speaker(of.verdict)
    if (kind === undefined || of.plain.kinds[kind].inferred) return true
    const voice = { ...of.more.voice, weight: 0.09, group: 'faint', id: 'faint', asns: [] }
    const faint = { ...of.more, voice, kind, provider: '', match: 'exact' as const }
    const after = judged([...of.evidence, faint], of.network)
    return (
      speaker(after) !== kind ||
      has(after, 'hosting_inferred') ||
      after.proxy?.confidence === of.verdict.proxy?.confidence
    )
  },
  '3.4 every member is there': ({ verdict: { signals, proxy, bot } }) =>
    same(Object.keys(signals), signalNames) &&
    Object.values(signals).every((value) => typeof value === 'boolean') &&
    [proxy?.provider, bot?.provider].every((text) => text === undefined || text !== null),
  '3.5 proxy is there exactly with one of five signals, but for a verified bot': ({ verdict }) =>
    (verdict.proxy !== undefined) === (isHighRisk(verdict) && verdict.bot?.confidence !== 'high'),
  '3.5 a verified bot is not hosted by its own operator': (of) => {
    if (of.verdict.bot?.confidence !== 'high') return true
    const own = { ...of.more, kind: 'hosting' as const, provider: 'Google Cloud' }
    const named = of.evidence.map((one) =>
      one.kind === 'bot' ? { ...one, provider: 'Googlebot' } : one,
    )
    const [before, after] = [judged(named, of.network), judged([...named, own], of.network)]
    return same(before.signals, after.signals) && after.proxy === undefined
  },
  '3.5 its type is the class’s, else the first present': ({ verdict }) => {
    const type = typeOfClass[speaker(verdict) ?? '']
    return verdict.proxy?.type === type
  },
  '3.5 its provider is one that the evidence of the kind names': (of) => {
    const kind = speaker(of.verdict)
    const name = of.verdict.proxy?.provider
    // For hosting any evidence of the kind may name the owner of the network.
    const own = kind === 'hosting' ? of.evidence : kind && of.plain.kinds[kind].pieces
    const names = own?.map((one) => ('evidence' in one ? one.evidence.provider : one.provider))
    return name === undefined || name === '' ? true : names?.includes(name) === true
  },
  '3.5 last_seen_at is the newest day of the kind, not after today': ({ plain, verdict }) => {
    const kind = speaker(verdict)
    return verdict.proxy?.lastSeen === (kind && today - plain.kinds[kind].age)
  },
  '3.5 percent_days_seen is listed days over max(7, days with a snapshot), none rolling': (of) => {
    const kind = speaker(of.verdict)
    const percent = of.verdict.proxy?.percentDaysSeen
    return (
      percent === (kind && of.plain.kinds[kind].percent) &&
      (percent === undefined || (percent >= 0 && percent <= 100))
    )
  },
  '3.6 blocklist_match where lists count': ({ plain, verdict }) =>
    verdict.signals.blocklist_match === plain.lists > 0,
  '3.7 the class is the first that holds': ({ plain, verdict }) =>
    verdict.classification === plain.classification &&
    classifications.includes(verdict.classification),
  '3.7 an exit that its operator names is vpn, whatever else names it': ({ plain, verdict }) =>
    plain.verifiedBot ||
    plain.kinds.tor.present ||
    !isOwnExit(plain.kinds.vpn) ||
    verdict.classification === 'vpn',
  '3.7 a class has its own signal': ({ verdict: { classification, signals } }) =>
    !Object.hasOwn(typeOfClass, classification) || signals[classification as 'tor'],
  '3.7 clean has no signal, proxy or bot, and at most 49': ({ verdict }) =>
    verdict.classification !== 'clean' ||
    (!isHighRisk(verdict) &&
      verdict.proxy === undefined &&
      verdict.bot === undefined &&
      verdict.score <= 49),
  '3.7 mixed is an open conflict of two high-risk signals, from 80 on or capped': (of) => {
    const { classification, signals, score } = of.verdict
    if (classification !== 'mixed') return true
    const open = isMixed(of.plain.kinds) && signals.residential_proxy && signals.vpn
    return open && (score >= 80 || has(of.verdict, 'cap_'))
  },
  '3.7 hosting beside another kind is no conflict': (of) => {
    const others = of.evidence.filter(({ kind }) => kind !== 'hosting')
    if (others.length === of.evidence.length) return true
    const { classification } = judged(others, of.network)
    return (classification === 'mixed') === (of.verdict.classification === 'mixed')
  },
  '3.8 no evidence makes a bogon': ({ verdict }) =>
    !verdict.signals.bogon && verdict.classification !== 'bogon',
}

export const rules: Readonly<Record<string, Rule>> = { ...scoring, ...contract }

/** Numbers that no property over evidence can hold, and where they are held. */
export const elsewhere: Readonly<Record<string, string>> = {
  '3.3': 'build/networks/network-type.test.ts',
}

/** All of them. */
export const numbers: readonly string[] = [
  ...Array.from({ length: 13 }, (_, at) => String(at + 1)),
  ...Array.from({ length: 8 }, (_, at) => `3.${at + 1}`),
]
