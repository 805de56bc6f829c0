// What stands around listed addresses, counted from the claims in the plainest way (rule 4;
// MODEL.md, section 3a). Which lists are VPN operators' own, whose, and how fast they fade is read
// from data/feeds as text. What a network is, and what it announces, is asked of the table under
// test: that is a judgement.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'
import type { Network } from '../../src/model/network.ts'
import type { Point, Span } from './address.ts'
import { dayNumber, statedDay } from './days.ts'
import type { Claim } from './evidence.ts'
import { type Announced, statement } from './table.ts'
import { bogonsOf } from './world.ts'

/** The day of the world tables. */
const today = dayNumber('2026-08-22')

/** A server that a VPN operator itself lists; of IPv6 the first address of its /64. */
interface Server {
  readonly point: Point
  readonly operator: string
}

export type Claims = ReadonlyMap<string, readonly Claim[]>

/** What the table under test says of networks. */
export interface Networks {
  readonly networkAt: (point: Point) => Network | undefined
  readonly announced: () => readonly Announced[]
}

/** By feed: `neighbours-vpn`, `inferred-vpn`, `neighbours-proxy`, `neighbours-blocklist`. */
export function neighbourClaims(claims: Claims, networks: Networks): Claims {
  const servers = serversOf(claims, networks)
  const pairs = sitesWithSeveral(servers.map(({ point }) => point))
  const inferred = [...spansOf(pairs), ...rented(servers, pairs, networks)]
  const tested = listsOf('proxy').filter(({ assurance }) => assurance === 'direct')
  const proxies = sitesWithSeveral(ipv4In(claims, tested))
  const dense = denseSites(ipv4In(claims, listsOf('blocklist')), networks)
  return new Map([
    ['neighbours-vpn', serverSites(servers)],
    ['inferred-vpn', near({ feed: 'inferred-vpn', kind: 'vpn' }, inferred)],
    ['neighbours-proxy', near({ feed: 'neighbours-proxy', kind: 'proxy' }, spansOf(proxies))],
    [
      'neighbours-blocklist',
      near({ feed: 'neighbours-blocklist', kind: 'blocklist' }, spansOf(dense)),
    ],
  ])
}

/** One list of the catalogue, as its file has it. */
interface List {
  readonly id: string
  readonly kind: string
  readonly assurance: string
  readonly weight: number
  readonly provider?: string
  readonly consumer_vpn?: boolean
  readonly half_life_days?: { readonly elsewhere?: number }
}

function listsOf(kind: string): readonly List[] {
  const folder = join(packageRoot, 'data', 'feeds')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as List)
    .filter((list) => list.kind === kind && list.weight > 0)
}

/** Half-life of a VPN list where none was measured, and the strength that makes the signal. */
const halfLifeDays = 30
const signalMin = 0.25

/** Single addresses of operators' own lists that make the signal; none in CDNs or at companies. */
function serversOf(claims: Claims, { networkAt }: Networks): readonly Server[] {
  return listsOf('vpn').flatMap(({ id, assurance, weight, provider, ...list }) => {
    if (assurance !== 'direct' || !provider || list.consumer_vpn === true) return []
    const age = today - (statedDay(id) ?? today)
    const halfLife = list.half_life_days?.elsewhere ?? halfLifeDays
    if (weight * 2 ** (-age / halfLife) < signalMin) return []
    return addressesOf(claims, [id])
      .filter((point) => {
        const network = networkAt(point)
        return network?.cdn !== true && network?.corporate !== true
      })
      .map((point) => ({ point: hostOf(point), operator: provider }))
  })
}

/** Single addresses of these lists (IPv6: what lies in one /64) that are no bogons. */
function addressesOf(claims: Claims, ids: readonly string[]): readonly Point[] {
  const listed = ids
    .flatMap((id) => claims.get(id) ?? [])
    .filter(({ first, last }) => hostOf(first) === hostOf(last))
    .map(({ first }) => first)
  return [
    ...notBogons(listed.filter(isIpv4), 4),
    ...notBogons(
      listed.filter((one) => !isIpv4(one)),
      6,
    ),
  ]
}

function ipv4In(claims: Claims, lists: readonly List[]): readonly number[] {
  return addressesOf(
    claims,
    lists.map(({ id }) => id),
  ).filter(isIpv4)
}

function notBogons(points: readonly Point[], family: 4 | 6): readonly Point[] {
  const sorted = [...points].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const bogons = bogonsOf(sorted, family)
  return sorted.filter((_, at) => bogons[at] === 0)
}

const isIpv4 = (point: Point): point is number => typeof point === 'number'

/** An IPv6 /64 is one customer's, and counts as an address. */
function hostOf(point: Point): Point {
  return isIpv4(point) ? point : (point >> 64n) << 64n
}

/** First address of the /24, IPv6 /48. */
function siteOf(point: Point): Point {
  return isIpv4(point) ? point - (point % 256) : (point >> 80n) << 80n
}

function spansOf(sites: Iterable<Point>): readonly Span[] {
  return Array.from(sites, (site) => ({
    first: site,
    last: isIpv4(site) ? site + 255 : site + (1n << 80n) - 1n,
  }))
}

/** Sites with two or more of these, each counted once. */
function sitesWithSeveral(points: readonly Point[]): ReadonlySet<Point> {
  const sites = [...new Set(points)].map(siteOf)
  const seen = new Set<Point>()
  return new Set(sites.filter((site) => seen.has(site) || !seen.add(site)))
}

/** One statement for each operator with a server there. */
function serverSites(servers: readonly Server[]): readonly Claim[] {
  const operators = [...new Set(servers.map(({ operator }) => operator))]
  return operators.flatMap((operator) => {
    const own = servers.filter((one) => one.operator === operator)
    const sites = new Set(own.map(({ point }) => siteOf(point)))
    return near({ feed: 'neighbours-vpn', kind: 'vpn', provider: operator }, spansOf(sites))
  })
}

/**
 * In hosters' networks with three operators or more and a server in a thousand of their IPv4
 * addresses: what they announce of each /22 with a server, but for /24s with two servers.
 */
function rented(servers: readonly Server[], pairs: ReadonlySet<Point>, networks: Networks): Span[] {
  const byNetwork = new Map<Network, Server[]>()
  for (const server of servers) {
    const network = isIpv4(server.point) ? networks.networkAt(server.point) : undefined
    if (network?.type !== 'hosting') continue
    byNetwork.set(network, [...(byNetwork.get(network) ?? []), server])
  }
  const space = networks
    .announced()
    .flatMap(({ network, first, last }) =>
      network !== undefined && byNetwork.has(network) ? { network, first, last } : [],
    )
  const sizes = new Map<Network, number>()
  for (const { network, first, last } of space) {
    sizes.set(network, (sizes.get(network) ?? 0) + last - first + 1)
  }
  const blocks = new Map<Network, Set<number>>()
  for (const [network, own] of byNetwork) {
    if (new Set(own.map(({ operator }) => operator)).size < 3) continue
    const points = [...new Set(own.map(({ point }) => Number(point)))]
    if (points.length / sizes.get(network)! < 1 / 1000) continue
    blocks.set(network, new Set(points.map((point) => Math.floor(point / 1024))))
  }
  return space.flatMap(({ network, first, last }) => {
    const parts: Span[] = []
    for (let from = first; from <= last; from = (siteOf(from) as number) + 256) {
      if (pairs.has(siteOf(from)) || !blocks.get(network)?.has(Math.floor(from / 1024))) continue
      parts.push({ first: from, last: Math.min(last, (siteOf(from) as number) + 255) })
    }
    return parts
  })
}

/** /24s with ten times as many addresses as the mean of those in networks of the same type. */
function denseSites(addresses: readonly Point[], { networkAt }: Networks): readonly Point[] {
  const counts = new Map<Point, number>()
  for (const point of new Set(addresses)) {
    counts.set(siteOf(point), (counts.get(siteOf(point)) ?? 0) + 1)
  }
  const sites = [...counts].map(([site, count]) => ({
    site,
    count,
    type: networkAt(site)?.type ?? 'unknown',
  }))
  const means = new Map<string, number>()
  for (const type of new Set(sites.map((one) => one.type))) {
    const peers = sites.filter((one) => one.type === type)
    means.set(type, peers.reduce((sum, { count }) => sum + count, 0) / peers.length)
  }
  return sites.filter(({ count, type }) => count >= 10 * means.get(type)!).map(({ site }) => site)
}

function near(
  of: { readonly feed: string; readonly kind: string; readonly provider?: string },
  spans: readonly Span[],
): readonly Claim[] {
  const said = statement({ provider: '', ...of, match: 'near', lists: 1 })
  return spans.map((span) => ({ ...span, said }))
}
