import { describe, expect, it } from 'vitest'
import { type Layer, valueAt } from '../../../build/layer/layer.ts'
import { clearTransitionPrefixes } from '../../../build/layer/overlay.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'

function layerOf(cuts: readonly (readonly [string, number])[]): Layer {
  const words = new Uint32Array(4)
  const starts: number[] = []
  for (const [text] of cuts) {
    parseAddress(text, words)
    starts.push(...words)
  }
  return {
    family: 6,
    count: cuts.length,
    starts: Uint32Array.from(starts),
    values: Uint32Array.from(cuts, ([, value]) => value),
  }
}

function at(layer: Layer, text: string): number {
  const words = new Uint32Array(4)
  parseAddress(text, words)
  return valueAt(layer, words)
}

describe('clearTransition', () => {
  it('blanks 6to4 and Teredo and nothing beside them', () => {
    const layer = clearTransitionPrefixes(
      layerOf([
        ['::', 0],
        ['2000::', 7],
        ['2001:0:5::', 8],
        ['2001:1::', 9],
        ['2002:5::', 3],
        ['2003::', 4],
      ]),
    )
    const asked = ['::1', '2000:ffff::1', '2001::', '2001:0:ffff::1', '2001:1::', '2001:ffff::']
    expect(asked.map((text) => at(layer, text))).toEqual([0, 7, 0, 0, 9, 9])
    expect(['2002::', '2002:ffff::1', '2003::', 'ffff::'].map((text) => at(layer, text))).toEqual([
      0, 0, 4, 4,
    ])
  })

  it('leaves a layer whose piece covers them on both sides', () => {
    const layer = clearTransitionPrefixes(layerOf([['::', 5]]))
    const asked = ['2000::', '2001::1', '2001:1::', '2002::1', '2003::', '::']
    expect(asked.map((text) => at(layer, text))).toEqual([5, 0, 5, 0, 5, 5])
  })
})
