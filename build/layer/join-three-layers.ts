// Lays three layers of one family over each other: networks, places, evidence. The result is cut
// wherever any of them is cut; each piece gets the record that `recordOf` gives its three values;
// neighbours with the same record become one piece.

import { assert } from '../../src/base/assert.ts'
import { type Layer, wordsPerStart } from './layer.ts'
import { newLayerPieces } from './pieces.ts'

/** The values of the result are record numbers, from 0. */
export function joinThreeLayers(
  layers: { readonly networks: Layer; readonly places: Layer; readonly evidence: Layer },
  recordOf: (network: number, place: number, evidence: number) => number,
): Layer {
  const { networks, places, evidence } = layers
  const all = [networks, places, evidence] as const
  const family = networks.family
  const stride = wordsPerStart(family)
  for (const layer of all) {
    assert(layer.family === family, 'join: the layers are of different families')
    assert(layer.count > 0 && layer.starts[0] === 0, 'join: a layer does not begin with address 0')
  }
  const pieces = newLayerPieces(family)
  const words = new Uint32Array(4)
  const at = [0, 0, 0] as [number, number, number]
  // `from` is the layer and piece whose start is the current one.
  let from: Layer = networks
  let fromPiece = 0
  for (;;) {
    const record = recordOf(networks.values[at[0]]!, places.values[at[1]]!, evidence.values[at[2]]!)
    for (let word = 0; word < stride; word++) words[word] = from.starts[fromPiece * stride + word]!
    pieces.add(words, record)
    // The nearest next start of any layer; all layers that start there step together.
    let next: Layer | undefined
    let nextPiece = 0
    for (let i = 0; i < 3; i++) {
      const layer = all[i]!
      const piece = at[i]! + 1
      if (piece >= layer.count) continue
      if (next === undefined || compareStarts(layer, piece, next, nextPiece) < 0) {
        next = layer
        nextPiece = piece
      }
    }
    if (next === undefined) break
    for (let i = 0; i < 3; i++) {
      const layer = all[i]!
      const piece = at[i]! + 1
      if (piece < layer.count && compareStarts(layer, piece, next, nextPiece) === 0) at[i] = piece
    }
    from = next
    fromPiece = nextPiece
  }
  return pieces.layer()
}

function compareStarts(a: Layer, pieceA: number, b: Layer, pieceB: number): number {
  if (a.family === 4) return a.starts[pieceA]! - b.starts[pieceB]!
  const atA = pieceA * 4
  const atB = pieceB * 4
  for (let w = 0; w < 4; w++) {
    const difference = a.starts[atA + w]! - b.starts[atB + w]!
    if (difference !== 0) return difference
  }
  return 0
}
