// How many addresses the evidence names: by kind, by kind in the newest snapshots of feeds alone,
// and of each feed those that no other feed of its kind lists. IPv6 is counted in /64s (a
// customer's line), as addresses would say nothing.

import type { Day } from '../../src/base/day.ts'
import { type Kind, kinds } from '../../src/model/kind.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { type Layer, type Layers, wordsPerStart } from '../layer/layer.ts'

export interface ListedAddresses {
  /** IPv4 addresses and IPv6 /64s (rounded up) for which there is evidence of that kind. */
  readonly byKind: Readonly<Record<Kind, { readonly ipv4: number; readonly ipv6_64s: number }>>
  /**
   * IPv4 addresses in the newest snapshots of feeds: without hand-kept tables, and without what
   * feeds no longer list, which fades for weeks and would hide that a feed has lost half of it.
   */
  readonly newestIpv4: Readonly<Record<Kind, number>>
  /** By source index: IPv4 addresses that no other source of the same kind lists. */
  readonly aloneIpv4: ReadonlyMap<number, number>
}

/** `newestDays`: by source index, from which day on a statement is of its newest snapshot. */
export function listedAddresses(of: {
  readonly layers: Layers
  readonly lists: readonly (readonly number[])[]
  readonly book: EvidenceBook
  readonly newestDays: ReadonlyMap<number, Day>
}): ListedAddresses {
  const { layers, lists, book, newestDays } = of
  const byKind = Object.fromEntries(
    kinds.map((kind) => [kind, { ipv4: 0, ipv6_64s: 0 }]),
  ) as Record<Kind, { ipv4: number; ipv6_64s: number }>
  const newestIpv4 = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
  const aloneIpv4 = new Map<number, number>()
  for (const family of [4, 6] as const) {
    const layer = layers[family]
    for (let piece = 0; piece < layer.count; piece++) {
      const list = lists[layer.values[piece]! - 1]
      if (list === undefined) continue
      if (family === 4) {
        for (const kind of newestKinds(list, book, newestDays)) {
          newestIpv4[kind] += sizeIpv4(layer, piece)
        }
      }
      const size = family === 4 ? sizeIpv4(layer, piece) : size64s(layer, piece)
      for (const [kind, sources] of sourcesByKind(list, book)) {
        byKind[kind][family === 4 ? 'ipv4' : 'ipv6_64s'] += size
        const only = sources.size === 1 ? [...sources][0] : undefined
        if (family === 4 && only !== undefined) {
          aloneIpv4.set(only, (aloneIpv4.get(only) ?? 0) + size)
        }
      }
    }
  }
  for (const kind of kinds) byKind[kind].ipv6_64s = Math.ceil(byKind[kind].ipv6_64s)
  return { byKind, newestIpv4, aloneIpv4 }
}

/** The kinds of which the newest snapshot of some feed lists the piece. */
function newestKinds(
  list: readonly number[],
  book: EvidenceBook,
  newestDays: ReadonlyMap<number, Day>,
): ReadonlySet<Kind> {
  const found = new Set<Kind>()
  for (const id of list) {
    const { evidence, source } = book.at(id)
    if (evidence.match === 'near') continue
    if (evidence.lastSeen >= (newestDays.get(source) ?? Infinity)) found.add(evidence.kind)
  }
  return found
}

function sourcesByKind(list: readonly number[], book: EvidenceBook): Map<Kind, Set<number>> {
  const found = new Map<Kind, Set<number>>()
  for (const id of list) {
    const { evidence, source } = book.at(id)
    // What neighbours say lists nothing.
    if (evidence.match === 'near') continue
    const sources = found.get(evidence.kind) ?? new Set()
    found.set(evidence.kind, sources.add(source))
  }
  return found
}

function sizeIpv4(layer: Layer, piece: number): number {
  return (layer.starts[piece + 1] ?? 2 ** 32) - layer.starts[piece]!
}

/** Size in /64s; a piece inside one /64 is a fraction of it. */
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
