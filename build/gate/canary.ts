// Canaries: addresses whose verdict is known. What a list says of them tells about the list, not
// about them. Two uses: entries on them are dropped (screen.ts), and a table that misjudges one is
// not promoted (promote.ts).
//
// data/tables/canaries.csv holds addresses to ask about. The ranges to drop are those, the resolvers
// (resolvers.csv) and the search engines' published ranges (crawlers.csv); special-purpose space is
// the IANA registries' (src/ip/special.ts) and refused by the rule of build/history/sound.ts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Day, parseDay } from '../../src/base/day.ts'
import { IpriskError, messageOf } from '../../src/base/error.ts'
import type { Family } from '../../src/ip/address.ts'
import { type Range, hasHostBits, parsePrefix } from '../../src/ip/range.ts'
import { toRangeSet } from '../../src/ip/set.ts'
import type { Classification } from '../../src/model/kind.ts'
import type { Feed } from '../catalogue/feed.ts'
import { readTable } from '../networks/table-csv.ts'
import { type Tables, tablesFolder } from '../networks/tables.ts'

/** What a canary is, and what a table may say of it: more is the lists' fault, not its own. */
export const canaryKinds = {
  resolver: { title: 'public resolver', allowed: ['clean', 'hosting'], scoreMax: 40 },
  root_server: { title: 'root server', allowed: ['clean', 'hosting'], scoreMax: 40 },
  search_engine: {
    title: "search engine's published range",
    allowed: ['known_bot', 'clean', 'hosting'],
    scoreMax: 40,
  },
  special: { title: 'special-purpose address space', allowed: ['bogon'], scoreMax: 100 },
} as const satisfies Record<
  string,
  {
    readonly title: string
    readonly allowed: readonly Classification[]
    readonly scoreMax: number
  }
>
export type CanaryKind = keyof typeof canaryKinds

export interface Canary {
  readonly range: Range
  readonly kind: CanaryKind
  readonly name: string
  /** Where it is published, and the day on which the row was written down. */
  readonly source: string
  readonly day: Day
}

/** Feeds that say something of an address itself; hosting and bot lists hold canaries truly. */
const judgingKinds: ReadonlySet<Feed['kind']> = new Set([
  'tor',
  'vpn',
  'proxy',
  'residential_proxy',
  'blocklist',
  'relay',
])

/** The table's file: no more than a person can keep by hand. */
const rowsMax = 500

/** Error: `canaries_invalid`, whose message lists every problem. */
export function loadCanaries(folder: string = tablesFolder): readonly Canary[] {
  const path = join(folder, 'canaries.csv')
  const columns = ['prefix', 'kind', 'name', 'source', 'day']
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw invalid([`${path}: ${messageOf(cause)}`])
  }
  const table = readTable({ path, text, columns })
  const problems = [...table.problems]
  const canaries: Canary[] = []
  const seen = new Set<string>()
  for (const { place, fields } of table.rows) {
    const [prefix = '', kind = '', name = '', source = '', written = ''] = fields
    const range = parsePrefix(prefix)
    const day = parseDay(written)
    if (range === undefined || hasHostBits(prefix))
      problems.push(`${place}: ${prefix} is no prefix`)
    if (!isKind(kind)) problems.push(`${place}: "${kind}" is no kind of canary`)
    if (name === '') problems.push(`${place}: it has no name`)
    if (!source.startsWith('https://')) problems.push(`${place}: "${source}" is no https URL`)
    if (day === undefined) problems.push(`${place}: "${written}" is no day`)
    if (seen.has(prefix)) problems.push(`${place}: ${prefix} is there twice`)
    seen.add(prefix)
    if (range === undefined || day === undefined || !isKind(kind)) continue
    canaries.push({ range, kind, name, source, day })
  }
  if (canaries.length > rowsMax) problems.push(`${path}: at most ${rowsMax} rows are hand-kept`)
  if (problems.length > 0) throw invalid(problems)
  return canaries
}

function isKind(text: string): text is CanaryKind {
  return Object.hasOwn(canaryKinds, text)
}

function invalid(problems: readonly string[]): IpriskError {
  return new IpriskError({
    code: 'canaries_invalid',
    message: `${problems.length} problems in the canaries:\n${problems.join('\n')}`,
    fault: 'input',
  })
}

export interface CanaryIndex {
  /** The canary that an entry of such a feed may not name, or `undefined`. */
  kindOf(feed: Pick<Feed, 'kind'>, range: Range): CanaryKind | undefined
  /** Whether an entry of such a feed holds the whole range of a resolver. */
  holdsResolver(feed: Pick<Feed, 'kind'>, range: Range): boolean
}

type Sets = Readonly<Record<Family, readonly Range[]>>

export function newCanaryIndex(
  canaries: readonly Canary[],
  tables: Pick<Tables, 'resolvers' | 'crawlers'>,
): CanaryIndex {
  const ofKind = (kind: CanaryKind): Range[] =>
    canaries.filter((canary) => canary.kind === kind).map(({ range }) => range)
  const engines = tables.crawlers.filter(({ category }) => category === 'search_crawler')
  const resolverRows = tables.resolvers.map(({ range }) => range)
  const resolvers = setsOf([...resolverRows, ...ofKind('resolver')])
  const roots = setsOf(ofKind('root_server'))
  const searchEngines = setsOf([...engines.map(({ range }) => range), ...ofKind('search_engine')])
  const wide = resolverRows.filter(({ first, last }) => first !== last)
  return {
    kindOf(feed, range) {
      if (!judgingKinds.has(feed.kind)) return undefined
      if (meets(resolvers, range)) return 'resolver'
      if (meets(roots, range)) return 'root_server'
      return feed.kind === 'blocklist' && meets(searchEngines, range) ? 'search_engine' : undefined
    },
    holdsResolver: (feed, { family, first, last }) =>
      judgingKinds.has(feed.kind) &&
      wide.some((it) => it.family === family && first <= it.first && it.last <= last),
  }
}

function setsOf(ranges: readonly Range[]): Sets {
  const of = (family: Family): readonly Range[] =>
    toRangeSet(ranges.filter((range) => range.family === family))
  return { 4: of(4), 6: of(6) }
}

/** Whether some address of `range` is in the set. */
function meets(sets: Sets, range: Range): boolean {
  const set = sets[range.family]
  let low = 0
  let high = set.length
  // The first range of the set that does not end before ours begins.
  while (low < high) {
    const middle = (low + high) >>> 1
    if (set[middle]!.last < range.first) low = middle + 1
    else high = middle
  }
  const found = set[low]
  return found !== undefined && found.first <= range.last
}
