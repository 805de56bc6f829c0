// What two tables say of the same addresses: every flip of the classification, from what to what,
// and which feeds came or went between them; with a policy, also which decisions change.

import type { LineTally } from '../bulk/line-tally.ts'
import { newAddressWords } from '../ip/address.ts'
import { formatIpv4 } from '../ip/format-address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import type { Classification } from '../model/kind.ts'
import { readEvidenceList } from '../table/file/evidence-record.ts'
import { networkEvidenceList } from '../table/file/network-record.ts'
import { type Located, locate, newLocated } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import { type ComparedTable, actionOf, classOf } from './compared-table.ts'
import { type Hits, addHit, newHits } from './rehearsal.ts'

export interface Flip {
  readonly from: Classification
  readonly to: Classification
  requests: number
  /** Requests by feed: `+tor-exits` where it lists the address only now, `-` where only before. */
  readonly feeds: Map<string, number>
}

export interface ReplayCounter {
  readonly add: (tally: LineTally) => void
  /** One request, by the policy at a place of its own. */
  readonly addRequest: (address: string, policy: number) => void
  readonly flips: () => readonly Flip[]
  /** Requests by both actions, `allow block`; empty without a policy. */
  readonly decisions: ReadonlyMap<string, number>
  /** Of requests whose classification flips, as the new table has them. */
  readonly hits: Hits
}

export function newReplayCounter(before: ComparedTable, after: ComparedTable): ReplayCounter {
  const words = newAddressWords()
  const located = { before: newLocated(), after: newLocated() }
  const flips = new Map<string, Flip>()
  const decisions = new Map<string, number>()
  const hits = newHits()
  const feedsOf = feedChanges(before.table, after.table)
  const count = (
    family: 4 | 6,
    requests: number,
    textOf: () => string,
    [old, now] = [before, after],
  ): void => {
    locate(before.table.reader.views, family, words, located.before)
    locate(after.table.reader.views, family, words, located.after)
    const actions = `${actionOf(old, words, located.before)} ${actionOf(now, words, located.after)}`
    decisions.set(actions, (decisions.get(actions) ?? 0) + requests)
    const from = classOf(before.table, located.before)
    const to = classOf(after.table, located.after)
    if (from === to) return
    const flip = flips.get(`${from} ${to}`) ?? { from, to, requests: 0, feeds: new Map() }
    flips.set(`${from} ${to}`, flip)
    flip.requests += requests
    for (const feed of feedsOf(located.before, located.after)) {
      flip.feeds.set(feed, (flip.feeds.get(feed) ?? 0) + requests)
    }
    addHit(hits, after.table, { located: located.after, requests, text: textOf() })
  }
  return {
    hits,
    decisions,
    flips: () => [...flips.values()].sort((a, b) => b.requests - a.requests),
    addRequest: (address, policy) => {
      const family = parseAddress(address, words)
      const sides = [withPolicy(before, policy), withPolicy(after, policy)] as const
      if (family !== 0) count(family, 1, () => address, [...sides])
    },
    add: ({ ipv4, ipv6 }) => {
      for (let at = 0; at < ipv4.length; at += 2) {
        words[0] = ipv4[at]!
        count(4, ipv4[at + 1]!, () => formatIpv4(ipv4[at]!))
      }
      for (const [text, requests] of ipv6) {
        if (parseAddress(text, words) === 6) count(6, requests, () => text)
      }
    },
  }
}

/** The side, by another of its policies. */
function withPolicy(side: ComparedTable, index: number): ComparedTable {
  const { table, policy } = side
  return policy === undefined ? side : { table, policy: { ...policy, index } }
}

/** What is kept of pairs of evidence, which many addresses share. */
const keptMax = 100_000

/** Which feeds say something of an address in one of the tables alone. */
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

/** The feeds that say something of an address or of its network. */
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
