// Hand-kept tables of operators' own space as parsed files: prefixes of Tor operators and of
// networks that rent servers, ASes and prefixes of VPN services. A row counts while its owner
// announces the space; otherwise it is dropped and reported, because the owner may have changed.
// The owner is known by the prefix's AS; for a whole AS, by its organization, since AS numbers
// change hands too.

import type { Day } from '../../src/base/day.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { type Range, bigintToWords, formatRange, parseRange } from '../../src/ip/range.ts'
import type { Network } from '../../src/model/network.ts'
import { type Feed, whyInadmissible } from '../catalogue/feed.ts'
import { type Layer, type Layers, pieceOf, startOf } from '../layer/layer.ts'
import type {
  AnnouncedPrefixRow,
  NetworkTables,
  PrefixRow,
  VpnOperatorRow,
} from '../networks/network-tables.ts'
import { isOwnedBy } from '../networks/network-type.ts'
import type { Entry } from '../parse/entry.ts'
import { type ParseCounts, countDrop, newParseCounts } from '../parse/parse-counts.ts'
import { hostersFeed, torOperatorsFeed, vpnOperatorsFeed } from './builtin-feeds.ts'
import type { CoverageByKind } from './kind-coverage.ts'
import { parseAsn } from './normalise.ts'
import type { ParsedSnapshot } from './read-snapshots.ts'

/** Who announces the space: value n is network n - 1, 0 is none. */
interface AnnouncedSpace<N = Announcer> {
  readonly networks: readonly N[]
  readonly layers: Layers
}

/** Files of the build's day, on which their rows were checked. */
export function operatorsFiles(
  tables: Pick<NetworkTables, 'torOperators' | 'vpnOperators' | 'hostingPrefixes'>,
  from: {
    readonly space: AnnouncedSpace
    readonly asOf: Day
    /** A fresh Tor consensus names the exits itself. */
    readonly byFeeds: Pick<CoverageByKind, 'tor'>
  },
): readonly [ParsedSnapshot, ParsedSnapshot, ParsedSnapshot] {
  const torFeed = torOperatorsFeed(from.byFeeds.tor.state === 'full')
  return [
    prefixesFile(torFeed, tables.torOperators, from),
    vpnOperatorsFile(tables.vpnOperators, from),
    prefixesFile(hostersFeed, tables.hostingPrefixes, from),
  ]
}

function prefixesFile(
  feed: Feed,
  rows: readonly AnnouncedPrefixRow[],
  { space, asOf }: { readonly space: AnnouncedSpace; readonly asOf: Day },
): ParsedSnapshot {
  const table = feed.kind === 'tor' ? 'tor-operators' : 'hosting-prefixes'
  const tally = newParseCounts(`data/tables/${table}.csv`)
  const entries = rows.flatMap(({ range, asn, name }) => {
    const strangers = piecesOf(range, space).filter(({ network }) => network?.asn !== asn)
    if (strangers.length === 0) return [entryOf(range, name)]
    return drop(tally, { name, what: formatRange(range), by: strangers[0]?.network })
  })
  return fileOf(feed, { tally, entries, asOf })
}

function vpnOperatorsFile(
  rows: readonly VpnOperatorRow[],
  { space, asOf }: { readonly space: AnnouncedSpace; readonly asOf: Day },
): ParsedSnapshot {
  const tally = newParseCounts('data/tables/vpn-operators.csv')
  const byAsn = piecesByAsn(new Set(rows.flatMap(({ asn }) => asn ?? [])), space)
  const entries = rows.flatMap(({ range, asn = 0, owner, name }) => {
    const all = range === undefined ? (byAsn.get(asn) ?? []) : piecesOf(range, space)
    // Most of an IPv6 prefix is not announced yet.
    const pieces = all.filter(({ network }) => network !== undefined)
    const stranger = pieces.find(({ network }) => !isOwnedBy(network?.organization ?? '', owner))
    if (pieces.length > 0 && stranger === undefined) {
      return joined(pieces).map((one) => entryOf(one, name))
    }
    const what = range === undefined ? `AS${asn}` : formatRange(range)
    return drop(tally, { name, what, by: stranger?.network })
  })
  return fileOf(vpnOperatorsFeed, { tally, entries, asOf })
}

/** Replaces ASes in blocklists with the ranges that they announce. */
export function announcedRanges(files: readonly ParsedSnapshot[], space: AnnouncedSpace) {
  return files.map((file) => {
    const asnOf = ({ text, range }: Entry) => (range === undefined ? parseAsn(text) : undefined)
    const asns =
      file.feed.kind === 'blocklist' ? file.entries.flatMap((one) => asnOf(one) ?? []) : []
    if (asns.length === 0) return file
    const byAsn = piecesByAsn(new Set(asns), space)
    const entries = file.entries.flatMap((entry): readonly Entry[] => {
      const asn = asnOf(entry)
      if (asn === undefined) return [entry]
      const ranges = joined(byAsn.get(asn) ?? [])
      return ranges.map((range) => ({ text: formatRange(range), place: entry.place, range }))
    })
    return { ...file, entries }
  })
}

type Announcer = Pick<Network, 'asn' | 'organization'>

interface Piece<N = Announcer> extends Range {
  readonly network: N | undefined
}

function entryOf(range: Range, name: string): Entry {
  return { text: formatRange(range), place: name, provider: name }
}

/** `by`: the other announcer, if any. */
function drop(
  tally: ParseCounts,
  row: { readonly name: string; readonly what: string; readonly by: Announcer | undefined },
): readonly Entry[] {
  const { name, what, by } = row
  const sample = by === undefined ? what : `${what} by AS${by.asn} ${by.organization}`.trim()
  const reason = by === undefined ? 'no longer announced' : 'announced by another owner'
  countDrop(tally, { reason, place: name, sample })
  return []
}

function fileOf(
  feed: Feed,
  from: { readonly tally: ParseCounts; readonly entries: readonly Entry[]; readonly asOf: Day },
): ParsedSnapshot {
  const { tally, entries, asOf } = from
  tally.entryCount = entries.length + tally.dropCount
  return { feed, tally, entries, day: asOf, problem: undefined }
}

export function piecesOf<N>(range: Range, space: AnnouncedSpace<N>): readonly Piece<N>[] {
  const { family, first, last } = range
  const layer = space.layers[family]
  const found: Piece<N>[] = []
  const words = newAddressWords()
  bigintToWords(family, first, words)
  for (let index = pieceOf(layer, words); index < layer.count; index++) {
    const piece = pieceAt(layer, index, space)
    if (piece.first > last) break
    const from = piece.first < first ? first : piece.first
    found.push({ ...piece, first: from, last: piece.last > last ? last : piece.last })
  }
  return found
}

function piecesByAsn(asns: ReadonlySet<number>, space: AnnouncedSpace) {
  const found = new Map<number, Piece[]>()
  for (const layer of Object.values(space.layers)) {
    for (let index = 0; index < layer.count; index++) {
      const asn = space.networks[layer.values[index]! - 1]?.asn ?? 0
      if (!asns.has(asn)) continue
      const own = found.get(asn) ?? []
      found.set(asn, own)
      own.push(pieceAt(layer, index, space))
    }
  }
  return found
}

/** Merges adjacent pieces. */
function joined(pieces: readonly Piece[]): readonly Range[] {
  const ranges: Range[] = []
  for (const { family, first, last } of pieces) {
    const before = ranges.at(-1)
    const touches = before?.family === family && before.last + 1n === first
    if (touches) ranges[ranges.length - 1] = { family, first: before.first, last }
    else ranges.push({ family, first, last })
  }
  return ranges
}

function pieceAt<N>(layer: Layer, index: number, { networks }: AnnouncedSpace<N>): Piece<N> {
  const { family, values } = layer
  const last = startOf(layer, index + 1) - 1n
  return { family, first: startOf(layer, index), last, network: networks[values[index]! - 1] }
}

// Corporate egress prefixes, by hand and from feeds of kind `network` (label `corporate`): where a
// corporate security service's staff come out. Each is a network, not evidence.
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
