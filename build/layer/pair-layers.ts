// Networks and places laid over each other. That needs none of the evidence, so that it is done beside
// the rest of a build (build/places/place-thread.ts), which lays the evidence over it.

import { newTupleInterner } from './intern.ts'
import type { Layer } from './layer.ts'
import { overlayTwoLayers } from './overlay-two-layers.ts'

export type Layers = Readonly<Record<4 | 6, Layer>>

export interface PairedLayers {
  /** Values are numbers of pairs, from 0, in order of first appearance, IPv4 before IPv6. */
  readonly layers: Layers
  /** By number of a pair its network, 0 for none. */
  readonly networks: Uint32Array
  /** By number of a pair its place, 0 for none. */
  readonly places: Uint32Array
}

/** About so many pieces of both share a pair. */
const piecesOfPair = 8

export function pairLayers(networks: Layers, places: Layers): PairedLayers {
  const counts = [networks, places].map((layers) => layers[4].count + layers[6].count)
  const pairs = newTupleInterner((counts[0]! + counts[1]!) / piecesOfPair)
  const pair = (family: 4 | 6): Layer =>
    overlayTwoLayers({
      base: networks[family],
      top: places[family],
      combine: (network, place) => pairs.id(network, place, 0, 0),
    })
  const layers = { 4: pair(4), 6: pair(6) }
  const words = pairs.words()
  const column = (word: number): Uint32Array =>
    Uint32Array.from({ length: pairs.count }, (_, id) => words[id * 4 + word]!)
  return { layers, networks: column(0), places: column(1) }
}
