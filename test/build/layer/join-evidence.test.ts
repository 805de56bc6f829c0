// pairLayers and joinEvidence against their slow twin: look each address up in all three layers.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newTupleInterner } from '../../../build/layer/intern.ts'
import { type Layer, type Layers, valueAt } from '../../../build/layer/layer.ts'
import { joinEvidence, pairLayers } from '../../../build/layer/overlay.ts'
import type { Family } from '../../../src/ip/address.ts'
import { maxAddress, bigintToWords } from '../../../src/ip/range.ts'
import { inForm } from '../../form.ts'

function layerOf(family: Family, cuts: readonly (readonly [bigint, number])[]): Layer {
  const sorted = [[0n, 0] as const, ...cuts].sort((a, b) => (a[0] < b[0] ? -1 : 1))
  const starts: number[] = []
  const values: number[] = []
  const words = new Uint32Array(4)
  let last = -1n
  for (const [start, value] of sorted) {
    if (start === last || values.at(-1) === value) continue
    last = start
    bigintToWords(family, start, words)
    starts.push(...(family === 4 ? [words[0]!] : words))
    values.push(value)
  }
  return {
    family,
    count: values.length,
    starts: Uint32Array.from(starts),
    values: Uint32Array.from(values),
  }
}

const cuts = (family: Family) => {
  const limit = maxAddress(family)
  const start = fc.oneof(
    fc.bigInt({ min: 0n, max: 12n }),
    fc.bigInt({ min: limit - 12n, max: limit }),
    fc.bigInt({ min: 0n, max: limit }),
  )
  return fc.array(fc.tuple(start, fc.integer({ min: 0, max: 3 })), { maxLength: 10 })
}

/** With nothing of the other family. */
const alone = (family: Family, layer: Layer): Layers => {
  const empty = { 4: layerOf(4, []), 6: layerOf(6, []) }
  return { ...empty, [family]: layer }
}

describe.each([4, 6] as const)('networks, places and evidence of IPv%i', (family) => {
  it('give every address the record of its three values', () => {
    const arbitrary = fc.tuple(cuts(family), cuts(family), cuts(family))
    fc.assert(
      fc.property(arbitrary, ([a, b, c]) => {
        const networks = layerOf(family, a)
        const places = layerOf(family, b)
        const evidence = layerOf(family, c)
        const records = newTupleInterner()
        const pairs = pairLayers(alone(family, networks), alone(family, places))
        const pieces = joinEvidence(pairs, alone(family, evidence), (_family, n, p, e) =>
          records.id(n, p, e, 0),
        )[family]
        const words = new Uint32Array(4)
        for (const [start] of [...a, ...b, ...c]) {
          for (const address of [start - 1n, start, start + 1n]) {
            if (address < 0n || address > maxAddress(family)) continue
            bigintToWords(family, address, words)
            const expected = records.id(
              valueAt(networks, words),
              valueAt(places, words),
              valueAt(evidence, words),
              0,
            )
            expect(valueAt(pieces, words)).toBe(expected)
          }
        }
        for (let i = 1; i < pieces.count; i++) {
          expect(pieces.values[i]).not.toBe(pieces.values[i - 1])
        }
      }),
      { numRuns: inForm({ short: 120, full: 1000 }) },
    )
  })
})
