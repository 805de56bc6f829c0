// How many addresses a piece or range holds, as a double: exact for IPv4 and for every power of
// two, else to 53 bits, which no share that is printed can tell. Not for keys or comparisons.

import type { Family } from '../../../src/ip/address.ts'
import type { Range } from '../../../src/ip/range.ts'
import { type Layer, wordsPerStart } from '../../../build/layer/layer.ts'

export const spaceSize: Readonly<Record<Family, number>> = { 4: 2 ** 32, 6: 2 ** 128 }

/** IPv6 is told in /64s, a customer's line each: addresses would say nothing. */
export const sizeOf64 = 2 ** 64

/** Addresses from the start of piece `piece` to the start of the next, or the end of the space. */
export function pieceSize(layer: Layer, piece: number): number {
  const stride = wordsPerStart(layer.family)
  const at = piece * stride
  const isLast = piece + 1 >= layer.count
  let size = isLast ? spaceSize[layer.family] : 0
  // Word by word, so that starts that agree in their high words subtract exactly.
  for (let word = 0; word < stride; word++) {
    const next = isLast ? 0 : layer.starts[at + stride + word]!
    size += (next - layer.starts[at + word]!) * 2 ** (32 * (stride - 1 - word))
  }
  return size
}

export function rangeSize({ first, last }: Pick<Range, 'first' | 'last'>): number {
  return Number(last - first + 1n)
}
