// What is listed around an address: in its /24 and /20, or its /64 and /48, by walking the table's
// pieces; and in its AS, from the build's sums. IPv4 counts addresses, IPv6 /64s with anything
// listed. Evidence of a range lists it, faded or not; evidence of a whole AS lists nothing.

import type { InsightDensity, InsightScope } from '../../api/insights-answer.ts'
import { formatAddress, formatIpv4 } from '../../ip/format-address.ts'
import { type Kind, kinds, matches } from '../../model/kind.ts'
import * as layout from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { damaged, listPlace } from '../file/table-corrupt.ts'
import { evidenceListPlace } from '../file/evidence-record.ts'
import { newIpv4Starts } from '../lookup/piece-start.ts'
import { ipv6Bucket, ipv6Key, pieceOfIpv4 } from '../lookup/search.ts'

export interface AddressPosition {
  readonly family: 4 | 6
  readonly words: Uint32Array
  readonly network: number
}

const slots = kinds.length + 1

/** Units by kind; `[0]` is the total. */
type Counts = Float64Array

/** Addresses of the /20, keys of the /48; one more piece begins before them. */
const ipv4PiecesMax = 4096
const ipv6KeysMax = 128
/** /64s per key: the first word of its tails. */
const linesOfKey = 2 ** layout.tailTopBits

export function neighborhoodOf(
  views: SectionViews,
  place: AddressPosition,
): readonly InsightScope[] {
  const ofAs = asCounts(views, place)
  const near = place.family === 4 ? ipv4Counts(views, place.words) : ipv6Counts(views, place.words)
  const unit = place.family === 4 ? 'address' : '/64'
  const scopes = near.map(({ scope, counts }) => scopeOf(scope, unit, counts, ofAs))
  if (ofAs === undefined) return scopes
  const asn = views.networks[(place.network - 1) * layout.networkWords] ?? 0
  return [...scopes, scopeOf(`AS${asn}`, unit, ofAs, undefined)]
}

function scopeOf(
  scope: string,
  unit: InsightScope['unit'],
  counts: Counts,
  norm: Counts | undefined,
): InsightScope {
  const size = counts[0] ?? 0
  const listed = kinds.flatMap((kind: Kind, index): InsightDensity[] => {
    const found = counts[index + 1] ?? 0
    if (found === 0) return []
    const usual = norm === undefined ? 0 : (norm[index + 1] ?? 0) / (norm[0] ?? 1)
    const times = usual === 0 ? null : round(found / size / usual, 2)
    return [{ kind, listed: found, percent: round((found / size) * 100, 4), times_asn: times }]
  })
  return { scope, unit, size, listed }
}

function round(value: number, decimals: number): number {
  const scale = 10 ** decimals
  return Math.round(value * scale) / scale
}

function asCounts(views: SectionViews, { family, network }: AddressPosition): Counts | undefined {
  if (network === 0) return undefined
  const { density_lists: lists, density_slots: places, densities } = views
  const first = family === 4 ? 0 : slots
  const counts = new Float64Array(slots)
  const of = { section: 'density_lists', length: densities.length, max: layout.densitySlots }
  const { from, to } = listPlace(lists, network - 1, of)
  for (let at = from; at < to; at++) {
    const slot = places[at]! - first
    if (slot >= 0 && slot < slots) counts[slot] = densities[at]!
  }
  // An AS may be known by its IPv6 only, and the address by the IPv4 inside it.
  return counts[0] === 0 ? undefined : counts
}

function ipv4Counts(views: SectionViews, words: Uint32Array) {
  const value = words[0] ?? 0
  const scopes = [24, 20].map((length) => {
    const size = 2 ** (32 - length)
    const first = Math.floor(value / size) * size
    const counts = new Float64Array(slots)
    return { scope: `${formatIpv4(first)}/${length}`, first, last: first + size - 1, counts }
  })
  const widest = scopes.at(-1)!
  const { ipv4_starts: starts, ipv4_records: records } = views
  const startOf = newIpv4Starts(views)
  const kindMaskOf = newKindMask(views)
  // It may begin before the /20.
  let piece = pieceOfIpv4(views, widest.first)
  const lastPiece = piece + 1 + ipv4PiecesMax
  for (let start = startOf(piece); piece < starts.length && start <= widest.last; piece++) {
    if (piece > lastPiece) throw damaged(starts, 'ipv4_starts', piece, 'the starts do not ascend')
    const mask = kindMaskOf(records[piece]!)
    const end = piece + 1 < starts.length ? startOf(piece + 1) : 2 ** 32
    for (const { first, last, counts } of scopes) {
      const size = Math.min(end - 1, last) - Math.max(start, first) + 1
      if (size <= 0) continue
      for (let slot = 0; slot < slots; slot++) {
        if ((mask >>> slot) & 1) counts[slot]! += size
      }
    }
    start = end
  }
  return scopes
}

function ipv6Counts(views: SectionViews, words: Uint32Array) {
  const line = (words[1] ?? 0) & 0xffff
  const site = Uint32Array.of(words[0] ?? 0, ((words[1] ?? 0) & 0xffff_0000) >>> 0, 0, 0)
  const own = Uint32Array.of(words[0] ?? 0, words[1] ?? 0, 0, 0)
  const scopes = [
    { scope: `${formatAddress(6, own)}/64`, first: line, last: line },
    { scope: `${formatAddress(6, site)}/48`, first: 0, last: 0xffff },
  ].map((one) => ({
    ...one,
    counts: new Float64Array(slots),
    counted: new Int32Array(slots).fill(-1),
  }))
  const kindMaskOf = newKindMask(views)
  walkSite(views, site, (first, last, record) => {
    const mask = kindMaskOf(record)
    for (const scope of scopes) {
      const from = Math.max(first, scope.first)
      const to = Math.min(last, scope.last)
      if (from > to) continue
      for (let slot = 0; slot < slots; slot++) {
        // Several pieces of one /64 are one line.
        const begin = Math.max(from, scope.counted[slot]! + 1)
        if (((mask >>> slot) & 1) === 0 || begin > to) continue
        scope.counts[slot]! += to - begin + 1
        scope.counted[slot] = to
      }
    }
  })
  return scopes
}

/**
 * Visits a /48's pieces in order, with their first and last /64, 0 to 65,535. Bits 0-47 fix the
 * bucket and all but 7 bits of a key; those and 9 bits of the tail number the /64s
 * (src/schema/table-layout.ts).
 */
function walkSite(
  views: SectionViews,
  site: Uint32Array,
  visit: (first: number, last: number, record: number) => void,
): void {
  const { ipv6_keys: keys, ipv6_records: records } = views
  const { ipv6_tail_groups: groups, ipv6_tails: tails, ipv6_tail_records: tailRecords } = views
  const base = ipv6Key(site)
  const { from, to, before } = piecesBelow(views, ipv6Bucket(site), base)
  let piece = before
  let first = 0
  let record = -1
  /** The previous piece ends where this one begins, possibly inside a /64. */
  const begin = (line: number, inside: boolean, next: number): void => {
    const last = inside ? line : line - 1
    if (record >= 0 && last >= first) visit(first, last, record)
    first = line
    record = next
  }
  const lastPiece = piece + ipv6KeysMax
  let tailsLeft = tailRecords.length
  for (; piece < to && (piece < from || keys[piece]! < base + ipv6KeysMax); piece++) {
    if (piece > lastPiece) throw damaged(keys, 'ipv6_keys', piece, 'the keys do not ascend')
    const line = piece < from ? -1 : (keys[piece]! - base) * linesOfKey
    const entry = records[piece]!
    if (entry < layout.tailGroupFlag) {
      begin(Math.max(0, line), false, entry)
      continue
    }
    const group = entry - layout.tailGroupFlag
    // Each tail belongs to one group.
    tailsLeft -= groups[group + 1]! - groups[group]!
    if (!(tailsLeft >= 0)) throw damaged(groups, 'ipv6_tail_groups', group, 'a group has no end')
    for (let at = groups[group]!; at < groups[group + 1]!; at++) {
      const tail = at * layout.tailWords
      const inside = tails[tail + 1] !== 0 || tails[tail + 2] !== 0
      // Only the end of a group before the /48 counts.
      if (line < 0) begin(0, false, tailRecords[at]!)
      else begin(line + tails[tail]!, inside, tailRecords[at]!)
    }
  }
  if (record >= 0) visit(first, 0xffff, record)
}

/** The pieces of a bucket, [from, to), and the last one at or below `key`. */
function piecesBelow(
  { ipv6_index: index, ipv6_keys: keys }: SectionViews,
  bucket: number,
  key: number,
) {
  // Bounded for unverified tables, where sums could wrap.
  const to = Math.min(index[bucket + 1]!, keys.length)
  const from = Math.min(index[bucket]!, to)
  let low = from - 1
  let high = to - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (keys[middle]! <= key) low = middle
    else high = middle - 1
  }
  return { from, to, before: Math.max(0, low) }
}

/** Cached: a table may have many pieces with such a list. */
const longList = 64

/** Bit 0 is always set; bit n + 1: evidence of kind n lists the record. */
function newKindMask(views: SectionViews): (record: number) => number {
  const ofLong = new Map<number, number>()
  return (record) => {
    const list = views.records[record * layout.recordWords + 3] ?? 0
    const { from, to } = evidenceListPlace(views, list)
    const isLong = to - from > longList
    const known = isLong ? ofLong.get(list) : undefined
    if (known !== undefined) return known
    let mask = 1
    for (let at = from; at < to; at++) {
      const head = views.evidence[views.evidence_ids[at]! * layout.evidenceWords]!
      // Neighbourhoods list nothing.
      if (matches[(head >>> 20) & 3] !== 'near') mask |= 2 << ((head >>> 16) & 15)
    }
    if (isLong) ofLong.set(list, mask)
    return mask
  }
}
