// The feeds that need no download: the hand-kept tables, described as feeds are, so that their
// evidence is weighed and shown like any other.

import type { Day } from '../../src/base/day.ts'
import { formatRange } from '../../src/ip/range.ts'
import type { Feed } from '../catalogue/feed.ts'
import { badListGroup, hostingTableVoice, namesVoice } from '../networks/hosting-voices.ts'
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

/** The published ranges of large crawlers (data/tables/crawlers.csv). */
const crawlersFeed = tableFeed({
  id: 'table-crawlers',
  title: 'Published ranges of large crawlers, kept by hand',
  kind: 'bot',
  group: 'bot-ranges',
  assurance: 'direct',
})

/** ASes that are hosters (data/tables/hosting.csv). */
export const hostersFeed = tableFeed({
  id: hostingTableVoice,
  title: 'ASes of hosters, kept by hand',
  kind: 'hosting',
  group: hostingTableVoice,
  assurance: 'good',
})

/**
 * What organizations call themselves (build/networks/name-hints.ts): a weak voice with the weight
 * that a weak feed has before anything is measured, and never alone.
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

/** The crawlers' table as a file that was read: each row an entry, of the newest row's day. */
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

/** The newest day on which a row of the crawlers' table was written down. */
export function newestTableDay(tables: NetworkTables): Day {
  return tables.crawlers.reduce((newest, row) => Math.max(newest, row.day), 0) as Day
}
