// A layer: one family's whole address space cut into disjoint, sorted pieces, each with one value.
// Places, networks and evidence each become two layers (IPv4, IPv6); `overlayTwoLayers` lays them
// over each other. Gaps are pieces with value 0, so no piece needs an end: it reaches to the next
// start. (Pairs and records, which number what lies over each other, begin with 0 and have no
// gaps.)

import { type Family, compareWords } from '../../src/ip/address.ts'
import { maxAddress, wordsToBigint } from '../../src/ip/range.ts'
import { inLargePages } from '../../src/base/system/memory-map.ts'

/** 32-bit words of one start address: 1 for IPv4, 4 (most significant first) for IPv6. */
export function wordsPerStart(family: Family): 1 | 4 {
  return family === 4 ? 1 : 4
}

/**
 * Invariants: `starts` ascend strictly and begin with address 0; neighbours differ in value;
 * `starts.length === count * wordsPerStart(family)`, `values.length === count`.
 */
export interface Layer {
  readonly family: Family
  readonly count: number
  readonly starts: Uint32Array
  /** 0 is "nothing here"; else an id that starts at 1. Of pairs and records numbers from 0. */
  readonly values: Uint32Array
}

export type Layers = Readonly<Record<Family, Layer>>

export function valueAt(layer: Layer, words: Uint32Array): number {
  return layer.values[pieceOf(layer, words)]!
}

/** The piece that holds an address (words as parsed). For the build, not the hot path. */
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

/** The first address of a piece; behind the last one, the end of the space. */
export function startOf({ family, count, starts }: Layer, piece: number): bigint {
  if (piece === count) return maxAddress(family) + 1n
  const stride = wordsPerStart(family)
  return wordsToBigint(family, starts.subarray(piece * stride, (piece + 1) * stride))
}

/**
 * Negative where piece `pieceA` of `a` starts before piece `pieceB` of `b`, 0 where both start at
 * one address. The piece behind the last one starts behind all others.
 */
export function compareStarts(a: Layer, pieceA: number, b: Layer, pieceB: number): number {
  if (pieceA === a.count) return pieceB === b.count ? 0 : 1
  if (pieceB === b.count) return -1
  if (a.family === 4) return a.starts[pieceA]! - b.starts[pieceB]!
  return compareWords(a.starts, pieceA * 4, b.starts, pieceB * 4, 4)
}

/**
 * Changes the value of every piece, in place, to what `numbers` has for it: another for each value,
 * so that neighbours keep their difference.
 */
export function renumber(layers: readonly Layer[], numbers: Uint32Array): void {
  for (const { values } of layers) {
    for (let piece = 0; piece < values.length; piece++) values[piece] = numbers[values[piece]!]!
  }
}

export type LayerPieces = ReturnType<typeof newLayerPieces>

/**
 * Collects pieces in address order; neighbours of equal value become one. Who knows how many there
 * can be at most says so: memory that is not filled costs none.
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

  /**
   * A piece that begins at the address in `start`, whose first word lies at `from`. Pieces must
   * ascend, the first must be 0.
   */
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

  /** Of all pieces so far, not copied; what is added later does not change it. */
  const layer = (): Layer => ({
    family,
    count,
    starts: starts.subarray(0, count * words),
    values: values.subarray(0, count),
  })
  return { add, layer }
}

export function isEmpty({ count, values }: Layer): boolean {
  return count === 1 && values[0] === 0
}

export function emptyLayer(family: Family): Layer {
  return {
    family,
    count: 1,
    starts: new Uint32Array(wordsPerStart(family)),
    values: new Uint32Array(1),
  }
}
