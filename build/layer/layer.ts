// A layer: one family's whole address space cut into disjoint, sorted pieces, each with one value.
// Places, networks and evidence each become two layers (IPv4, IPv6); `overlayTwoLayers` lays them
// over each other. Gaps are pieces with value 0, so no piece needs an end: it reaches to the next
// start. (Pairs and records, which number what lies over each other, begin with 0 and have no gaps.)

import { type Family, compareWords } from '../../src/ip/address.ts'

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

/** One of each family. */
export type Layers = Readonly<Record<Family, Layer>>

/**
 * The value at an address (words as parsed). Plain binary search; for the build, not the hot path.
 */
export function valueAt(layer: Layer, words: Uint32Array): number {
  const stride = wordsPerStart(layer.family)
  let low = 0
  let high = layer.count - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (compareWords(layer.starts, middle * stride, words, 0, stride) <= 0) low = middle
    else high = middle - 1
  }
  return layer.values[low]!
}

/**
 * Negative where piece `pieceA` of `a` starts before piece `pieceB` of `b`, 0 where both start at one
 * address. The piece behind the last one starts behind all others.
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
