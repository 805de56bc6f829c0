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
  /** Independent voices of hosting. */
  readonly voices: number
  readonly confidence: Confidence
  /** Age of the newest piece. */
  readonly age: number
  readonly percent: number
}

export interface PlainVerdict {
  readonly kinds: Readonly<Record<Exclude<Kind, 'blocklist'>, PlainKind>>
  readonly lists: number
  /** Those that lift the limit of a known bot: of a verified one independent feeds alone. */
  readonly listsOfBot: number
  readonly blocklistPoints: number
  readonly verifiedBot: boolean
  /** Points of neighbours, by kind. */
  readonly around: readonly number[]
  /** VPN servers around it speak. */
  readonly isInferred: boolean
  readonly classification: Classification
  readonly score: number
}

/** In networks of people's lines, shared ones, others. */
const halfLives: Partial<Record<Kind, readonly [number, number, number]>> = {
  tor: [1, 1, 1],
  residential_proxy: [21, 3, 15],
  proxy: [15, 15, 15],
  blocklist: [14, 14, 14],
  vpn: [30, 30, 30],
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
  const beside = pieces.filter((piece) => !relayed || !isRelays(piece))
  const verifier = beside.filter(
    ({ kind, evidence }) => kind === 'bot' && evidence.voice.assurance === 'direct',
  )
  const verified = strength(beside.filter(({ kind }) => kind === 'bot')) >= 0.25
  const bot = verified ? botName(verifier) : ''
  const left = beside.filter((piece) => piece.kind !== 'hosting' || !isOwned(piece, bot, network))
  const of = (kind: Scored): PlainKind => plainKind(kind, left, network)
  const hosting = of('hosting')
  const inferred = inferredVpn(evidence, { network, relayed, verified, hosting })
  const kinds = {
    tor: of('tor'),
    residential_proxy: of('residential_proxy'),
    proxy: of('proxy'),
    vpn: inferred === undefined ? of('vpn') : orInferred(of('vpn'), inferred, asOf),
    hosting,
    relay: of('relay'),
    bot: of('bot'),
  }
  const blocked = left.filter(({ kind }) => kind === 'blocklist')
  const lists = countLists(blocked)
  const blocklistPoints = lists >= 5 ? 45 : lists >= 3 ? 30 : lists === 2 ? 15 : lists * 8
  const verifiedBot =
    kinds.bot.present &&
    kinds.bot.pieces.some((piece) => piece.evidence.voice.assurance === 'direct')
  const listsOfBot = verifiedBot && lists > 0 ? groups(blocked).length : lists
  const classification = classOf(kinds, verifiedBot)
  const near = evidence.filter(
    ({ match, voice }) => match === 'near' && voice.id !== 'inferred-vpn',
  )
  const around = nearPoints({ kinds, blocklistPoints, relayed }, near, network, asOf)
  const isInferred = inferred !== undefined
  const ofLists = { lists, listsOfBot, blocklistPoints }
  const found = { kinds, ...ofLists, verifiedBot, classification, around, isInferred }
  return { ...found, score: scoreOf(found, network) }
}

/** Rule 4: where servers around the address make it one of them. */
function inferredVpn(
  evidence: readonly Evidence[],
  at: {
    readonly network: Network | undefined
    readonly relayed: boolean
    readonly verified: boolean
    readonly hosting: PlainKind
  },
): Evidence | undefined {
  const { network, relayed, verified, hosting } = at
  if (network === undefined) return undefined
  const isHoster = network.type === 'hosting' && !network.access
  if (!isHoster && !isRented(hosting)) return undefined
  if (relayed || verified || network.cdn || network.corporate || network.anycast) return undefined
  return evidence.find(({ voice }) => voice.id === 'inferred-vpn')
}

/** The hand-kept table names the range itself. */
const isRented = ({ pieces }: PlainKind): boolean =>
  pieces.some(({ evidence: { voice, match } }) => voice.id === 'table-hosting' && match !== 'as')

/** Of the lists and the inference the stronger. */
function orInferred(listed: PlainKind, inferred: Evidence, asOf: Day): PlainKind {
  if (listed.strength >= 0.5) return listed
  const by = { ...listed, strength: 0.5, points: 30, present: true }
  if (listed.present) return by
  const piece: PlainPiece = {
    evidence: inferred,
    kind: 'vpn',
    near: 1,
    age: Math.max(0, asOf - inferred.lastSeen),
  }
  const pieces = [...listed.pieces, piece]
  const age = Math.min(...pieces.map((one) => one.age))
  return { ...by, pieces, age, inferred: true, confidence: 'low', percent: percentOf(pieces) }
}

function pieceOf(evidence: Evidence, network: Network | undefined, asOf: Day): PlainPiece[] {
  const { voice, match } = evidence
  if (match === 'near') return []
  const atHome = network?.access === true
  const kind = evidence.kind === 'residential_proxy' && !atHome ? ('proxy' as const) : evidence.kind
  if (voice.weight === 0) return []
  if (match === 'as' && kind !== 'hosting') return []
  if (kind === 'bot' && evidence.category === undefined) return []
  if (voice.asns.length > 0 && !voice.asns.some((asn) => asn === network?.asn)) return []
  if (kind === 'hosting' && voice.assurance === 'weak' && atHome) return []
  const age = Math.max(0, asOf - evidence.lastSeen)
  const place = isSharedNetwork(network) ? 1 : atHome ? 0 : 2
  const { lines, shared, elsewhere } = voice.halfLives ?? {}
  const halfLife = halfLives[kind] && ([lines, shared, elsewhere][place] ?? halfLives[kind][place])
  if (halfLife !== undefined && age > (halfLife > 90 ? halfLife * 3 : 90)) return []
  const torDays = age > 3 ? 3 + (age - 3) / 9 : age
  const trace = kind === 'tor' ? Math.pow(0.5, torDays) : undefined
  const fresh = trace ?? (halfLife === undefined ? 1 : Math.pow(0.5, age / halfLife))
  const stated = ['hosting', 'bot', 'relay'].includes(kind) && voice.assurance === 'direct'
  const direct = match === 'exact' || (match === 'range' && stated) ? 1 : match === 'as' ? 0.5 : 0.9
  const exempt = kind === 'bot' || kind === 'relay' || match !== 'range'
  const near = fresh * direct * (isSharedNetwork(network) && !exempt ? 0.4 : 1)
  const isWide = kind === 'residential_proxy' && match === 'range'
  return [{ evidence, kind, near: isWide ? Math.min(near, 0.24 / voice.weight) : near, age }]
}

/** The bot that its operator's own list names; of several the first crawler. */
function botName(pieces: readonly PlainPiece[]): string {
  const crawlers = pieces.filter(({ evidence }) => evidence.category === 'search_crawler')
  const named = (crawlers.length > 0 ? crawlers : pieces).filter(
    ({ evidence }) => evidence.provider !== '',
  )
  const best = Math.max(...named.map(worth))
  return (
    named
      .filter((piece) => worth(piece) === best)
      .map(({ evidence }) => evidence.provider)
      .sort()[0] ?? ''
  )
}

/** Hosting by whoever operates the bot (rule 8). */
function isOwned({ evidence }: PlainPiece, bot: string, network: Network | undefined): boolean {
  // A resolver is nobody's cloud.
  if (network?.anycast === true) return true
  const owner = /^(google|apple|amazon|yandex|baidu|microsoft)/.exec(
    bot.toLowerCase().replace('bingbot', 'microsoft'),
  )?.[1]
  if (owner === undefined) return false
  return [evidence.provider, network?.organization ?? ''].some((name) =>
    name.toLowerCase().startsWith(owner),
  )
}

/** Rule 4: neighbours fill up to 5, 8 and 8 points, where they say anything. */
function nearPoints(
  own: {
    readonly kinds: PlainVerdict['kinds']
    readonly blocklistPoints: number
    readonly relayed: boolean
  },
  near: readonly Evidence[],
  network: Network | undefined,
  asOf: Day,
): readonly number[] {
  const { vpn, proxy, residential_proxy: home } = own.kinds
  const has = (kind: Kind): boolean =>
    near.some(
      ({ kind: own, voice, lastSeen }) =>
        own === kind &&
        voice.weight > 0 &&
        (kind === 'vpn' || asOf - lastSeen <= 60) &&
        (voice.asns.length === 0 || voice.asns.some((asn) => asn === network?.asn)),
    )
  const hosted = network?.type === 'hosting' && !own.relayed
  const lived = network?.access === true && !isSharedNetwork(network) && !own.relayed
  return [
    has('vpn') && hosted ? 5 - vpn.points : 0,
    has('proxy') && lived ? 8 - Math.max(proxy.points, home.points) : 0,
    has('blocklist') && !isSharedNetwork(network) ? 8 - own.blocklistPoints : 0,
  ].map((points) => Math.max(0, points))
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
  const hosting = hostingOf(own, listed, network)
  const { inferred, strength: full, pieces } = hosting
  const percent = percentOf(pieces)
  const moves = kind === 'residential_proxy' || (kind === 'proxy' && network?.access === true)
  const tested = pieces.filter(
    ({ evidence }) => evidence.kind === 'proxy' && evidence.voice.assurance === 'direct',
  )
  const sure = kind === 'proxy' ? strength(tested) : 0
  const steady = moves ? Math.max(sure, sixDecimals(full * (0.5 + 0.5 * (percent / 100)))) : full
  return {
    pieces,
    strength: steady,
    present: steady >= 0.25,
    points: Math.round(anchors[kind] * steady),
    inferred,
    voices: isSharedNetwork(network) ? 1 : hosting.voices,
    confidence: inferred ? 'low' : confidenceOf(pieces),
    age: Math.min(...pieces.map(({ age }) => age)),
    percent,
  }
}

interface PlainHosting {
  readonly strength: number
  readonly pieces: readonly PlainPiece[]
  readonly inferred: boolean
  readonly voices: number
}

/** Rule 5; of other kinds, and where nothing speaks of the network, what lists say. */
function hostingOf(
  own: readonly PlainPiece[],
  listed: readonly PlainPiece[],
  network: Network | undefined,
): PlainHosting {
  const guesses = own.filter(({ evidence }) => evidence.match === 'as')
  const byLists = {
    strength: strength(listed),
    pieces: listed,
    inferred: false,
    voices: heard(own),
  }
  if (guesses.length === 0) return byLists
  if (isSharedNetwork(network)) {
    const inference = inferenceOf(guesses)
    const guessed = sixDecimals(Math.min(0.5, strength(inference)) * 0.4)
    return guessed > byLists.strength
      ? { strength: guessed, pieces: inference, inferred: true, voices: 1 }
      : byLists
  }
  if (inferenceOf(own).length > 0) {
    const inferred = byLists.strength < 0.25
    const sum = Math.max(0.625, strength(own))
    return { ...byLists, strength: sum, pieces: inferred ? own : listed, inferred }
  }
  const halved = own.map((one) => (guesses.includes(one) ? { ...one, near: one.near / 2 } : one))
  const lone = Math.max(byLists.strength, Math.min(0.24, strength(halved)))
  return { ...byLists, strength: lone, pieces: listed.some(hasWorth) ? listed : own }
}

const hasWorth = (piece: PlainPiece): boolean => sixDecimals(worth(piece)) > 0
const heard = (pieces: readonly PlainPiece[]): number =>
  groups(pieces.filter((piece) => worth(piece) >= 0.1)).length

/** Rule 5: something of the network, with the hand-kept table or two independent voices. */
function inferenceOf(pieces: readonly PlainPiece[]): readonly PlainPiece[] {
  const isTable = ({ evidence }: PlainPiece): boolean =>
    evidence.match === 'as' && evidence.voice.id === 'table-hosting'
  const anyTable = pieces.some(({ evidence }) => evidence.voice.id === 'table-hosting')
  return pieces.some(isTable) || anyTable || heard(pieces) >= 2 ? pieces : []
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
  if (isOwnExit(kinds.vpn)) return 'vpn'
  if (isMixed(kinds)) return 'mixed'
  if (kinds.residential_proxy.present) return 'residential_proxy'
  const isInferred = kinds.vpn.pieces.some(({ evidence }) => evidence.voice.id === 'inferred-vpn')
  if (kinds.vpn.present && !isInferred) return 'vpn'
  if (kinds.proxy.present) return 'proxy'
  if (kinds.bot.present) return 'known_bot'
  if (kinds.vpn.present) return 'vpn'
  return kinds.hosting.present ? 'hosting' : 'clean'
}

/** Contract 3.7: an operator's own list names the very address. */
export function isOwnExit({ present, pieces }: PlainKind): boolean {
  return (
    present &&
    pieces.some(
      (piece) =>
        piece.evidence.match === 'exact' &&
        piece.evidence.voice.assurance === 'direct' &&
        piece.evidence.provider !== '' &&
        worth(piece) >= 0.1,
    )
  )
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
  const { kinds, lists, listsOfBot, classification } = found
  const points = [...Object.values(kinds).map((kind) => kind.points), ...found.around]
  const top = Math.max(...points)
  const others = points.reduce((sum, one) => sum + one, 0) - top
  const explained = (kinds.tor.present || kinds.proxy.present) && lists < 3
  let score = top + Math.min(10, others) + (explained ? 0 : found.blocklistPoints)
  if (network === undefined) score = Math.max(15, score)
  if (kinds.hosting.present && kinds.hosting.voices >= 3) score = Math.max(40, score)
  if (found.isInferred) score = Math.max(50, score)
  if (classification === 'mixed' || isAgreed(kinds)) score = Math.max(80, score)
  const seen = [kinds.vpn, kinds.proxy, kinds.residential_proxy].some(({ present }) => present)
  const isExit =
    kinds.tor.present && kinds.tor.pieces.some(({ evidence }) => evidence.match === 'exact')
  if (classification === 'known_bot' && listsOfBot < 3) score = Math.min(10, score)
  if (kinds.relay.present && !seen && !isExit) score = Math.min(20, score)
  if (network?.corporate === true) score = Math.min(30, score)
  if (isConsumer(found)) score = Math.min(49, score)
  if (isLoneRange(found, network)) score = Math.min(49, score)
  if (classification === 'clean') score = Math.min(49, score)
  if (isSharedNetwork(network) && !kinds.tor.present) score = Math.min(74, score)
  return Math.min(100, score)
}

/** Rule 13: one list's range, of people's own lines or a carrier's, and nothing else. */
function isLoneRange({ kinds, lists }: Found, network: Network | undefined): boolean {
  const heard = [kinds.tor, kinds.vpn, kinds.proxy, kinds.residential_proxy]
    .flatMap(({ pieces }) => pieces)
    .filter((piece) => worth(piece) >= 0.1)
  return (
    (network?.access === true || network?.type === 'isp') &&
    !isRented(kinds.hosting) &&
    lists === 0 &&
    groups(heard).length === 1 &&
    heard.every(({ evidence: { match, voice } }) => match === 'range' && isThirdPartys(voice))
  )
}

const isThirdPartys = ({ id, assurance }: Evidence['voice']): boolean =>
  assurance !== 'direct' && !id.startsWith('table-')

/** A VPN of ordinary people, and nothing that speaks against it. */
function isConsumer({ kinds, lists }: Found): boolean {
  const accused = [kinds.tor, kinds.proxy, kinds.residential_proxy].some(({ present }) => present)
  const used = kinds.vpn.pieces.some(
    (piece) =>
      (piece.evidence.voice.consumer === true || piece.evidence.provider === 'Cloudflare WARP') &&
      worth(piece) >= 0.1,
  )
  return kinds.vpn.present && used && !accused && lists < 3
}
