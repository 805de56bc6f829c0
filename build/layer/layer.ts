// A layer: one family's address space cut into disjoint, sorted pieces with one value each. Places,
// networks and evidence are two layers each (IPv4, IPv6), combined by `overlayTwoLayers`. Gaps are
// pieces with value 0, so a piece ends at the next start.

import { type Family, compareWords } from '../../src/ip/address.ts'
import { maxAddress, wordsToBigint } from '../../src/ip/range.ts'
import { inLargePages } from '../../src/base/system/memory-map.ts'

/** 32-bit words per address, most significant first. */
export const wordsPerStart = (family: Family): 1 | 4 => (family === 4 ? 1 : 4)

/** `starts` ascend strictly from address 0; neighbours differ in value. */
export interface Layer {
  readonly family: Family
  readonly count: number
  readonly starts: Uint32Array
  /** 0 is "nothing here"; ids start at 1. In layers of pairs and records, numbers start at 0. */
  readonly values: Uint32Array
}

export type Layers = Readonly<Record<Family, Layer>>

export const valueAt = (layer: Layer, words: Uint32Array): number =>
  layer.values[pieceOf(layer, words)]!

/** The piece that contains an address. For the build, not the hot path. */
export function pieceOf(layer: Layer, words: Uint32Array): number {
  const stride = wordsPerStart(layer.family)
  let low = 0
  let high = layer.count - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (compareWords(layer.starts, middle * stride, words, 0, stride) <= 0) low = middle
    else high = middle - 1
  }
  return low
}

/** After the last piece, the end of the space. */
export function startOf({ family, count, starts }: Layer, piece: number): bigint {
  if (piece === count) return maxAddress(family) + 1n
  const stride = wordsPerStart(family)
  return wordsToBigint(family, starts.subarray(piece * stride, (piece + 1) * stride))
}

/** Orders pieces by start address; the piece after the last one sorts last. */
export function compareStarts(a: Layer, pieceA: number, b: Layer, pieceB: number): number {
  if (pieceA === a.count) return pieceB === b.count ? 0 : 1
  if (pieceB === b.count) return -1
  if (a.family === 4) return a.starts[pieceA]! - b.starts[pieceB]!
  return compareWords(a.starts, pieceA * 4, b.starts, pieceB * 4, 4)
}

/** Replaces each value in place by its entry in `numbers`, which must be distinct. */
export function renumber(layers: readonly Layer[], numbers: Uint32Array): void {
  for (const { values } of layers) {
    for (let piece = 0; piece < values.length; piece++) values[piece] = numbers[values[piece]!]!
  }
}

export type LayerPieces = ReturnType<typeof newLayerPieces>

/**
 * Collects pieces in address order and merges equal neighbours. Pass a capacity if known: unused
 * memory costs nothing.
 */
export function newLayerPieces(family: Family, capacity = 1 << 12) {
  const words = wordsPerStart(family)
  let starts: Uint32Array = inLargePages(new Uint32Array(capacity * words))
  let values: Uint32Array = inLargePages(new Uint32Array(capacity))
  let count = 0
  let lastValue = -1

  const larger = (array: Uint32Array, length: number): Uint32Array => {
    const more = inLargePages(new Uint32Array(length))
    more.set(array)
    return more
  }

  /** `start` holds the address from word `from`. Pieces must ascend from address 0. */
  const add = (start: Uint32Array, value: number, from = 0): void => {
    if (value === lastValue) return
    if (count === values.length) {
      values = larger(values, Math.ceil(count * 1.5))
      starts = larger(starts, values.length * words)
    }
    if (words === 1) {
      starts[count] = start[from]!
    } else {
      const at = count * 4
      starts[at] = start[from]!
      starts[at + 1] = start[from + 1]!
      starts[at + 2] = start[from + 2]!
      starts[at + 3] = start[from + 3]!
    }
    values[count] = value
    count++
    lastValue = value
  }

  /** A view: later additions do not change it. */
  const layer = (): Layer => ({
    family,
    count,
    starts: starts.subarray(0, count * words),
    values: values.subarray(0, count),
  })
  return { add, layer }
}

export const isEmpty = ({ count, values }: Layer): boolean => count === 1 && values[0] === 0

export const emptyLayer = (family: Family): Layer => ({
  family,
  count: 1,
  starts: new Uint32Array(wordsPerStart(family)),
  values: new Uint32Array(1),
})
