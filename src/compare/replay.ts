// Compares two tables on the same addresses: every flip of the classification, and the feeds that
// were added or removed; with a policy, also changed decisions.

import { addTo } from '../base/counts.ts'
import type { LineTally } from '../bulk/line-tally.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { readEvidenceList } from '../table/file/evidence-record.ts'
import { networkEvidenceList } from '../table/file/network-record.ts'
import type { Located } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import {
  type ComparedTable,
  actionOf,
  classOf,
  newAddressPair,
  newChangeCounter,
  visitTally,
} from './comparison.ts'
import { addHit, newHits } from './hit-lists.ts'

export type ReplayCounter = ReturnType<typeof newReplayCounter>

export function newReplayCounter(before: ComparedTable, after: ComparedTable) {
  const pair = newAddressPair(before.table, after.table)
  const { words } = pair
  const classes = newChangeCounter()
  const decisions = newChangeCounter()
  /** Keyed by both classes, then by feed. */
  const feeds = new Map<string, Map<string, number>>()
  const hits = newHits()
  const feedsOf = feedChanges(before.table, after.table)
  const count = (family: 4 | 6, requests: number, textOf: () => string, policy?: number): void => {
    pair.locate(family)
    decisions.add(
      actionOf(before, words, pair.before, policy),
      actionOf(after, words, pair.after, policy),
      requests,
    )
    const from = classOf(before.table, pair.before)
    const to = classOf(after.table, pair.after)
    if (!classes.add(from, to, requests)) return
    const key = `${from} ${to}`
    const ofChange = feeds.get(key) ?? new Map<string, number>()
    feeds.set(key, ofChange)
    for (const feed of feedsOf(pair.before, pair.after)) addTo(ofChange, feed, requests)
    addHit(hits, after.table, { located: pair.after, requests, text: textOf() })
  }
  return {
    /** Requests with a flipped classification, by the new table. */
    hits,
    /** Keyed by action; nothing changes without a policy. */
    decisions: decisions.comparison,
    /** With requests by feed: `+tor-exits` if it is in the new table only, `-` in the old one. */
    flips: () =>
      classes.comparison().changes.map((change) => ({
        ...change,
        feeds: feeds.get(`${change.from} ${change.to}`) ?? new Map<string, number>(),
      })),
    /** One request, with its own policy. */
    addRequest: (address: string, policy: number): void => {
      const family = parseAddress(address, words)
      if (family !== 0) count(family, 1, () => address, policy)
    },
    add: (tally: LineTally) => visitTally(tally, words, count),
  }
}

/** Cached pairs of evidence, which many addresses share. */
const keptMax = 100_000

/** Feeds with evidence of the address in only one of the tables. */
function feedChanges(
  before: OpenTable,
  after: OpenTable,
): (old: Located, now: Located) => readonly string[] {
  const kept = new Map<string, readonly string[]>()
  return (old, now) => {
    const key = [old, now].map((one) => [one.evidence, one.network, one.bogon].join()).join(';')
    const known = kept.get(key)
    if (known !== undefined) return known
    const [was, is] = [feedsOf(before, old), feedsOf(after, now)]
    const made = [
      ...[...is].filter((id) => !was.has(id)).map((id) => `+${id}`),
      ...[...was].filter((id) => !is.has(id)).map((id) => `-${id}`),
    ]
    if (kept.size >= keptMax) kept.clear()
    kept.set(key, made)
    return made
  }
}

/** Feeds with evidence of an address or its network. */
export function feedsOf(
  table: OpenTable,
  { bogon, evidence, network }: Located,
): ReadonlySet<string> {
  if (bogon) return new Set()
  const { views, strings } = table.reader
  const lists = [evidence, network === 0 ? 0 : networkEvidenceList(views.networks, network)]
  const said = lists.flatMap((list) => readEvidenceList(views, list, strings))
  return new Set(said.map(({ source }) => table.sources[source]?.id ?? ''))
}
