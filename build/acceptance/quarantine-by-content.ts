// Checks a feed's entries without its past: whether they have the feed's format, list forbidden
// space, or name canaries. Entries on canaries are counted and removed (search engines are kept).
// Special-purpose space and texts that are not addresses are counted here; normalise drops them.

import { canaryKinds } from '../../src/table/canaries.ts'
import { type Entry, rangeOf } from '../parse/entry.ts'
import { whyInadmissible } from '../catalogue/feed.ts'
import { parseAsn } from '../evidence/normalise.ts'
import { type RangeInterner, newRangeInterner } from '../layer/intern.ts'
import { countDrop } from '../parse/parse-counts.ts'
import type { ParsedSnapshot } from '../evidence/read-snapshots.ts'
import type { CanaryIndex } from './entry-canaries.ts'
import { type OverlapDepth, newOverlapDepth, overlapMax } from './overlap-depth.ts'

/** In sixty real days the worst feed had 0.08 %: one loopback address in a proxy list of 1,191. */
const canaryShareMax = 0.001

/** Takes all files of one feed. Counts drops into their tallies, so call it once per file. */
export function checkContent(files: readonly ParsedSnapshot[], index: CanaryIndex) {
  const reasons = new Set<string>()
  const distinct = { ranges: newRangeInterner(), asns: new Set<number>() }
  const overlap = newOverlapDepth()
  const found = { entries: 0, canaries: 0, sample: '', distinct, overlap }
  const kept = files.map((file) => {
    if (file.problem !== undefined) reasons.add(file.problem)
    const entries = file.entries.filter((entry) =>
      checkEntry(entry, file, { index, found, reasons }),
    )
    return entries.length === file.entries.length ? file : { ...file, entries }
  })
  const { canaries, entries } = found
  const size = distinct.ranges.count + distinct.asns.size
  if (size === 0 && reasons.size === 0) {
    reasons.add(entries === 0 ? 'it has no entries' : `none of its ${entries} entries is valid`)
  }
  // A single entry is an accident, even in a small list.
  if (canaries > 1 && canaries > entries * canaryShareMax) {
    reasons.add(
      `${canaries} of its ${entries} entries are on canaries, such as ${found.sample}; ` +
        `the limit is ${canaryShareMax * 100} %`,
    )
  }
  const deepest = overlap.deepest()
  if (deepest > overlapMax) {
    reasons.add(`up to ${deepest} of its entries cover one address; the limit is ${overlapMax}`)
  }
  return {
    files: kept as readonly ParsedSnapshot[],
    size,
    reasons: [...reasons].slice(0, reasonsMax) as readonly string[],
  }
}

/** Three show what is wrong, even if a thousand prefixes are too wide. */
const reasonsMax = 3

interface ContentCounts {
  entries: number
  canaries: number
  sample: string
  readonly distinct: { readonly ranges: RangeInterner; readonly asns: Set<number> }
  readonly overlap: OverlapDepth
}

function checkEntry(
  entry: Entry,
  { feed, tally }: Pick<ParsedSnapshot, 'feed' | 'tally'>,
  to: { readonly index: CanaryIndex; readonly found: ContentCounts; readonly reasons: Set<string> },
): boolean {
  const { found, reasons, index } = to
  found.entries++
  const range = rangeOf(entry)
  if (range === undefined) {
    const asn = parseAsn(entry.text)
    if (asn !== undefined) found.distinct.asns.add(asn)
    return true
  }
  const refused = whyInadmissible(feed, range)
  if (refused === canaryKinds.special.title) {
    found.canaries++
    found.sample ||= entry.text
    return true
  }
  if (refused !== undefined || index.holdsResolver(feed, range)) {
    reasons.add(`it lists ${entry.text}, ${refused ?? "a resolver's whole range"}`)
    return true
  }
  const owner = index.infrastructureOf(feed, range)
  if (owner !== undefined) {
    countDrop(tally, { reason: `infrastructure: ${owner}`, place: entry.place, sample: entry.text })
    return false
  }
  const kind = index.kindOf(feed, range)
  if (kind === undefined) {
    found.overlap.add(entry, range, found.distinct.ranges)
    return true
  }
  found.canaries++
  found.sample ||= entry.text
  if (kind === 'search_engine') {
    // Kept: the answer reports that a blocklist names the crawler (MODEL.md, rule 8, caps it).
    found.overlap.add(entry, range, found.distinct.ranges)
    return true
  }
  const reason = `canary: ${canaryKinds[kind].title}`
  countDrop(tally, { reason, place: entry.place, sample: entry.text })
  return false
}
