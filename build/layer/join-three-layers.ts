// Lays three layers of one family over each other: networks, places, evidence. The result is cut
// wherever any of them is cut; each piece gets the record that `recordOf` gives its three values;
// neighbours with the same record become one piece.

import { assert } from '../../src/base/assert.ts'
import { type Layer, compareStarts, copyStart } from './layer.ts'
import { newLayerPieces } from './pieces.ts'

/** The values of the result are record numbers, from 0. */
export function joinThreeLayers(
  layers: { readonly networks: Layer; readonly places: Layer; readonly evidence: Layer },
  recordOf: (network: number, place: number, evidence: number) => number,
): Layer {
  const { networks, places, evidence } = layers
  const all = [networks, places, evidence] as const
  const family = networks.family
  for (const layer of all) {
    assert(layer.family === family, 'join: the layers are of different families')
    assert(layer.count > 0 && layer.starts[0] === 0, 'join: a layer does not begin with address 0')
  }
  const pieces = newLayerPieces(family, networks.count + places.count + evidence.count)
  const start = new Uint32Array(4)
  let network = 0
  let place = 0
  let piece = 0
  for (;;) {
    const record = recordOf(
      networks.values[network]!,
      places.values[place]!,
      evidence.values[piece]!,
    )
    pieces.add(start, record)
    // The nearest next start of any layer; all layers that start there step together.
    const first = compareStarts(networks, network + 1, places, place + 1)
    const nearer = first <= 0 ? networks : places
    const nearerPiece = first <= 0 ? network + 1 : place + 1
    const second = compareStarts(nearer, nearerPiece, evidence, piece + 1)
    const from = second <= 0 ? nearer : evidence
    const next = second <= 0 ? nearerPiece : piece + 1
    if (next === from.count) return pieces.layer()
    copyStart(from, next, start)
    if (second <= 0 && first <= 0) network++
    if (second <= 0 && first >= 0) place++
    if (second >= 0) piece++
  }
}
