// Hot within the build: layers of one family laid over each other. Networks and places are joined
// first, in a thread (build/places/place-thread.ts), because they need no evidence.

import { assert } from '../../src/base/assert.ts'
import { prefixRange } from '../../src/ip/range.ts'
import { flattenEvidence, newListInterner } from './flatten-evidence.ts'
import { newTupleInterner } from './intern.ts'
import { compareStarts, type Layer, type Layers, newLayerPieces, wordsPerStart } from './layer.ts'

/**
 * Cut wherever `base` or `top` is cut, with the value that `combine` returns for both; gaps are 0.
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

export type PairedLayers = ReturnType<typeof pairLayers>

/**
 * Values of `layers` number the pairs from 0, by first appearance, IPv4 before IPv6; `networks` and
 * `places` are by pair, 0 for none.
 */
export function pairLayers(networks: Layers, places: Layers) {
  const pairs = newTupleInterner()
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
 * Cut wherever any of the three is cut, with the number from `recordOf`, which is called once per
 * family for a pair without evidence.
 */
export function joinEvidence(
  { layers, networks, places }: PairedLayers,
  evidence: Layers,
  recordOf: (family: 4 | 6, network: number, place: number, list: number) => number,
): Layers {
  const join = (family: 4 | 6): Layer => {
    const withoutList = new Int32Array(networks.length).fill(-1)
    const combine = (pair: number, list: number): number => {
      const known = withoutList[pair]!
      if (list === 0 && known >= 0) return known
      const record = recordOf(family, networks[pair]!, places[pair]!, list)
      if (list === 0) withoutList[pair] = record
      return record
    }
    return overlayTwoLayers({ base: layers[family], top: evidence[family], combine })
  }
  return { 4: join(4), 6: join(6) }
}

const transitionPrefixes = [
  prefixRange(6, 0x2001n << 112n, 32),
  prefixRange(6, 0x2002n << 112n, 16),
]

/**
 * Removes 6to4 (2002::/16) and Teredo (2001::/32), which have no network or place of their own:
 * their announcers run relays. Answers there use the embedded IPv4 address (contract 3.9:
 * addresses).
 */
export function clearTransitionPrefixes(layer: Layer): Layer {
  const observations = transitionPrefixes.map(({ first, last }) => ({ first, last, evidence: 1 }))
  const top = flattenEvidence(6, observations, newListInterner())
  return overlayTwoLayers({
    base: layer,
    top,
    combine: (value, inside) => (inside === 0 ? value : 0),
  })
}
