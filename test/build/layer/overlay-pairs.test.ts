// pairLayers against a twin that looks each start up in both layers.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Layers } from '../../../build/layer/layer.ts'
import { pairLayers } from '../../../build/layer/overlay.ts'
import { addressOf, expectSound, lookup, startOf } from '../mmdb/mmdb-lookup.ts'
import { layers } from './random-layers.ts'

const families = [4, 6] as const
const both: fc.Arbitrary<Layers> = fc.record({ 4: layers(4), 6: layers(6) })

describe('pairLayers', () => {
  it('gives every address the pair of its network and place', () => {
    fc.assert(
      fc.property(both, both, (networks, places) => {
        const pairs = pairLayers(networks, places)
        for (const family of families) {
          expectSound(pairs.layers[family])
          for (const layer of [networks[family], places[family], pairs.layers[family]]) {
            for (let piece = 0; piece < layer.count; piece++) {
              const address = addressOf(family, startOf(layer, piece))
              const pair = lookup(pairs.layers[family], address)
              expect(pairs.networks[pair]).toBe(lookup(networks[family], address))
              expect(pairs.places[pair]).toBe(lookup(places[family], address))
            }
          }
        }
      }),
    )
  })

  it('numbers each pair once, in order of first appearance, IPv4 before IPv6', () => {
    fc.assert(
      fc.property(both, both, (networks, places) => {
        const pairs = pairLayers(networks, places)
        const seen = families.flatMap((family) => [...pairs.layers[family].values])
        expect([...new Set(seen)]).toEqual([...pairs.networks.keys()])
        const texts = [...pairs.networks].map((network, id) => `${network} ${pairs.places[id]}`)
        expect(new Set(texts).size).toBe(texts.length)
      }),
    )
  })
})
