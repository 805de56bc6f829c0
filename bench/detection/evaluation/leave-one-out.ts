// Leave one out: what the other feeds still say of a feed's entries when it, or its whole group,
// says nothing. The verdicts are those of a build without it: evidence is flattened and judged
// feed by feed, so a list without its statements is the list that such a build would make.
// Networks keep their class: no AS feed is left out.
//
// An entry counts once, by the share of its addresses; entries that only fade are not counted.

import type { Kind } from '../../../src/model/kind.ts'
import type { Range } from '../../../src/ip/range.ts'
import type { Verdict } from '../../../src/model/verdict.ts'
import { rangeSize } from '../world/address-count.ts'
import { askScoreMin, blockScoreMin } from '../world/address-space.ts'
import { type EvidenceChange, newCellJudge } from '../world/cell-verdicts.ts'
import { type WilsonShare, wilsonShare } from '../../../src/feedback/wilson-share.ts'
import type { Cell, World } from '../world/cells.ts'

/** Kinds whose feeds are left out in turn. */
export const leftOutKinds = [
  'tor',
  'vpn',
  'proxy',
  'residential_proxy',
  'hosting',
] as const satisfies readonly Kind[]

/** What the rest of the world says of the entries. */
export interface DetectedShares {
  /** The kind's own signal; of proxies of both kinds either. */
  readonly signal: WilsonShare
  readonly fromBlock: WilsonShare
  readonly fromAsk: WilsonShare
  /** `proxy` is not null: anything of VPN, Tor, proxy or hosting. */
  readonly flagged: WilsonShare
}

export interface LeftOut {
  readonly feed: string
  readonly kind: Kind
  readonly entries: number
  /** Every feed speaks: what there is to find. */
  readonly withAll: DetectedShares
  readonly withoutFeed: DetectedShares
  /** Without all feeds that republish it: the honest figure. */
  readonly withoutGroup: DetectedShares
}

/** One row a feed of these kinds that lists an address today. */
export function leaveOneOut(
  world: World,
  weights?: ReadonlyMap<string, number>,
): readonly LeftOut[] {
  const feeds = listingFeeds(world)
  const all = newCellJudge(world, { weights })
  return feeds.map(({ feed, kind, group, newest }) => {
    const parts = partsOf(world, feed, newest)
    const entries = parts.reduce((sum, { part }) => sum + part, 0)
    const kin = feeds.filter((other) => other.group === group).map((other) => other.feed)
    const asKin = asFeedsOf(world, group)
    const found = (change: EvidenceChange): DetectedShares =>
      detectedShares(parts, kind, newCellJudge(world, { ...change, weights }))
    return {
      feed,
      kind,
      entries: Math.round(entries),
      withAll: detectedShares(parts, kind, all),
      withoutFeed: found({ without: new Set([feed]) }),
      withoutGroup: found({ without: new Set([feed, ...kin, ...asKin]) }),
    }
  })
}

interface ListingFeed {
  readonly feed: string
  readonly kind: Kind
  readonly group: string
  /** The last day on which it listed anything. */
  newest: number
}

function listingFeeds(world: World): readonly ListingFeed[] {
  const found = new Map<string, ListingFeed>()
  for (let id = 1; id <= world.book.count; id++) {
    const { evidence, range } = world.book.at(id)
    const { kind, voice, lastSeen } = evidence
    if (evidence.match === 'near') continue
    if (range === undefined || !(leftOutKinds as readonly Kind[]).includes(kind)) continue
    const known = found.get(voice.id)
    if (known === undefined) {
      found.set(voice.id, { feed: voice.id, kind, group: voice.group, newest: lastSeen })
    } else known.newest = Math.max(known.newest, lastSeen)
  }
  const order = (kind: Kind): number => (leftOutKinds as readonly Kind[]).indexOf(kind)
  return [...found.values()].sort((a, b) =>
    a.kind === b.kind ? (a.feed < b.feed ? -1 : 1) : order(a.kind) - order(b.kind),
  )
}

/** Feeds that speak of ASes for the same group. */
function asFeedsOf(world: World, group: string): readonly string[] {
  const ids = new Set<string>()
  for (let network = 1; network <= world.networks.length; network++) {
    for (const { voice } of world.asEvidence(network)) if (voice.group === group) ids.add(voice.id)
  }
  return [...ids]
}

export interface Part {
  readonly cell: Cell
  /** Entries, in parts. */
  readonly part: number
}

export function partsOf(world: World, feed: string, newest: number): readonly Part[] {
  const parts: Part[] = []
  for (const cell of world.cells) {
    let part = 0
    for (const id of world.lists.lists[cell.list - 1] ?? []) {
      const { evidence, range } = world.book.at(id)
      if (evidence.voice.id !== feed || evidence.lastSeen !== newest) continue
      part += cell.size / rangeSize(range as Range)
    }
    if (part > 0) parts.push({ cell, part })
  }
  return parts
}

export function detectedShares(
  parts: readonly Part[],
  kind: Kind,
  judge: (cell: Cell) => Verdict,
): DetectedShares {
  let entries = 0
  const sums = { signal: 0, fromBlock: 0, fromAsk: 0, flagged: 0 }
  for (const { cell, part } of parts) {
    const verdict = judge(cell)
    entries += part
    if (hasSignal(verdict, kind)) sums.signal += part
    if (verdict.score >= blockScoreMin) sums.fromBlock += part
    if (verdict.score >= askScoreMin) sums.fromAsk += part
    if (verdict.proxy !== undefined) sums.flagged += part
  }
  return {
    signal: wilsonShare(sums.signal, entries),
    fromBlock: wilsonShare(sums.fromBlock, entries),
    fromAsk: wilsonShare(sums.fromAsk, entries),
    flagged: wilsonShare(sums.flagged, entries),
  }
}

/** Whether the verdict has the kind's signal. Which kind a proxy is, the network alone says. */
export function hasSignal({ signals, bot }: Verdict, kind: Kind): boolean {
  if (kind === 'bot') return bot !== undefined
  if (kind === 'blocklist') return signals.blocklist_match
  if (kind === 'proxy' || kind === 'residential_proxy') {
    return signals.proxy || signals.residential_proxy
  }
  return signals[kind]
}
