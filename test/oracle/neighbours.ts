// What stands beside listed addresses, counted from the claims in the plainest way (MODEL.md,
// section 3a): IPv4 /24s with two servers of one VPN operator, two tested proxies, or ten times as
// many blocklisted addresses as the mean of those in networks of the same type. The type of a
// network is asked of the table under test: that is a judgement.

import type { Point } from './address.ts'
import { dayNumber, statedDay } from './days.ts'
import type { Claim } from './evidence.ts'
import { statement } from './table.ts'
import { bogonsOf } from './world.ts'

const operators = ['vpn-mullvad', 'vpn-pia', 'vpn-protonvpn', 'vpn-tunnelbear', 'vpn-windscribe']

/** The day of the world tables, and how old a server may be that says something of its /24. */
const today = dayNumber('2026-08-22')
const nearDaysMax = 60

const isCurrent = (id: string): boolean => today - (statedDay(id) ?? today) <= nearDaysMax
const testedProxies = ['proxy-iplocate', 'proxy-monosans', 'proxy-proxmint']
const blocklists = ['block-ddrimus', 'block-ipsum', 'block-threatfox']

type Claims = ReadonlyMap<string, readonly Claim[]>

/** By feed: `neighbours-vpn`, `neighbours-proxy`, `neighbours-blocklist`. */
export function neighbourClaims(claims: Claims, typeAt: (point: Point) => string): Claims {
  const named = [...claims.keys()].filter((id) => id.startsWith('vpn-gluetun-'))
  const current = [...operators, ...named].filter(isCurrent)
  const servers = current.flatMap((id) => [...severalIn(prefixesOf(claims, [id]))])
  const proxies = severalIn(prefixesOf(claims, testedProxies))
  const blocked = [...prefixesOf(claims, blocklists)].map(([prefix, addresses]) => ({
    prefix,
    count: addresses.size,
    type: typeAt(prefix * 256),
  }))
  const means = new Map<string, number>()
  for (const type of new Set(blocked.map((one) => one.type))) {
    const peers = blocked.filter((one) => one.type === type)
    means.set(type, peers.reduce((sum, { count }) => sum + count, 0) / peers.length)
  }
  const dense = blocked.filter(({ count, type }) => count >= 10 * means.get(type)!)
  return new Map([
    ['neighbours-vpn', claimsIn('vpn', new Set(servers))],
    ['neighbours-proxy', claimsIn('proxy', new Set(proxies))],
    ['neighbours-blocklist', claimsIn('blocklist', new Set(dense.map(({ prefix }) => prefix)))],
  ])
}

/** The single IPv4 addresses that the feeds list, by /24; what is said of bogons is not kept. */
function prefixesOf(claims: Claims, feeds: readonly string[]): Map<number, Set<number>> {
  const listed = feeds
    .flatMap((id) => claims.get(id) ?? [])
    .flatMap(({ first, last }) => (typeof first === 'number' && first === last ? [first] : []))
    .toSorted((a, b) => a - b)
  const bogons = bogonsOf(listed, 4)
  const found = new Map<number, Set<number>>()
  for (const address of listed.filter((_, at) => bogons[at] === 0)) {
    const prefix = Math.floor(address / 256)
    found.set(prefix, (found.get(prefix) ?? new Set()).add(address))
  }
  return found
}

function severalIn(prefixes: Map<number, Set<number>>): readonly number[] {
  return [...prefixes].filter(([, addresses]) => addresses.size > 1).map(([prefix]) => prefix)
}

function claimsIn(kind: string, prefixes: ReadonlySet<number>): readonly Claim[] {
  const feed = `neighbours-${kind}`
  const said = statement({ feed, kind, match: 'near', lists: 1, provider: '' })
  return [...prefixes].map((prefix) => ({
    first: prefix * 256,
    last: prefix * 256 + 255,
    said,
  }))
}
