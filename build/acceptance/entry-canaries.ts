// Canaries among the entries of feeds: what a list says of an address whose verdict is known tells
// about the list, not about it. Such entries are dropped (content-checks.ts).
//
// The ranges to drop are the canaries (src/table/canaries.ts), the resolvers (resolvers.csv) and
// the search engines' published ranges (crawlers.csv). build/parse/entry.ts refuses
// special-purpose space (src/ip/special-purpose.ts).
//
// Infrastructure (infrastructure.csv) is dropped likewise and does not count against its feed: a
// list of attackers' servers that names front ends of a content delivery network says what it means.

import type { Family } from '../../src/ip/address.ts'
import type { Range } from '../../src/ip/range.ts'
import { rangeSetContains, toRangeSet } from '../../src/ip/range-set.ts'
import type { Canary, CanaryKind } from '../../src/table/canaries.ts'
import type { Feed } from '../catalogue/feed.ts'
import { isNetworkRange } from '../evidence/builtin-feeds.ts'
import type { NetworkTables } from '../networks/network-tables.ts'

/** Feeds that say something of an address itself; hosting and bot lists hold canaries truly. */
const judgingKinds: ReadonlySet<Feed['kind']> = new Set([
  'tor',
  'vpn',
  'proxy',
  'residential_proxy',
  'blocklist',
  'relay',
])

/** Feeds that say what a visitor does: no visitor comes from a front end. */
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
    /** The canary that an entry of such a feed may not name, or `undefined`. */
    kindOf(feed: OfKind, range: Range): CanaryKind | undefined {
      if (!judgingKinds.has(feed.kind)) return undefined
      if (overlaps(resolvers, range)) return 'resolver'
      if (overlaps(roots, range)) return 'root_server'
      return feed.kind === 'blocklist' && overlaps(searchEngines, range)
        ? 'search_engine'
        : undefined
    },
    /** Whose infrastructure an entry names, narrower than a network; `undefined` for none. */
    infrastructureOf: ({ kind }: OfKind, range: Range): string | undefined =>
      visitorKinds.has(kind) && !isNetworkRange(range)
        ? tables.infrastructure.find(({ range: it }) => holds(it, range))?.name
        : undefined,
    /** Whether an entry of such a feed holds the whole range of a resolver. */
    holdsResolver: ({ kind }: OfKind, range: Range): boolean =>
      judgingKinds.has(kind) && wide.some((it) => holds(range, it)),
  }
}

function holds(outer: Range, { family, first, last }: Range): boolean {
  return outer.family === family && outer.first <= first && last <= outer.last
}

function setsOf(ranges: readonly Range[]): Sets {
  const of = (family: Family): readonly Range[] =>
    toRangeSet(ranges.filter((range) => range.family === family))
  return { 4: of(4), 6: of(6) }
}

function overlaps(sets: Sets, { family, first, last }: Range): boolean {
  return rangeSetContains(sets[family], first, last)
}
