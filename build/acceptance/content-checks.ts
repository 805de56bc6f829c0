// What a feed's entries alone tell of it, without its past: whether it is its format at all, lists
// what it never may, or names canaries. Single entries on canaries are counted and, those on search
// engines aside, removed. Normalise refuses special-purpose space and texts that are no address;
// they are only counted here.

import { canaryKinds } from '../../src/table/canaries.ts'
import { type Entry, rangeOf } from '../parse/entry.ts'
import { whyInadmissible } from '../catalogue/feed.ts'
import { parseAsn } from '../evidence/normalise.ts'
import { type RangeInterner, newRangeInterner } from '../layer/intern.ts'
import { countDrop } from '../parse/parse-counts.ts'
import type { ParsedSnapshot } from '../evidence/read-snapshots.ts'
import type { CanaryIndex } from './entry-canaries.ts'
import { type OverlapDepth, newOverlapDepth, overlapMax } from './overlap-depth.ts'

/**
 * Of a feed's entries, how many may lie on canaries. In sixty real days the worst share was 0.08 %:
 * one loopback address in a proxy list of 1,191.
 */
const canaryShareMax = 0.001

/** Of one feed, all of its files. It counts drops into their tallies, so it runs once a file. */
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
    reasons.add(entries === 0 ? 'it has no entries' : `none of its ${entries} entries is sound`)
  }
  // One entry is an accident whatever share it is of a small list.
  if (canaries > 1 && canaries > entries * canaryShareMax) {
    reasons.add(
      `${canaries} of its ${entries} entries are on canaries, such as ${found.sample}; ` +
        `at most ${canaryShareMax * 100} % may be`,
    )
  }
  const deepest = overlap.deepest()
  if (deepest > overlapMax) {
    reasons.add(`up to ${deepest} of its entries hold one address; at most ${overlapMax} may`)
  }
  return {
    /** Without the entries on canaries and infrastructure. */
    files: kept as readonly ParsedSnapshot[],
    /** Distinct ranges and ASNs that the feed may list. */
    size,
    /** Why none of it may be used, one line each. */
    reasons: [...reasons].slice(0, reasonsMax) as readonly string[],
  }
}

/** Three tell what is wrong; a list of a thousand wide prefixes has no more to say. */
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
    // Counted against the feed, but kept: an answer says that a blocklist names the crawler, which
    // the model then caps (MODEL.md, rule 8: Googlebot, on one abuse list).
    found.overlap.add(entry, range, found.distinct.ranges)
    return true
  }
  const reason = `canary: ${canaryKinds[kind].title}`
  countDrop(tally, { reason, place: entry.place, sample: entry.text })
  return false
}
