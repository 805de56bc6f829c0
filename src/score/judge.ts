// Evidence in, verdict out. Pure: the same evidence in any order, network and day give the same
// verdict, bit for bit. The formula, its numbers and worked examples are in MODEL.md. Callers
// handle bogons, and judge addresses that embed an IPv4 address twice.
//
// Steps: weigh → findings by kind → relay suppression → bot, class → ledger → verdict.

import type { Day } from '../base/day.ts'
import type { Evidence } from '../model/evidence.ts'
import type { Network } from '../model/network.ts'
import type { Reason, Verdict } from '../model/verdict.ts'
import { blocklistOf, significantListsMin } from './points/blocklist-points.ts'
import {
  botOf,
  type Finding,
  findingOf,
  type Findings,
  hostingBesideBot,
  isByOperatorRange,
  proxyOf,
  type ScoredKind,
  scoredKinds,
} from './finding/finding.ts'
import { classify, conflictOf } from './finding/classify.ts'
import { vpnInferenceAt, withInferredVpn } from './finding/inferred-vpn.ts'
import { isNetworkBelieved } from './finding/hosting-finding.ts'
import {
  capsOf,
  floorsOf,
  isConsumerVpn,
  type LimitInput,
  postCaps,
  postFloor,
  postKinds,
  postReason,
  type ScoreLedger,
} from './points/score-limits.ts'
import { neighbourhoodOf } from './points/neighbourhood-points.ts'
import type { ReasonCode } from './points/reason-codes.ts'
import { afterRelaySuppression, nearRelay } from './finding/relay-suppression.ts'
import { isShared, weighEvidence } from './weight/weigh-evidence.ts'

/** `network` is `undefined` if no AS announces the address. */
export interface JudgeInput {
  readonly evidence: readonly Evidence[]
  readonly network: Network | undefined
  /** Network data are too old to say that an address is unannounced (rule 12). */
  readonly areNetworksOld?: boolean | undefined
  /** The day that counts as today. */
  readonly asOf: Day
}

type Assessment = ReturnType<typeof assessEvidence>

export const judge = (input: JudgeInput): Verdict => verdictOf(assessEvidence(input))

/** The verdict with its findings, for explanations. */
export function judgeWithFindings(input: JudgeInput) {
  const found = assessEvidence(input)
  const { findings, weighed } = found
  return { verdict: verdictOf(found), findings, blocklist: weighed.byKind.blocklist }
}

function verdictOf(found: Assessment): Verdict {
  const { input, findings, classification } = found
  const { score, reasons } = postReasons(found)
  return {
    classification,
    score,
    proxy: proxyOf(findings, found),
    bot: found.bot,
    signals: {
      bogon: false,
      proxy: findings.proxy.present,
      vpn: findings.vpn.present,
      tor: findings.tor.present,
      hosting: findings.hosting.present,
      residential_proxy: findings.residential_proxy.present,
      blocklist_match: found.blocklist.lists > 0,
      relay: findings.relay.present,
      mobile: input.network?.mobile === true,
    },
    reasons,
  }
}

/** All intermediate results; each depends on those before it. */
function assessEvidence(input: JudgeInput) {
  const { network, asOf } = input
  const weighed = weighEvidence(input)
  const { byKind } = weighed
  const relay = findingOf('relay', byKind.relay, network)
  let suppressed = false
  const findKind = (kind: ScoredKind, counted = byKind[kind]): Finding => {
    if (!relay.present || counted.length === 0) return findingOf(kind, counted, network)
    const left = afterRelaySuppression(kind, counted)
    if (left.length < counted.length) suppressed = true
    return findingOf(kind, left, network)
  }
  const botFinding = findKind('bot')
  const bot = botOf(botFinding)
  // Lists do not matter for a resolver: all of its ranges get the same answer.
  const isResolver = network?.anycast === true
  const besideBot = isResolver ? [] : hostingBesideBot(byKind.hosting, { bot, network })
  const hosting = findKind('hosting', besideBot)
  const site = { network, hosting, relay, isBot: bot !== undefined }
  const inference = vpnInferenceAt(weighed.inferredVpn, site)
  const { inferred } = inference
  const vpn = findKind('vpn')
  const findings = {
    tor: findKind('tor'),
    vpn: inferred === undefined ? vpn : withInferredVpn(vpn, inferred),
    proxy: findKind('proxy'),
    residential_proxy: findKind('residential_proxy'),
    hosting,
    bot: botFinding,
    relay,
  }
  /** Hosting by the bot's own operator was left out. */
  const ownNetwork = !isResolver && besideBot.length < byKind.hosting.length
  const blocklist = blocklistOf(byKind.blocklist)
  const conflict = conflictOf(findings, asOf)
  const classification = classify({ findings, bot, conflict })
  const near = relay.present ? nearRelay(weighed.near) : weighed.near
  if (near.length < weighed.near.length) suppressed = true
  const around = {
    near,
    isVpnInferred: inferred !== undefined,
    /** The address itself is a relay or bot, so they do not count. */
    isInferenceSuppressed: inference.suppressed,
  }
  const found = { input, weighed, findings, suppressed, ownNetwork, ...around }
  return { ...found, blocklist, bot, conflict, classification }
}

function postReasons(found: Assessment): ScoreLedger {
  const { findings, blocklist, classification } = found
  const { network, asOf } = found.input
  const ledger: ScoreLedger = { score: 0, reasons: [] }
  const kinds: Reason[] = []
  for (const kind of scoredKinds) {
    const finding = findings[kind]
    if (finding.strength > 0) kinds.push({ code: codeOf(finding, found), points: finding.points })
  }
  kinds.push(...neighbourhoodOf({ near: found.near, findings, blocklist, network }))
  postKinds(ledger, kinds)
  if (blocklist.code !== undefined) postReason(ledger, blocklist.code, blocklist.points)
  const explained = findings.tor.present || findings.proxy.present
  if (explained && blocklist.points > 0 && blocklist.lists < significantListsMin) {
    postReason(ledger, 'blocklist_explained', -blocklist.points)
  }
  const limits: LimitInput = {
    classification,
    findings,
    network,
    blocklists: blocklist.lists,
    listsOfBot: found.bot?.confidence === 'high' ? blocklist.voices : blocklist.lists,
    isVpnInferred: found.isVpnInferred,
    areNetworksOld: found.input.areNetworksOld === true,
    asOf,
  }
  for (const floor of floorsOf(limits)) postFloor(ledger, floor)
  postCaps(ledger, capsOf(limits))
  if (isConsumerVpn(limits) && !ledger.reasons.some(({ code }) => code === 'consumer_vpn')) {
    postReason(ledger, 'consumer_vpn', 0)
  }
  for (const code of notesOf(found)) postReason(ledger, code, 0)
  return ledger
}

/** The reason of a kind's points: `vpn_listed`, or `vpn_trace`, `tor_trace` … if it is weak. */
function codeOf(finding: Finding, { bot }: Assessment): ReasonCode {
  const { kind, present, inferred } = finding
  if (isByOperatorRange(finding)) return present ? 'tor_operator_range' : 'tor_operator_trace'
  if (!present && kind === 'hosting' && isLoneNetwork(finding)) return 'hosting_unconfirmed'
  if (!present) return `${kind}_trace`
  if (kind === 'bot') return bot?.confidence === 'high' ? 'bot_verified' : 'bot_listed'
  if (kind === 'vpn' && inferred) return 'vpn_inferred'
  if (kind === 'hosting') return inferred ? 'hosting_inferred' : 'hosting_listed'
  return kind === 'tor' ? 'tor_exit_listed' : `${kind}_listed`
}

const isLoneNetwork = ({ counted }: Finding): boolean =>
  counted.every(({ evidence }) => evidence.match === 'as') && !isNetworkBelieved(counted)

/** Reasons without points, in the order of the table of reasons. */
function notesOf(found: Assessment): ReasonCode[] {
  const { findings, weighed, classification } = found
  const { network } = found.input
  const notes: ReasonCode[] = []
  const all = Object.values(findings).filter((finding) => finding.strength > 0)
  const edge = network?.cdn === true || network?.type === 'cdn'
  if (network === undefined && found.input.areNetworksOld) notes.push('announcement_unknown')
  if (found.conflict === 'resolved') notes.push('conflict_resolved')
  if (found.suppressed) notes.push('range_suppressed_by_relay')
  if (found.isInferenceSuppressed) notes.push('inference_suppressed')
  if (found.ownNetwork) notes.push('bot_own_network')
  if (weighed.notes.originChanged) notes.push('origin_changed')
  if (weighed.notes.contradicted) notes.push('hosting_contradicted')
  if (weighed.notes.rangeOverLines) notes.push('range_over_lines')
  if (weighed.notes.expired) notes.push('evidence_expired')
  if (all.some(isDecayed)) notes.push('evidence_decayed')
  if (all.some(({ rare }) => rare)) notes.push('rarely_seen')
  const inferred = findings.hosting.inferred && isShared(network)
  if (weighed.notes.sharedDiscount || inferred) notes.push('shared_network')
  if (isAnycast(findings, network)) notes.push('anycast')
  if (edge && (classification === 'hosting' || classification === 'clean')) notes.push('cdn_edge')
  return notes
}

/** Resolvers, and edges published by content delivery networks. */
function isAnycast({ hosting }: Findings, network: Network | undefined): boolean {
  if (network?.anycast === true) return true
  if (network?.cdn !== true) return false
  return hosting.counted.some(({ evidence }) => anycastEdges.has(evidence.provider))
}

/** Other networks' edges (Akamai, Google) are in one place. */
const anycastEdges: ReadonlySet<string> = new Set(['Cloudflare', 'Fastly'])

const isDecayed = ({ counted }: Finding): boolean => counted.every(({ decay }) => decay <= 0.5)
