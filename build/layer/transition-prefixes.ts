// 6to4 (2002::/16) and Teredo (2001::/32) have no network and no place of their own: the AS that
// announces such a prefix runs a relay, and place data give all of it one place, where no user is.
// The table has only evidence there, so that an answer speaks of the embedded IPv4 address
// (contract 3.9).

import { prefixRange } from '../../src/ip/range.ts'
import { flattenEvidence, newListInterner } from './flatten-evidence.ts'
import type { Layer } from './layer.ts'
import { overlayTwoLayers } from './overlay-two-layers.ts'

const prefixes = [prefixRange(6, 0x2001n << 112n, 32), prefixRange(6, 0x2002n << 112n, 16)]

/** An IPv6 layer without what it says of the transition prefixes. */
export function clearTransitionPrefixes(layer: Layer): Layer {
  const observations = prefixes.map(({ first, last }) => ({ first, last, evidence: 1 }))
  const top = flattenEvidence(6, observations, newListInterner())
  return overlayTwoLayers({
    base: layer,
    top,
    combine: (value, inside) => (inside === 0 ? value : 0),
  })
}
