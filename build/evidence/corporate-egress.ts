// Feeds of kind `network` that list prefixes: where the staff of other companies come out, as a
// corporate security service publishes it (label `corporate`). Such a prefix is a network of its
// own, as one of corporate-prefixes.csv is, and no evidence of anything.

import { parseRange } from '../../src/ip/range.ts'
import { whyInadmissible } from '../history/admissible-range.ts'
import type { NetworkTables, PrefixRow } from '../networks/network-tables.ts'
import { parseAsn } from './normalise.ts'
import type { ParsedSnapshot } from './read-snapshots.ts'

/** The hand-kept prefixes, and behind them those of feeds; what a feed may not say is left out. */
export function corporateEgress(
  tables: Pick<NetworkTables, 'corporatePrefixes'>,
  files: readonly ParsedSnapshot[],
): readonly PrefixRow[] {
  const ofFeeds = files.flatMap(({ feed, entries }) => {
    if (feed.kind !== 'network') return []
    return entries.flatMap(({ text, label }) => {
      const range = label === 'corporate' && parseAsn(text) === undefined && parseRange(text)
      if (!range || whyInadmissible(feed, range) !== undefined) return []
      return [{ range, name: feed.provider, note: feed.id }]
    })
  })
  return [...tables.corporatePrefixes, ...ofFeeds]
}
