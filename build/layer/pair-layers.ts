// Networks, places and evidence laid over each other, in two steps. The first, networks and places,
// needs no evidence: a thread takes it, beside the rest of a build (build/places/place-thread.ts).

import { newTupleInterner } from './intern.ts'
import type { Layer, Layers } from './layer.ts'
import { overlayTwoLayers } from './overlay-two-layers.ts'

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

/**
 * Cut wherever any of the three is cut; each piece has the number, from 0, that `recordOf` gives for
 * its three values. It is asked once for a pair of which nothing is said.
 */
export function joinEvidence(
  { layers, networks, places }: PairedLayers,
  evidence: Layers,
  recordOf: (network: number, place: number, list: number) => number,
): Layers {
  const withoutList = new Int32Array(networks.length).fill(-1)
  const combine = (pair: number, list: number): number => {
    const known = withoutList[pair]!
    if (list === 0 && known >= 0) return known
    const record = recordOf(networks[pair]!, places[pair]!, list)
    if (list === 0) withoutList[pair] = record
    return record
  }
  const join = (family: 4 | 6): Layer =>
    overlayTwoLayers({ base: layers[family], top: evidence[family], combine })
  return { 4: join(4), 6: join(6) }
}
