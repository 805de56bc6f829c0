// Hot within the build: two layers of one family laid over each other. Networks, places and
// evidence become records in join-three-layers.ts; the values of the result here are of a layer's
// kind.

import { assert } from '../../src/base/assert.ts'
import { wordsPerStart, type Layer } from './layer.ts'
import { newLayerPieces } from './pieces.ts'

/**
 * A layer that is cut wherever `base` or `top` is cut; each piece has the value that `combine`
 * gives for the two values there. `combine` sees 0 for "nothing here" and may give 0.
 */
export function overlayTwoLayers(options: {
  readonly base: Layer
  readonly top: Layer
  readonly combine: (base: number, top: number) => number
}): Layer {
  const { base, top, combine } = options
  assert(base.family === top.family, 'overlay: the layers are of different families')
  const words = wordsPerStart(base.family)
  const pieces = newLayerPieces(base.family)
  let atBase = 0
  let atTop = 0
  pieces.add(base.starts.subarray(0, words), combine(base.values[0]!, top.values[0]!))
  for (;;) {
    const order = compareNext(base, atBase + 1, top, atTop + 1)
    if (order === undefined) return pieces.layer()
    if (order <= 0) atBase++
    if (order >= 0) atTop++
    const from = order <= 0 ? base : top
    const piece = order <= 0 ? atBase : atTop
    const start = from.starts.subarray(piece * words, piece * words + words)
    pieces.add(start, combine(base.values[atBase]!, top.values[atTop]!))
  }
}

/** Which of two pieces starts first; a layer that has no further piece never does. */
function compareNext(base: Layer, atBase: number, top: Layer, atTop: number): number | undefined {
  if (atBase === base.count) return atTop === top.count ? undefined : 1
  if (atTop === top.count) return -1
  const words = wordsPerStart(base.family)
  for (let word = 0; word < words; word++) {
    const difference = base.starts[atBase * words + word]! - top.starts[atTop * words + word]!
    if (difference !== 0) return difference
  }
  return 0
}
