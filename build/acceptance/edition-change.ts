// How much two editions of a data set differ: of one family, the share of the addresses, and of the
// pieces, that the earlier edition says something of and the later one says otherwise or nothing.
// What only the later one knows is no change. Pure.
//
//   earlier   │   NO    │  SE   │ nothing │
//   later     │   NO  │    SE   │   FI    │
//   changed           ├─┤

import { type Layer, wordsPerStart } from '../layer/layer.ts'

export interface EditionChange {
  /** Weighted by addresses; of IPv6 by /64s, to within a /53. 0 to 1. */
  readonly ofAddresses: number
  /** By the first address of each piece of the earlier edition. 0 to 1. */
  readonly ofEntries: number
}

/** The values of both layers are of one numbering; 0 is "nothing here". */
export function editionChange(earlier: Layer, later: Layer): EditionChange {
  const end = earlier.family === 4 ? 2 ** 32 : 2 ** 64
  const addresses = { all: 0, changed: 0 }
  const entries = { all: 0, changed: 0 }
  let other = 0
  for (let piece = 0; piece < earlier.count; piece++) {
    const value = earlier.values[piece]!
    const stop = piece + 1 === earlier.count ? end : startAt(earlier, piece + 1)
    let at = startAt(earlier, piece)
    while (other + 1 < later.count && startAt(later, other + 1) <= at) other++
    if (value === 0) continue
    entries.all++
    if (later.values[other]! !== value) entries.changed++
    while (at < stop) {
      const next = other + 1 === later.count ? end : startAt(later, other + 1)
      const size = Math.min(next, stop) - at
      addresses.all += size
      if (later.values[other]! !== value) addresses.changed += size
      at += size
      if (next <= stop && other + 1 < later.count) other++
    }
  }
  return { ofAddresses: share(addresses), ofEntries: share(entries) }
}

/** The start of a piece: an IPv4 address, or the number of an IPv6 /64. */
function startAt(layer: Layer, piece: number): number {
  const at = piece * wordsPerStart(layer.family)
  return layer.family === 4
    ? layer.starts[at]!
    : layer.starts[at]! * 2 ** 32 + layer.starts[at + 1]!
}

function share({ all, changed }: { readonly all: number; readonly changed: number }): number {
  return all === 0 ? 0 : changed / all
}
