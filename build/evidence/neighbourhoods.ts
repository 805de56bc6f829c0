// What surrounds an address: ranges with so many listed addresses that their neighbours get a few
// points or count as VPN servers (rule 4). Found from the statements of all feeds, and stated by
// feeds of their own with the match `near`, which lists nothing.
//
//   vpn         the /24 (IPv6: /48) of a server of an operator's own list; one statement an operator
//   inferred    the same with two servers or more, of whichever operators; and the part of a /22
//               that a network announces which has a server in it, servers of three operators or
//               more in all, and one in a thousand of its addresses
//   proxy       the /24 of two proxies or more that their publishers tested
//   blocklist   a /24 with ten times as many blocklisted addresses as the mean of such /24s in
//               networks of the same type

import { addTo } from '../../src/base/counts.ts'
import type { Day } from '../../src/base/day.ts'
import type { Family } from '../../src/ip/address.ts'
import { bigintToWords } from '../../src/ip/range.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import type { NetworkType } from '../../src/model/kind.ts'
import type { Network } from '../../src/model/network.ts'
import { decayOf } from '../../src/score/weight/decay.ts'
import { presentStrengthMin } from '../../src/score/weight/strength.ts'
import { listedShare, nearDaysMax } from '../../src/score/weight/weigh-evidence.ts'
import type { Feed } from '../catalogue/feed.ts'
import type { Observation } from '../layer/flatten-evidence.ts'
import { type Layer, pieceOf, valueAt } from '../layer/layer.ts'
import type { Networks } from '../networks/read-networks.ts'
import { neighbourFeeds } from './builtin-feeds.ts'
import { type EvidenceBook, seenOnDay } from './evidence-book.ts'
import { voiceOf } from './normalise.ts'

/** Listed addresses that say something about their neighbours. */
const neighboursMin = 2
/** VPN operators that must rent in a network before its other addresses are inferred, */
const operatorsMin = 3
/** and the most addresses that it may have per server. */
const addressesPerServer = 1000
const timesPeers = 10

interface NeighbourhoodContext {
  readonly asOf: Day
  readonly book: EvidenceBook
  readonly observations: Readonly<Record<Family, Observation[]>>
  readonly sourceIds: readonly string[]
  readonly networks: Pick<Networks, 'networks' | 'layers'>
}

/** The newest day of several listed addresses, and the lowest share of days. */
type Seen = Pick<Evidence, 'lastSeen' | 'daysListed' | 'daysObserved'>

interface Found {
  readonly addresses: Set<number>
  seen: Seen
}

/** Keyed by prefix: the first 24 bits of an IPv4 address, 48 of IPv6. */
type Prefixes = Map<number, Found>

interface Servers {
  readonly byOperator: Map<string, Prefixes>
  readonly all: Prefixes
}

/** An IPv4 network of a hoster, with what VPN operators rent there. */
interface Landlord {
  readonly operators: Set<string>
  readonly servers: Set<number>
  /** Keyed by /22. */
  readonly blocks: Map<number, Seen>
}

interface FoundRange {
  readonly first: bigint
  readonly last: bigint
  readonly seen: Seen
}

export function addNeighbourhoods(context: NeighbourhoodContext): void {
  const landlords = new Map<number, Landlord>()
  for (const family of [4, 6] as const) {
    const servers: Servers = { byOperator: new Map(), all: new Map() }
    const proxies: Prefixes = new Map()
    const blocked: Prefixes = new Map()
    for (const { first, last, evidence: id } of context.observations[family]) {
      // An IPv6 /64 is one customer's and counts as an address.
      if (family === 4 ? first !== last : first >> 64n !== last >> 64n) continue
      const { evidence } = context.book.at(id)
      const { kind, voice, lastSeen } = evidence
      if (voice.weight === 0) continue
      if (isServer(evidence, context.asOf)) {
        noteServer({ family, first, evidence }, { context, servers, landlords })
      }
      if (family === 6 || context.asOf - lastSeen > nearDaysMax) continue
      const isTested = kind === 'proxy' && voice.assurance === 'direct'
      const prefixes = kind === 'blocklist' ? blocked : isTested ? proxies : undefined
      if (prefixes !== undefined) note(prefixes, siteOf(family, first), evidence)
    }
    const add = (feed: Feed, ranges: readonly FoundRange[], provider = ''): void =>
      addStatements(context, { family, feed, ranges, provider })
    for (const provider of [...servers.byOperator.keys()].sort()) {
      add(neighbourFeeds.vpn, rangesOf(family, servers.byOperator.get(provider)!), provider)
    }
    const among = several(servers.all)
    add(neighbourFeeds.inferred, rangesOf(family, among))
    add(neighbourFeeds.proxy, rangesOf(family, several(proxies)))
    if (family === 6) continue
    add(neighbourFeeds.inferred, rentedRanges(landlords, among, context.networks))
    const dense = muchMoreThanPeers(blocked, context.networks)
    add(neighbourFeeds.blocklist, rangesOf(family, dense))
  }
}

/** Named by its operator, and recent enough for the VPN signal. */
function isServer({ kind, voice, provider, lastSeen }: Evidence, asOf: Day): boolean {
  if (kind !== 'vpn' || voice.assurance !== 'direct') return false
  if (provider === '' || voice.consumer === true) return false
  const at = { turnover: 'elsewhere', measured: voice.halfLives } as const
  return voice.weight * decayOf(kind, asOf - lastSeen, at) >= presentStrengthMin
}

const words = new Uint32Array(4)

function noteServer(
  of: { readonly family: Family; readonly first: bigint; readonly evidence: Evidence },
  into: {
    readonly context: NeighbourhoodContext
    readonly servers: Servers
    readonly landlords: Map<number, Landlord>
  },
): void {
  const { family, first } = of
  const { provider } = of.evidence
  const { networks, layers } = into.context.networks
  bigintToWords(family, first, words)
  const id = valueAt(layers[family], words)
  const network: Network | undefined = networks[id - 1]
  if (network?.cdn === true || network?.corporate === true) return
  const site = siteOf(family, first)
  const { byOperator, all } = into.servers
  const own = byOperator.get(provider) ?? new Map<number, Found>()
  byOperator.set(provider, own)
  note(own, site, of.evidence)
  note(all, site, of.evidence)
  if (family === 6 || network?.type !== 'hosting') return
  const none = { operators: new Set<string>(), servers: new Set<number>(), blocks: new Map() }
  const landlord: Landlord = into.landlords.get(id) ?? none
  into.landlords.set(id, landlord)
  landlord.operators.add(provider)
  landlord.servers.add(Number(first))
  const block = site.prefix >>> 2
  landlord.blocks.set(block, seenTogether(landlord.blocks.get(block), of.evidence))
}

type Site = ReturnType<typeof siteOf>

/** An address (IPv6: a /64) within its prefix. */
function siteOf(family: Family, first: bigint) {
  if (family === 4) return { prefix: Number(first >> 8n), address: Number(first & 0xffn) }
  return { prefix: Number(first >> 80n), address: Number((first >> 64n) & 0xffffn) }
}

function note(prefixes: Prefixes, { prefix, address }: Site, evidence: Evidence): void {
  const found = prefixes.get(prefix)
  const seen = seenTogether(found?.seen, evidence)
  if (found === undefined) prefixes.set(prefix, { addresses: new Set([address]), seen })
  else {
    found.addresses.add(address)
    found.seen = seen
  }
}

/** A rolling window states no share: its days do not count as listed. */
function seenTogether(seen: Seen | undefined, evidence: Evidence): Seen {
  const { voice, lastSeen, daysObserved } = evidence
  const own = { lastSeen, daysObserved, daysListed: voice.rolling ? 0 : evidence.daysListed }
  if (seen === undefined) return own
  const lower = listedShare(own) < listedShare(seen) ? own : seen
  return { ...lower, lastSeen: lastSeen > seen.lastSeen ? lastSeen : seen.lastSeen }
}

const several = (prefixes: Prefixes): Prefixes =>
  new Map([...prefixes].filter(([, { addresses }]) => addresses.size >= neighboursMin))

function rangesOf(family: Family, prefixes: Prefixes): FoundRange[] {
  const bits = family === 4 ? 8n : 80n
  return [...prefixes].map(([prefix, { seen }]) => {
    const first = BigInt(prefix) << bits
    return { first, last: first + (1n << bits) - 1n, seen }
  })
}

/** Parts of /22s with a server in networks that many operators rent in, except `known` /24s. */
function rentedRanges(
  landlords: ReadonlyMap<number, Landlord>,
  known: Prefixes,
  { layers }: NeighbourhoodContext['networks'],
): FoundRange[] {
  const layer = layers[4]
  const sizes = sizesOf(layer)
  const ranges: FoundRange[] = []
  for (const [id, { operators, servers, blocks }] of landlords) {
    if (operators.size < operatorsMin) continue
    if (servers.size * addressesPerServer < sizes.get(id)!) continue
    for (const [block, seen] of blocks) {
      for (let prefix = block * 4; prefix < block * 4 + 4; prefix++) {
        if (known.has(prefix)) continue
        for (const part of partsOf(layer, id, prefix)) ranges.push({ ...part, seen })
      }
    }
  }
  return ranges
}

function sizesOf({ count, starts, values }: Layer): ReadonlyMap<number, number> {
  const sizes = new Map<number, number>()
  for (let piece = 0; piece < count; piece++) {
    const end = piece + 1 < count ? starts[piece + 1]! : 2 ** 32
    addTo(sizes, values[piece]!, end - starts[piece]!)
  }
  return sizes
}

function* partsOf(layer: Layer, id: number, prefix: number) {
  const { starts, values, count } = layer
  const [from, end] = [prefix * 256, prefix * 256 + 256]
  words[0] = from
  for (let piece = pieceOf(layer, words); piece < count && starts[piece]! < end; piece++) {
    if (values[piece] !== id) continue
    const next = piece + 1 < count ? starts[piece + 1]! : 2 ** 32
    const first = BigInt(Math.max(from, starts[piece]!))
    yield { first, last: BigInt(Math.min(end, next) - 1) }
  }
}

/** Peers are blocklisted /24s in networks of the same type. */
function muchMoreThanPeers(
  blocked: Prefixes,
  { networks, layers }: NeighbourhoodContext['networks'],
): Prefixes {
  const sums = new Map<NetworkType, { addresses: number; prefixes: number }>()
  const types = new Map<number, NetworkType>()
  for (const [prefix, { addresses }] of blocked) {
    words[0] = prefix * 256
    const type = networks[valueAt(layers[4], words) - 1]?.type ?? 'unknown'
    types.set(prefix, type)
    const sum = sums.get(type) ?? { addresses: 0, prefixes: 0 }
    sums.set(type, sum)
    sum.addresses += addresses.size
    sum.prefixes++
  }
  return new Map(
    [...blocked].filter(([prefix, { addresses }]) => {
      const peers = sums.get(types.get(prefix) ?? 'unknown')
      return (
        peers !== undefined && addresses.size >= (timesPeers * peers.addresses) / peers.prefixes
      )
    }),
  )
}

function addStatements(
  context: NeighbourhoodContext,
  of: {
    readonly family: Family
    readonly feed: Feed
    readonly ranges: readonly FoundRange[]
    readonly provider: string
  },
): void {
  const { family, feed, provider } = of
  const { kind } = feed
  const source = context.sourceIds.indexOf(feed.id)
  if (source < 0 || kind === 'network') return
  const voice = voiceOf(feed)
  const tellsShare = feed === neighbourFeeds.inferred
  for (const { first, last, seen } of of.ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const range = { family, first, last }
    const onDay = seenOnDay({ voice, kind, match: 'near', provider }, seen.lastSeen)
    const evidence = tellsShare ? { ...onDay, ...seen } : onDay
    context.observations[family].push({
      first,
      last,
      evidence: context.book.id({ source, evidence, range }),
    })
  }
}
