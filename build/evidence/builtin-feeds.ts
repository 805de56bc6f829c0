// Feeds without download: hand-kept tables described as feeds, so that their evidence is weighed
// and shown like any other.

import type { Day } from '../../src/base/day.ts'
import { formatRange, type Range } from '../../src/ip/range.ts'
import type { Kind } from '../../src/model/kind.ts'
import { torOperatorsId } from '../../src/score/finding/finding.ts'
import { inferredVpnId } from '../../src/score/weight/weigh-evidence.ts'
import type { Feed } from '../catalogue/feed.ts'
import { badListGroup, hostingTableVoice, namesVoice } from '../networks/network-type.ts'
import type { NetworkTables } from '../networks/network-tables.ts'
import type { ParsedSnapshot } from './read-snapshots.ts'
import { newParseCounts } from '../parse/parse-counts.ts'

function tableFeed(own: Pick<Feed, 'id' | 'title' | 'kind' | 'group' | 'assurance'>): Feed {
  return {
    ...own,
    provider: '',
    weight: 1,
    rolling: false,
    enabled: true,
    licence: 'Apache-2.0',
    homepage: 'https://www.apache.org/licenses/LICENSE-2.0',
    cadence: 'static',
    asns: [],
    widest: { ipv4: 8, ipv6: 16 },
    files: [],
  }
}

const crawlersFeed = tableFeed({
  id: 'table-crawlers',
  title: 'Published ranges of large crawlers, kept by hand',
  kind: 'bot',
  group: 'bot-ranges',
  assurance: 'direct',
})

/**
 * Prefixes that their owners dedicate to Tor exits (data/tables/tor-operators.csv). Beside a fresh
 * consensus the range only tells how likely an address is an exit (573 of 2,560 on 2026-08-22). It
 * shares the consensus's group, or together they would keep the signal of an exit that left.
 */
export function torOperatorsFeed(besideConsensus: boolean): Feed {
  const feed = tableFeed({
    id: torOperatorsId,
    title: 'Prefixes dedicated to Tor exits, kept by hand',
    kind: 'tor',
    group: 'tor-consensus',
    assurance: 'good',
  })
  return { ...feed, weight: besideConsensus ? 0.22 : 1 }
}

/**
 * ASes and prefixes that serve only a VPN (data/tables/vpn-operators.csv): medium confidence, with
 * a named owner (MODEL.md, rule 5). A group of its own, because it republishes no list.
 */
export const vpnOperatorsFeed = tableFeed({
  id: 'table-vpn-operators',
  title: 'ASes and prefixes that serve a VPN and nothing else, kept by hand',
  kind: 'vpn',
  group: 'vpn-operators',
  assurance: 'good',
})

export const hostersFeed = tableFeed({
  id: hostingTableVoice,
  title: 'ASes of hosters, kept by hand',
  kind: 'hosting',
  group: hostingTableVoice,
  assurance: 'good',
})

/**
 * Organization names (build/networks/network-type.ts): weighted as an unmeasured weak feed, and
 * never alone.
 */
export const namesFeed: Feed = {
  ...tableFeed({
    id: namesVoice,
    title: 'Names of organizations that call themselves hosters',
    kind: 'hosting',
    group: badListGroup,
    assurance: 'weak',
  }),
  weight: 0.5,
}

function neighbourFeed(kind: Kind, title: string): Feed {
  const [id, group] = [`neighbours-${kind}`, 'neighbours']
  return tableFeed({ id, title, kind, group, assurance: 'weak' })
}

/** Computed from all other feeds (neighbourhoods.ts). */
export const neighbourFeeds = {
  vpn: neighbourFeed('vpn', "A VPN operator's server in the same /24 (IPv6: /48), computed"),
  inferred: {
    ...neighbourFeed('vpn', 'Among servers of VPN operators, computed'),
    id: inferredVpnId,
    weight: 0.5,
  },
  proxy: neighbourFeed('proxy', 'Tested proxies in the same /24, computed'),
  blocklist: neighbourFeed('blocklist', 'Blocklisted addresses in the same /24, computed'),
} as const satisfies Readonly<Record<string, Feed>>

export const networksSuffix = '-networks'

/**
 * What an aggregate of ASes and addresses says of whole networks, as a feed with its own voice and
 * weight; `undefined` if the feed has one part only.
 */
export function networksPart(feed: Feed): Feed | undefined {
  const { networks, ...own } = feed
  if (networks === undefined) return undefined
  const title = `${feed.title}: whole networks`
  return { ...own, ...networks, id: `${feed.id}${networksSuffix}`, title, files: [] }
}

/** Whether a range belongs to that part, however addresses are joined. */
export const isNetworkRange = ({ family, first, last }: Range): boolean =>
  last - first >= (family === 4 ? 255n : (1n << 80n) - 1n)

/** The crawlers' table as a parsed file, dated by its newest row. */
export function crawlersFile(tables: NetworkTables): ParsedSnapshot {
  const tally = newParseCounts('data/tables/crawlers.csv')
  const entries = tables.crawlers.map((row) => ({
    text: formatRange(row.range),
    place: row.provider,
    provider: row.provider,
    category: row.category,
  }))
  tally.entryCount = entries.length
  return { feed: crawlersFeed, tally, entries, day: newestTableDay(tables), problem: undefined }
}

export const newestTableDay = (tables: NetworkTables): Day =>
  tables.crawlers.reduce((newest, row) => Math.max(newest, row.day), 0) as Day
