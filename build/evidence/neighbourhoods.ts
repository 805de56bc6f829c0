// What is listed beside an address: IPv4 /24s with so much of a kind inside that its neighbours may
// have a few points as a reason (rule 4; src/score/points/neighbourhood-points.ts says where, and
// how many). Found from the statements of all feeds, as statements of feeds of their own, with the
// match `near`: they list nothing.
//
//   vpn         two servers or more of one operator's own list; one statement an operator
//   proxy       two proxies or more that their publishers tested
//   blocklist   ten times as many blocklisted addresses as the mean of such /24s in networks of the
//               same type
//
// IPv6 has none: customers there have /64s, and a /64's neighbours say nothing.

import type { Day } from '../../src/base/day.ts'
import { memoise } from '../../src/base/memoise.ts'
import type { NetworkType } from '../../src/model/kind.ts'
import { nearDaysMax } from '../../src/score/weight/weigh-evidence.ts'
import type { Feed } from '../catalogue/feed.ts'
import type { Observation } from '../layer/flatten-evidence.ts'
import { type NearKind, neighbourFeeds } from './builtin-feeds.ts'
import { type EvidenceBook, seenOnDay } from './evidence-book.ts'
import { voiceOf } from './normalise.ts'

const addressesMin = 2
const timesPeers = 10

export interface NeighbourhoodContext {
  readonly asOf: Day
  readonly book: EvidenceBook
  /** Of IPv4; what is found is added. */
  readonly observations: Observation[]
  /** Ids of the table's sources, by index. */
  readonly sourceIds: readonly string[]
  /** Type of the network that announces the address. */
  readonly typeOf: (ipv4: number) => NetworkType
}

/** The addresses that are listed in one /24, and the newest day on which one was. */
interface Found {
  readonly addresses: Set<number>
  newest: Day
}

/** By /24, its first 24 bits. */
type Prefixes = Map<number, Found>

export function addNeighbourhoods(context: NeighbourhoodContext): void {
  const operators = new Map<string, Prefixes>()
  const proxies: Prefixes = new Map()
  const blocked: Prefixes = new Map()
  for (const { first, last, evidence: id } of context.observations) {
    if (first !== last) continue
    const { evidence } = context.book.at(id)
    const { kind, voice, provider, lastSeen } = evidence
    if (context.asOf - lastSeen > nearDaysMax || voice.weight === 0) continue
    const address = Number(first)
    if (kind === 'blocklist') note(blocked, address, lastSeen)
    else if (voice.assurance !== 'direct') continue
    else if (kind === 'proxy') note(proxies, address, lastSeen)
    else if (kind === 'vpn' && provider !== '' && voice.consumer !== true) {
      const own = operators.get(provider) ?? new Map<number, Found>()
      operators.set(provider, own)
      note(own, address, lastSeen)
    }
  }
  for (const provider of [...operators.keys()].sort()) {
    addStatements(context, { kind: 'vpn', provider, prefixes: several(operators.get(provider)!) })
  }
  addStatements(context, { kind: 'proxy', provider: '', prefixes: several(proxies) })
  const dense = muchMoreThanPeers(blocked, context.typeOf)
  addStatements(context, { kind: 'blocklist', provider: '', prefixes: dense })
}

function note(prefixes: Prefixes, address: number, day: Day): void {
  const prefix = Math.floor(address / 256)
  const found = prefixes.get(prefix)
  if (found === undefined) prefixes.set(prefix, { addresses: new Set([address]), newest: day })
  else {
    found.addresses.add(address)
    if (day > found.newest) found.newest = day
  }
}

function several(prefixes: Prefixes): Prefixes {
  return new Map([...prefixes].filter(([, { addresses }]) => addresses.size >= addressesMin))
}

/** Peers are the /24s of networks of the same type in which anything is blocklisted. */
function muchMoreThanPeers(blocked: Prefixes, typeOf: NeighbourhoodContext['typeOf']): Prefixes {
  const sums = new Map<NetworkType, { addresses: number; prefixes: number }>()
  const types = new Map<number, NetworkType>()
  for (const [prefix, { addresses }] of blocked) {
    const type = typeOf(prefix * 256)
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
  of: { readonly kind: NearKind; readonly provider: string; readonly prefixes: Prefixes },
): void {
  const feed: Feed = neighbourFeeds[of.kind]
  const source = context.sourceIds.indexOf(feed.id)
  if (source < 0) return
  const voice = voiceOf(feed)
  const evidenceOf = memoise((day: Day) =>
    seenOnDay({ voice, kind: of.kind, match: 'near', provider: of.provider }, day),
  )
  for (const prefix of [...of.prefixes.keys()].sort((a, b) => a - b)) {
    const evidence = evidenceOf(of.prefixes.get(prefix)!.newest)
    const first = BigInt(prefix) << 8n
    const last = first | 0xffn
    const id = context.book.id({ source, evidence, range: { family: 4, first, last } })
    context.observations.push({ first, last, evidence: id })
  }
}
