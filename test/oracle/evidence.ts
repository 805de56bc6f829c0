// What the feeds say of each query, by one plain pass a feed. The one rule of meaning here is
// MODEL.md's rule 4: in an access network what is listed inside an IPv6 /64 stands for the whole
// /64, a customer's line. Which networks are access networks is asked of the table under test: the
// class of an AS is a judgement (build/networks), not a fact of an input.

import { readFileSync } from 'node:fs'
import { type Point, type Span, overlaps, spanOf } from './address.ts'
import type { PlainFeed } from './feeds.ts'
import { sweep } from './sweep.ts'
import { joined, statement } from './table.ts'

export interface Claim extends Span {
  readonly said: string
}

const lineKinds = new Set(['vpn', 'proxy', 'residential_proxy', 'blocklist'])

/** All entries of a feed as ranges with what they say. `unread` collects texts that are none. */
export function claimsOf(
  feed: PlainFeed,
  inAccess: (point: Point) => boolean,
  unread: string[] = [],
): readonly Claim[] {
  const claims: Claim[] = []
  for (const { text, lists = 1, provider = '' } of feed.entries()) {
    let span: Span
    try {
      span = spanOf(text)
    } catch {
      unread.push(`${feed.id}: ${text}`)
      continue
    }
    if (judgingKinds.has(feed.kind) && canaries.some((canary) => overlaps(canary, span))) continue
    if (isInfrastructure(feed.kind, span)) continue
    const line = lineOf(span)
    const isLine = lineKinds.has(feed.kind) && line !== undefined && inAccess(span.first)
    const meant = isLine ? line : span
    const match = isLine || span.first === span.last ? 'exact' : 'range'
    const part = { feed: voiceOf(feed.id, meant), kind: feed.kind }
    const said = statement({ ...part, match, lists, provider: oneName(provider) })
    const spoken = feed.kind === 'bot' ? withoutResolvers(meant) : [meant]
    for (const span of spoken) claims.push({ ...span, said })
  }
  return claims
}

/** What an aggregate of networks and addresses says of whole networks is a voice of its own. */
function voiceOf(feed: string, { first, last }: Span): string {
  if (feed !== 'vpn-x4b') return feed
  const size = BigInt(last) - BigInt(first) + 1n
  return size >= (typeof first === 'number' ? 256n : 1n << 80n) ? 'vpn-x4b-networks' : feed
}

/** Feeds write one hoster in several ways. */
const nameOf: Readonly<Record<string, string>> = {
  'Amazon AWS': 'Amazon Web Services',
  AWS: 'Amazon Web Services',
  Azure: 'Microsoft Azure',
  CloudFlare: 'Cloudflare',
  'Cloudflare Inc': 'Cloudflare',
  GCP: 'Google Cloud',
  Microsoft: 'Microsoft Azure',
  'Microsoft Azure ExpressRoute': 'Microsoft Azure',
  Linode: 'Linode / Akamai Cloud',
  'IBM Cloud (SoftLayer)': 'IBM Cloud',
  SoftLayer: 'IBM Cloud',
  OVH: 'OVHcloud',
  'Hetzner Cloud': 'Hetzner',
  'Hetzner Online AG': 'Hetzner',
}
function oneName(provider: string): string {
  return nameOf[provider] ?? provider
}

function tableRows(name: string): readonly (readonly string[])[] {
  return readFileSync(new URL(`../../data/tables/${name}.csv`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /^[0-9a-f]/i.test(line) && !line.startsWith('prefix'))
    .map((line) => line.split(','))
}

/** Public resolvers, announced in many places. */
export const resolvers = tableRows('resolvers').map(([prefix = '']) => spanOf(prefix))

/** What no list that judges addresses may name: such an entry is dropped (build/acceptance). */
const judgingKinds = new Set(['tor', 'vpn', 'proxy', 'residential_proxy', 'blocklist', 'relay'])
const canaries = [
  ...resolvers,
  ...tableRows('canaries')
    .filter(([, kind]) => kind === 'resolver' || kind === 'root_server')
    .map(([prefix = '']) => spanOf(prefix)),
]

/** What no list of visitors' addresses may name, but by a /24 (IPv6: /48) and more. */
const infrastructure = tableRows('infrastructure').map(([prefix = '']) => spanOf(prefix))

export function isInfrastructure(kind: string, { first, last }: Span): boolean {
  if (!lineKinds.has(kind) || isWide({ first, last })) return false
  return infrastructure.some((row) => row.first <= first && last <= row.last)
}

function isWide({ first, last }: Span): boolean {
  return typeof first === 'bigint' || typeof last === 'bigint'
    ? BigInt(last) - BigInt(first) >= (1n << 80n) - 1n
    : last - first >= 255
}

/** What a bot's list says of a public resolver inside it does not count (data/tables). */
function withoutResolvers(span: Span): readonly Span[] {
  return resolvers.reduce<readonly Span[]>(
    (parts, hole) => parts.flatMap((part) => cutOut(part, hole)),
    [span],
  )
}

function cutOut(part: Span, hole: Span): readonly Span[] {
  if (typeof part.first !== typeof hole.first) return [part]
  if (hole.last < part.first || hole.first > part.last) return [part]
  const before = { first: part.first, last: step(hole.first, -1) }
  const after = { first: step(hole.last, 1), last: part.last }
  return [before, after].filter(({ first, last }) => first <= last)
}

function step(point: Point, by: 1 | -1): Point {
  return typeof point === 'bigint' ? point + BigInt(by) : point + by
}

/** The /64 that holds the whole range; `undefined` for IPv4 and for ranges across several. */
function lineOf({ first, last }: Span): Span | undefined {
  if (typeof first !== 'bigint' || typeof last !== 'bigint') return undefined
  if (first >> 64n !== last >> 64n) return undefined
  return { first: (first >> 64n) << 64n, last: ((first >> 64n) << 64n) + 0xffff_ffff_ffff_ffffn }
}

/** Adds claims to the queries that they hold, and tells what was said of each in the end. */
export function newEvidence(queries: readonly Point[]): {
  readonly add: (claims: readonly Claim[]) => void
  readonly at: (query: number) => string
} {
  // Few distinct sets of statements cover all queries: a set has a number, and adding to it is
  // remembered.
  const sets: string[][] = [[]]
  const texts: (string | undefined)[] = []
  const numbers = new Map<string, number>([['', 0]])
  const added: Map<string, number>[] = []
  const setOf = new Uint32Array(queries.length)
  const plus = (set: number, said: string): number => {
    const known = (added[set] ??= new Map<string, number>())
    let number = known.get(said)
    if (number !== undefined) return number
    const union = sets[set]!.includes(said) ? sets[set]! : [...sets[set]!, said].sort()
    const name = union.join('\n')
    number = numbers.get(name) ?? sets.push(union) - 1
    numbers.set(name, number)
    known.set(said, number)
    return number
  }
  return {
    add(claims) {
      sweep(queries, claims, (query, holding) => {
        for (const { said } of holding) setOf[query] = plus(setOf[query]!, said)
      })
    },
    at: (query) => (texts[setOf[query]!] ??= joined(sets[setOf[query]!]!)),
  }
}
