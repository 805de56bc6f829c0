// Counts the addresses with evidence: by kind, by kind in the newest snapshots alone, and by feed
// those that no other feed of its kind lists. IPv6 is counted in /64s (a customer's line).

import { addTo } from '../../src/base/counts.ts'
import type { Day } from '../../src/base/day.ts'
import { type Kind, kinds } from '../../src/model/kind.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { type Layer, type Layers, wordsPerStart } from '../layer/layer.ts'

export type ListedAddresses = ReturnType<typeof listedAddresses>

/** `newestDays`: by source index, the day from which a statement is in its newest snapshot. */
export function listedAddresses(of: {
  readonly layers: Layers
  readonly lists: readonly (readonly number[])[]
  readonly book: EvidenceBook
  readonly newestDays: ReadonlyMap<number, Day>
}) {
  const { layers, lists, book, newestDays } = of
  const perKind = <T>(none: () => T): Record<Kind, T> =>
    Object.fromEntries(kinds.map((kind) => [kind, none()])) as Record<Kind, T>
  const byKind = perKind(() => ({ ipv4: 0, ipv6_64s: 0 }))
  const newestIpv4 = perKind(() => 0)
  const aloneIpv4 = new Map<number, number>()
  for (const family of [4, 6] as const) {
    const layer = layers[family]
    for (let piece = 0; piece < layer.count; piece++) {
      const list = lists[layer.values[piece]! - 1]
      if (list === undefined) continue
      const size = family === 4 ? sizeIpv4(layer, piece) : size64s(layer, piece)
      for (const [kind, { sources, isNewest }] of listingsByKind(list, book, newestDays)) {
        byKind[kind][family === 4 ? 'ipv4' : 'ipv6_64s'] += size
        if (family === 6) continue
        if (isNewest) newestIpv4[kind] += size
        const [only = -1] = sources
        if (sources.size === 1) addTo(aloneIpv4, only, size)
      }
    }
  }
  for (const kind of kinds) byKind[kind].ipv6_64s = Math.ceil(byKind[kind].ipv6_64s)
  return {
    /** IPv6 /64s are rounded up. */
    byKind,
    /**
     * IPv4 addresses in the newest snapshots of feeds, without hand-kept tables and without lapsed
     * evidence, which would hide for weeks that a feed has lost half of it.
     */
    newestIpv4,
    aloneIpv4: aloneIpv4 as ReadonlyMap<number, number>,
  }
}

function listingsByKind(
  list: readonly number[],
  book: EvidenceBook,
  newestDays: ReadonlyMap<number, Day>,
) {
  const found = new Map<Kind, { readonly sources: Set<number>; isNewest: boolean }>()
  for (const id of list) {
    const { evidence, source } = book.at(id)
    // Neighbourhoods list nothing.
    if (evidence.match === 'near') continue
    const listing = found.get(evidence.kind) ?? { sources: new Set(), isNewest: false }
    found.set(evidence.kind, listing)
    listing.sources.add(source)
    listing.isNewest ||= evidence.lastSeen >= (newestDays.get(source) ?? Infinity)
  }
  return found
}

const sizeIpv4 = (layer: Layer, piece: number): number =>
  (layer.starts[piece + 1] ?? 2 ** 32) - layer.starts[piece]!

function size64s(layer: Layer, piece: number): number {
  const from = ends64(layer, piece)
  const to = piece + 1 < layer.count ? ends64(layer, piece + 1) : { whole: 1n << 64n, part: 0 }
  return Number(to.whole - from.whole) + (to.part - from.part)
}

function ends64(layer: Layer, piece: number): { readonly whole: bigint; readonly part: number } {
  const at = piece * wordsPerStart(6)
  const [a = 0, b = 0, c = 0, d = 0] = layer.starts.subarray(at, at + 4)
  return { whole: (BigInt(a) << 32n) | BigInt(b), part: c / 2 ** 32 + d / 2 ** 64 }
}
