// Hot within the build: two layers of one family laid over each other.

import { assert } from '../../src/base/assert.ts'
import { type Layer, compareStarts, wordsPerStart } from './layer.ts'
import { newLayerPieces } from './pieces.ts'

/**
 * A layer that is cut wherever `base` or `top` is cut; each piece has the value that `combine`
 * gives for the two values there. Of layers with gaps `combine` sees 0 for those and may give 0.
 */
export function overlayTwoLayers(options: {
  readonly base: Layer
  readonly top: Layer
  readonly combine: (base: number, top: number) => number
}): Layer {
  const { base, top, combine } = options
  assert(base.family === top.family, 'overlay: the layers are of different families')
  for (const { count, starts } of [base, top]) {
    assert(count > 0 && starts[0] === 0, 'overlay: a layer does not begin with address 0')
  }
  const pieces = newLayerPieces(base.family, base.count + top.count)
  const stride = wordsPerStart(base.family)
  let atBase = 0
  let atTop = 0
  pieces.add(base.starts, combine(base.values[0]!, top.values[0]!))
  for (;;) {
    const order = compareStarts(base, atBase + 1, top, atTop + 1)
    if (order <= 0) atBase++
    if (order >= 0) atTop++
    const from = order <= 0 ? base : top
    const at = order <= 0 ? atBase : atTop
    if (at === from.count) return pieces.layer()
    pieces.add(from.starts, combine(base.values[atBase]!, top.values[atTop]!), at * stride)
  }
}
