// overlayTwoLayers against a twin that looks each start up in both layers.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { overlayTwoLayers } from '../../../build/layer/overlay.ts'
import { addressOf, expectSound, lookup, startOf } from '../mmdb/mmdb-lookup.ts'
import { layerOf, layers } from './random-layers.ts'

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

  it('refuses a layer that does not begin with address 0, or has no piece', () => {
    const whole = layerOf(4, [[0n, 1]])
    for (const part of [layerOf(4, [[1n, 1]]), layerOf(4, [])]) {
      for (const [base, top] of [
        [whole, part],
        [part, whole],
      ] as const) {
        const overlay = () => overlayTwoLayers({ base, top, combine: Math.max })
        expect(overlay).toThrow(/does not begin with address 0/)
      }
    }
  })
})
