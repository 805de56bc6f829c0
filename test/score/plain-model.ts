// The whole model once more, written from MODEL.md in the plainest way: one list of
// evidence, filtered again for each question. Slow, and the truth that judge is held against. It
// shares nothing with src/score but the types of what goes in.

import type { Day } from '../../src/base/day.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import type { Classification, Confidence, Kind } from '../../src/model/kind.ts'
import type { Network } from '../../src/model/network.ts'

/** Evidence as it counts: its kind here, and d·m. */
interface PlainPiece {
  readonly evidence: Evidence
  readonly kind: Kind
  readonly near: number
  readonly age: number
}

interface PlainKind {
  readonly pieces: readonly PlainPiece[]
  readonly strength: number
  readonly present: boolean
  readonly points: number
  readonly inferred: boolean
  readonly confidence: Confidence
  /** Age of the newest piece. */
  readonly age: number
  readonly percent: number
}

export interface PlainVerdict {
  readonly kinds: Readonly<Record<Exclude<Kind, 'blocklist'>, PlainKind>>
  readonly lists: number
  readonly blocklistPoints: number
  readonly verifiedBot: boolean
  readonly classification: Classification
  readonly score: number
}

const halfLives: Partial<Record<Kind, number>> = {
  tor: 1,
  residential_proxy: 3,
  proxy: 7,
  blocklist: 14,
  vpn: 30,
}
export const anchors = {
  tor: 85,
  residential_proxy: 80,
  proxy: 70,
  vpn: 60,
  hosting: 40,
  relay: 10,
  bot: 5,
} as const
type Scored = keyof typeof anchors

export const isSharedNetwork = (network: Network | undefined): boolean =>
  network !== undefined && (network.shared || network.mobile)

export function plainVerdict(
  evidence: readonly Evidence[],
  network: Network | undefined,
  asOf: Day,
): PlainVerdict {
  const pieces = evidence.flatMap((one) => pieceOf(one, network, asOf))
  const relayed = strength(pieces.filter(({ kind }) => kind === 'relay')) >= 0.25
  const left = pieces.filter((piece) => !relayed || !isRelays(piece))
  const of = (kind: Scored): PlainKind => plainKind(kind, left, network)
  const kinds = {
    tor: of('tor'),
    residential_proxy: of('residential_proxy'),
    proxy: of('proxy'),
    vpn: of('vpn'),
    hosting: of('hosting'),
    relay: of('relay'),
    bot: of('bot'),
  }
  const lists = countLists(left.filter(({ kind }) => kind === 'blocklist'))
  const blocklistPoints = lists >= 5 ? 45 : lists >= 3 ? 30 : lists === 2 ? 15 : lists * 8
  const verifiedBot =
    kinds.bot.present &&
    kinds.bot.pieces.some((piece) => piece.evidence.voice.assurance === 'direct')
  const classification = classOf(kinds, verifiedBot)
  const found = { kinds, lists, blocklistPoints, verifiedBot, classification }
  return { ...found, score: scoreOf(found, network) }
}

function pieceOf(evidence: Evidence, network: Network | undefined, asOf: Day): PlainPiece[] {
  const { voice, match } = evidence
  const atHome = network?.access === true
  const kind = evidence.kind === 'residential_proxy' && !atHome ? ('proxy' as const) : evidence.kind
  if (voice.weight === 0) return []
  if (match === 'as' && kind !== 'hosting') return []
  if (kind === 'bot' && evidence.category === undefined) return []
  if (voice.asns.length > 0 && !voice.asns.some((asn) => asn === network?.asn)) return []
  if (kind === 'hosting' && voice.assurance === 'weak' && atHome) return []
  const age = Math.max(0, asOf - evidence.lastSeen)
  const halfLife = halfLives[kind]
  if (halfLife !== undefined && age > 90) return []
  const fresh = halfLife === undefined ? 1 : Math.pow(0.5, age / halfLife)
  const stated = ['hosting', 'bot', 'relay'].includes(kind) && voice.assurance === 'direct'
  const direct = { exact: 1, range: stated ? 1 : 0.9, as: 0.5 }[match]
  const exempt = kind === 'bot' || kind === 'relay' || match !== 'range'
  return [
    { evidence, kind, near: fresh * direct * (isSharedNetwork(network) && !exempt ? 0.4 : 1), age },
  ]
}

/** What a list says of a relay by mistake (rule 7). */
function isRelays({ kind, evidence }: PlainPiece): boolean {
  if (kind === 'hosting') return true
  if (kind !== 'vpn' && kind !== 'proxy' && kind !== 'residential_proxy') return false
  return evidence.match !== 'exact' || evidence.voice.assurance !== 'direct'
}

const worth = ({ evidence, near }: PlainPiece): number => evidence.voice.weight * near
const groups = (pieces: readonly PlainPiece[]): string[] => [
  ...new Set(pieces.map(({ evidence }) => evidence.voice.group)),
]
const ofGroup = (pieces: readonly PlainPiece[], group: string): PlainPiece[] =>
  pieces.filter(({ evidence }) => evidence.voice.group === group)

/** 1 − Π over groups (1 − w·d·m), to six decimals. */
function strength(pieces: readonly PlainPiece[]): number {
  const doubts = groups(pieces).map((group) => 1 - Math.max(...ofGroup(pieces, group).map(worth)))
  return sixDecimals(1 - doubts.reduce((product, doubt) => product * doubt, 1))
}

const sixDecimals = (value: number): number => Math.round(value * 1e6) / 1e6

function plainKind(
  kind: Scored,
  all: readonly PlainPiece[],
  network: Network | undefined,
): PlainKind {
  const own = all.filter((piece) => piece.kind === kind)
  const listed = own.filter(({ evidence }) => evidence.match !== 'as')
  const inference = inferenceOf(own)
  const shared = isSharedNetwork(network) ? 0.4 : 1
  const guessed = sixDecimals(Math.min(0.5, strength(inference)) * shared)
  const inferred = inference.length > 0 && guessed > strength(listed)
  const pieces = inferred ? inference : listed
  const percent = percentOf(pieces)
  const moves = kind === 'residential_proxy' || (kind === 'proxy' && network?.access === true)
  const full = inferred ? guessed : strength(pieces)
  const steady = moves ? sixDecimals(full * (0.5 + 0.5 * (percent / 100))) : full
  return {
    pieces,
    strength: steady,
    present: steady >= 0.25,
    points: Math.round(anchors[kind] * steady),
    inferred,
    confidence: inferred ? 'low' : confidenceOf(pieces),
    age: Math.min(...pieces.map(({ age }) => age)),
    percent,
  }
}

/** Rule 5: the hand-kept table, or two independent AS lists. */
function inferenceOf(own: readonly PlainPiece[]): readonly PlainPiece[] {
  const guesses = own.filter(({ evidence }) => evidence.match === 'as')
  const isTable = ({ evidence }: PlainPiece): boolean => evidence.voice.id === 'table-hosting'
  const lists = guesses.filter((piece) => !isTable(piece))
  return guesses.some(isTable) || groups(lists).length >= 2 ? guesses : []
}

/** Contract 3.2, over the voices that reach a tenth. */
function confidenceOf(pieces: readonly PlainPiece[]): Confidence {
  const heard = pieces.filter((piece) => worth(piece) >= 0.1)
  const has = (assurance: string): boolean =>
    heard.some(({ evidence }) => evidence.voice.assurance === assurance)
  const count = groups(heard).length
  if (has('direct') || count >= 3) return 'high'
  return has('good') || count === 2 ? 'medium' : 'low'
}

/** Contract 3.5. */
function percentOf(pieces: readonly PlainPiece[]): number {
  const shares = pieces
    .filter(({ evidence }) => !evidence.voice.rolling)
    .map(({ evidence }) => evidence.daysListed / Math.max(7, evidence.daysObserved))
  return Math.round(Math.max(0, ...shares) * 10_000) / 100
}

function countLists(pieces: readonly PlainPiece[]): number {
  if (strength(pieces) < 0.25) return 0
  const counts = groups(pieces)
    .map((group) => Math.max(...ofGroup(pieces, group).map((one) => one.evidence.lists * one.near)))
    .sort((a, b) => a - b)
  return Math.max(1, Math.round(counts.reduce((sum, count) => sum + count, 0)))
}

type Found = Omit<PlainVerdict, 'score'>

/** Contract 3.7, the first that holds. */
function classOf(kinds: Found['kinds'], verifiedBot: boolean): Classification {
  if (verifiedBot) return 'known_bot'
  if (kinds.tor.present) return 'tor'
  if (isMixed(kinds)) return 'mixed'
  if (kinds.residential_proxy.present) return 'residential_proxy'
  if (kinds.vpn.present) return 'vpn'
  if (kinds.proxy.present) return 'proxy'
  if (kinds.bot.present) return 'known_bot'
  return kinds.hosting.present ? 'hosting' : 'clean'
}

export function isMixed({ residential_proxy, vpn }: Found['kinds']): boolean {
  return [residential_proxy, vpn].every(
    ({ present, confidence, age, pieces }) =>
      present &&
      confidence !== 'low' &&
      age <= 7 &&
      pieces.every(({ evidence }) => evidence.voice.assurance !== 'direct'),
  )
}

/** Two lists of different groups agree on a household (MODEL.md, 5). */
function isAgreed({ residential_proxy: home, proxy }: Found['kinds']): boolean {
  if (!home.present || !proxy.present || home.age > 7 || proxy.age > 7) return false
  return new Set([...groups(home.pieces), ...groups(proxy.pieces)]).size > 1
}

/** Rule 11. */
function scoreOf(found: Found, network: Network | undefined): number {
  const { kinds, lists, classification } = found
  const points = Object.values(kinds).map((kind) => kind.points)
  const top = Math.max(...points)
  const others = points.reduce((sum, one) => sum + one, 0) - top
  const explained = (kinds.tor.present || kinds.proxy.present) && lists < 3
  let score = top + Math.min(10, others) + (explained ? 0 : found.blocklistPoints)
  if (network === undefined) score = Math.max(15, score)
  if (classification === 'mixed' || isAgreed(kinds)) score = Math.max(80, score)
  const seen = [kinds.vpn, kinds.proxy, kinds.residential_proxy].some(({ present }) => present)
  const isExit =
    kinds.tor.present && kinds.tor.pieces.some(({ evidence }) => evidence.match === 'exact')
  if (classification === 'known_bot' && lists < 3) score = Math.min(10, score)
  if (kinds.relay.present && !seen && !isExit) score = Math.min(20, score)
  if (network?.corporate === true) score = Math.min(30, score)
  if (classification === 'clean') score = Math.min(49, score)
  if (isSharedNetwork(network) && !kinds.tor.present) score = Math.min(74, score)
  return Math.min(100, score)
}
