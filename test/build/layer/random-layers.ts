// Layers for tests: of pieces as they are written down, and any sound ones.

import * as fc from 'fast-check'
import type { Layer } from '../../../build/layer/layer.ts'
import type { Family } from '../../../src/ip/address.ts'
import { maxAddress, bigintToWords } from '../../../src/ip/range.ts'

export function layerOf(family: Family, pieces: readonly (readonly [bigint, number])[]): Layer {
  const words = family === 4 ? 1 : 4
  const starts = new Uint32Array(pieces.length * words)
  const scratch = new Uint32Array(4)
  for (const [at, [start]] of pieces.entries()) {
    bigintToWords(family, start, scratch)
    starts.set(scratch.subarray(0, words), at * words)
  }
  return { family, count: pieces.length, starts, values: Uint32Array.from(pieces, ([, v]) => v) }
}

/** Sound layers: ascending starts from 0, neighbours that differ. */
export function layers(family: Family): fc.Arbitrary<Layer> {
  const start = fc.oneof(
    fc.bigInt({ min: 0n, max: 30n }),
    fc.bigInt({ min: maxAddress(family) - 5n, max: maxAddress(family) }),
  )
  return fc.array(fc.tuple(start, fc.nat(4)), { maxLength: 12 }).map((drawn) => {
    const sorted = [...new Map<bigint, number>([[0n, 0], ...drawn]).entries()].sort(([a], [b]) =>
      a < b ? -1 : 1,
    )
    return layerOf(
      family,
      sorted.filter(([, value], at) => at === 0 || sorted[at - 1]![1] !== value),
    )
  })
}
