// overlayTwoLayers against a twin that looks each start up in both layers.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Layer } from '../../../build/layer/layer.ts'
import { overlayTwoLayers } from '../../../build/layer/overlay-two-layers.ts'
import type { Family } from '../../../src/ip/address.ts'
import { maxAddress, bigintToWords } from '../../../src/ip/range.ts'
import { addressOf, expectSound, lookup, startOf } from '../mmdb/mmdb-lookup.ts'

function layerOf(family: Family, pieces: readonly (readonly [bigint, number])[]): Layer {
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
function layers(family: Family): fc.Arbitrary<Layer> {
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

describe('overlayTwoLayers', () => {
  for (const family of [4, 6] as const) {
    it(`combines the values of both layers everywhere, IPv${family}`, () => {
      fc.assert(
        fc.property(layers(family), layers(family), (base, top) => {
          const combine = (a: number, b: number): number => (b === 3 ? 0 : b === 0 ? a : a * 10 + b)
          const result = overlayTwoLayers({ base, top, combine })
          expectSound(result)
          for (const layer of [base, top, result]) {
            for (let piece = 0; piece < layer.count; piece++) {
              const address = addressOf(family, startOf(layer, piece))
              const twin = combine(lookup(base, address), lookup(top, address))
              expect(lookup(result, address)).toBe(twin)
            }
          }
        }),
      )
    })
  }

  it('refuses layers of two families', () => {
    const options = { base: layerOf(4, [[0n, 1]]), top: layerOf(6, [[0n, 1]]), combine: Math.max }
    expect(() => overlayTwoLayers(options)).toThrow(/different families/)
  })
})
