// Leave out the last days: of the entries that feeds with a history began to list within them, what
// did the world before say already? Three answers, each beside what it would cost to believe it:
//
//   other feeds   the kind's signal, or a score that operators act on, as of the day before
//   neighbours    another address of the /24 was listed, of the same kind (IPv4)
//   network       another address of the AS was listed, of the same kind
//
// And of all that those feeds list today, what did the world before say? That shows how well a table
// of that age still answers.
//
// Snapshots that are newer than the day before and fade (no history of them) are left out of that
// world: they would know the answer. Of those that do not fade (hosters, relays, bots, ASes) there
// is one day only; `strict` leaves out all of them but ASes, who are no answer to any question here.

import type { Day } from '../../../src/base/day.ts'
import { type Family, newAddressWords } from '../../../src/ip/address.ts'
import { type Range, bigintToWords } from '../../../src/ip/range.ts'
import type { Kind } from '../../../src/model/kind.ts'
import { halfLifeDays } from '../../../src/score/weight/decay.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { type History, readHistory } from '../../../build/history/read-history.ts'
import { valueAt } from '../../../build/layer/layer.ts'
import { type DetectedShares, type Part, detectedShares, hasSignal } from './leave-one-out.ts'
import type { MeasuredInput } from '../world/measured-input.ts'
import { blockScoreMin } from '../world/address-space.ts'
import { newCellJudge } from '../world/cell-verdicts.ts'
import { type WilsonShare, wilsonShare } from '../../../src/feedback/wilson-share.ts'
import { type Cell, type WorldNetworks, type World, newWorld } from '../world/cells.ts'

export interface RecentRow {
  readonly feed: string
  readonly kind: Kind
  /** Entries first listed within the last days. */
  readonly begun: number
  readonly signal: WilsonShare
  readonly fromBlock: WilsonShare
  /** `proxy` is not null: anything of VPN, Tor, proxy or hosting. */
  readonly flagged: WilsonShare
  /** Of the IPv4 entries. */
  readonly neighbour: WilsonShare
  readonly network: WilsonShare
  /** Share of the announced IPv4 space in such /24s and ASes: chance alone finds so much. */
  readonly neighbourSpace: number
  readonly networkSpace: number
  /** New entries within those /24s for each thousand of their addresses. */
  readonly perThousand: number
}

/** What a world says of all that a feed listed on a day. */
export interface ListedRow extends DetectedShares {
  readonly feed: string
  readonly kind: Kind
  readonly family: Family
  readonly listed: number
}

export interface RecentEvaluation {
  readonly asOf: Day
  readonly before: Day
  /** Feeds that were left out of the world before, because they have no history. */
  readonly leftOut: readonly string[]
  readonly rows: readonly RecentRow[]
  readonly listed: readonly ListedRow[]
}

export async function leaveLastDaysOut(
  input: MeasuredInput & { readonly history: string },
  land: WorldNetworks,
  { days, strict }: { readonly days: number; readonly strict: boolean },
): Promise<RecentEvaluation> {
  const before = (input.asOf - days) as Day
  const feeds = [...new Set(input.files.map(({ feed }) => feed))]
  const now = await readHistory({ store: input.history, feeds, asOf: input.asOf })
  const past = await readHistory({ store: input.history, feeds, asOf: before })
  const leftOut: string[] = []
  const files = input.files.map((file) => {
    const { feed, day } = file
    if (past.of(feed.id) !== undefined) return { ...file, entries: [] }
    const stays = feed.kind === 'network' || (!strict && halfLifeDays[feed.kind] === undefined)
    if (stays || day <= before) return file
    if (!leftOut.includes(feed.id)) leftOut.push(feed.id)
    return { ...file, entries: [] }
  })
  const world = newWorld({ land, files, tables: input.tables, asOf: before, history: past })
  const rows = feeds.flatMap((feed) => {
    const history = now.of(feed.id)
    if (history === undefined || past.of(feed.id) === undefined || feed.kind === 'network')
      return []
    const begun: Range[] = []
    for (const { range, seen } of history.lapsed()) if (seen.firstSeen > before) begun.push(range)
    return begun.length === 0 ? [] : [rowOf(world, feed, begun)]
  })
  const listed = listedRows(world, { feeds, history: now, asOf: input.asOf, day: input.asOf })
  return { asOf: input.asOf, before, leftOut, rows, listed }
}

/** Feeds that the history knows on that day; a range is told by its first address. */
export function listedRows(
  world: World,
  of: {
    readonly feeds: readonly Feed[]
    /** Of which no range was marked; as of `asOf`. */
    readonly history: History
    readonly asOf: Day
    readonly day: Day
  },
): readonly ListedRow[] {
  const judge = newCellJudge(world)
  return of.feeds.flatMap((feed) => {
    const found = of.history.of(feed.id)
    const { kind } = feed
    if (found?.days.includes(of.day) !== true || kind === 'network') return []
    const bit = (1 << (of.asOf - of.day)) >>> 0
    const cells = { 4: [] as Part[], 6: [] as Part[] }
    for (const { range, seen } of found.lapsed()) {
      if ((seen.listed & bit) === 0) continue
      cells[range.family].push({ cell: cellAt(world, range), part: 1 })
    }
    return ([4, 6] as const)
      .filter((family) => cells[family].length > 0)
      .map((family): ListedRow => {
        const shares = detectedShares(cells[family], kind, judge)
        return { feed: feed.id, kind, family, listed: cells[family].length, ...shares }
      })
  })
}

const at = newAddressWords()

function cellAt(world: World, { family, first }: Range): Cell {
  bigintToWords(family, first, at)
  const network = valueAt(world.networkLayers[family], at)
  return { family, network, list: valueAt(world.evidenceLayers[family], at), size: 1 }
}

function rowOf(world: World, feed: Feed, begun: readonly Range[]): RecentRow {
  const kind = feed.kind as Kind
  const judge = newCellJudge(world)
  const near = neighbourhoods(world, kind)
  const sums = { signal: 0, fromBlock: 0, flagged: 0, neighbour: 0, network: 0, ipv4: 0 }
  for (const range of begun) {
    const { family, first } = range
    const cell = cellAt(world, range)
    const verdict = judge(cell)
    if (hasSignal(verdict, kind)) sums.signal++
    if (verdict.score >= blockScoreMin) sums.fromBlock++
    if (verdict.proxy !== undefined) sums.flagged++
    if (family === 6) continue
    sums.ipv4++
    if (near.prefixes.has(Number(first >> 8n))) sums.neighbour++
    if (near.asns.has(world.networks[cell.network - 1]?.asn ?? 0)) sums.network++
  }
  return {
    feed: feed.id,
    kind,
    begun: begun.length,
    signal: wilsonShare(sums.signal, begun.length),
    fromBlock: wilsonShare(sums.fromBlock, begun.length),
    flagged: wilsonShare(sums.flagged, begun.length),
    neighbour: wilsonShare(sums.neighbour, sums.ipv4),
    network: wilsonShare(sums.network, sums.ipv4),
    neighbourSpace: (near.prefixes.size * 256) / near.announced,
    networkSpace: near.asSize / near.announced,
    perThousand: (1000 * sums.neighbour) / Math.max(1, near.prefixes.size * 256),
  }
}

/** /24s and ASes in which an address, or a range no wider than a /24, of the kind is listed. */
function neighbourhoods(world: World, kind: Kind) {
  const prefixes = new Set<number>()
  const asns = new Set<number>()
  const sizes = new Map<number, number>()
  let announced = 0
  for (const { family, network, list, size } of world.cells) {
    if (family !== 4 || network === 0) continue
    const asn = world.networks[network - 1]?.asn ?? 0
    announced += size
    sizes.set(asn, (sizes.get(asn) ?? 0) + size)
    for (const id of world.lists.lists[list - 1] ?? []) {
      const { evidence, range } = world.book.at(id)
      if (
        evidence.match === 'near' ||
        evidence.kind !== kind ||
        range === undefined ||
        range.last - range.first > 255n
      )
        continue
      asns.add(asn)
      prefixes.add(Number(range.first >> 8n))
    }
  }
  let asSize = 0
  for (const asn of asns) asSize += sizes.get(asn) ?? 0
  return { prefixes, asns, announced, asSize }
}
