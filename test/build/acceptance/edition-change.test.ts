// How much two editions differ, against a count address by address.

import { array, assert, constantFrom, nat, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editionChange } from '../../../build/acceptance/edition-acceptance.ts'
import { type Layer, newLayerPieces } from '../../../build/layer/layer.ts'

/** Sixteen parts of the space, each with a value; of IPv6 by the first four bits. */
function layerOf(family: 4 | 6, values: readonly number[]): Layer {
  const pieces = newLayerPieces(family)
  for (const [at, value] of values.entries()) pieces.add(Uint32Array.of(at << 28, 0, 0, 0), value)
  return pieces.layer()
}

const sixteen = array(nat(2), { minLength: 16, maxLength: 16 })

describe('the share that changed', () => {
  it('is that of the addresses that the earlier edition knows', () => {
    assert(
      property(constantFrom(4 as const, 6 as const), sixteen, sixteen, (family, a, b) => {
        const known = a.flatMap((value, at) => (value === 0 ? [] : [at]))
        const changed = known.filter((at) => a[at] !== b[at])
        const share = editionChange(layerOf(family, a), layerOf(family, b))
        expect(share).toBeCloseTo(known.length === 0 ? 0 : changed.length / known.length, 12)
      }),
    )
  })

  it('counts no address that the earlier edition says nothing of', () => {
    const earlier = layerOf(4, [1, 1, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    const later = layerOf(4, [1, 2, 2, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1])
    expect(editionChange(earlier, later)).toBe(2 / 12)
  })
})
