// Canaries among the entries of feeds: an entry about an address with a known verdict says
// something about the list, not the address, so quarantine-by-content.ts drops it. Infrastructure
// (infrastructure.csv) is dropped too but does not count against the feed: a list of attackers'
// servers may rightly name front ends of a content delivery network.

import type { Family } from '../../src/ip/address.ts'
import type { Range } from '../../src/ip/range.ts'
import { rangeSetContains, toRangeSet } from '../../src/ip/range-set.ts'
import type { Canary, CanaryKind } from '../../src/table/canaries.ts'
import type { Feed } from '../catalogue/feed.ts'
import { isNetworkRange } from '../evidence/builtin-feeds.ts'
import type { NetworkTables } from '../networks/network-tables.ts'

/** Feeds that judge addresses; hosting and bot lists may rightly hold canaries. */
const judgingKinds: ReadonlySet<Feed['kind']> = new Set([
  'tor',
  'vpn',
  'proxy',
  'residential_proxy',
  'blocklist',
  'relay',
])

/** Feeds that judge visitors: no visitor comes from a front end. */
const visitorKinds: ReadonlySet<Feed['kind']> = new Set([
  'vpn',
  'proxy',
  'residential_proxy',
  'blocklist',
])

export type CanaryIndex = ReturnType<typeof newCanaryIndex>

type OfKind = Pick<Feed, 'kind'>
type Sets = Readonly<Record<Family, readonly Range[]>>

export function newCanaryIndex(
  canaries: readonly Canary[],
  tables: Pick<NetworkTables, 'resolvers' | 'crawlers' | 'infrastructure'>,
) {
  const ofKind = (kind: CanaryKind): Range[] =>
    canaries.filter((canary) => canary.kind === kind).map(({ range }) => range)
  const engines = tables.crawlers.filter(({ category }) => category === 'search_crawler')
  const resolverRows = tables.resolvers.map(({ range }) => range)
  const resolvers = setsOf([...resolverRows, ...ofKind('resolver')])
  const roots = setsOf(ofKind('root_server'))
  const searchEngines = setsOf([...engines.map(({ range }) => range), ...ofKind('search_engine')])
  const wide = resolverRows.filter(({ first, last }) => first !== last)
  return {
    kindOf(feed: OfKind, range: Range): CanaryKind | undefined {
      if (!judgingKinds.has(feed.kind)) return undefined
      if (overlaps(resolvers, range)) return 'resolver'
      if (overlaps(roots, range)) return 'root_server'
      return feed.kind === 'blocklist' && overlaps(searchEngines, range)
        ? 'search_engine'
        : undefined
    },
    /** The owner of the infrastructure that an entry narrower than a network names. */
    infrastructureOf: ({ kind }: OfKind, range: Range): string | undefined =>
      visitorKinds.has(kind) && !isNetworkRange(range)
        ? tables.infrastructure.find(({ range: it }) => holds(it, range))?.name
        : undefined,
    /** Whether an entry holds a resolver's whole range. */
    holdsResolver: ({ kind }: OfKind, range: Range): boolean =>
      judgingKinds.has(kind) && wide.some((it) => holds(range, it)),
  }
}

const holds = (outer: Range, { family, first, last }: Range): boolean =>
  outer.family === family && outer.first <= first && last <= outer.last

function setsOf(ranges: readonly Range[]): Sets {
  const of = (family: Family): readonly Range[] =>
    toRangeSet(ranges.filter((range) => range.family === family))
  return { 4: of(4), 6: of(6) }
}

const overlaps = (sets: Sets, { family, first, last }: Range): boolean =>
  rangeSetContains(sets[family], first, last)
