// Columns: the way there and back, for any bytes and any shape.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromPlanes, toPlanes } from '../../../src/publish/form/columns.ts'

const shapes = fc.record({ words: fc.nat(13), steps: fc.boolean() })

describe('planes', () => {
  it('give back what they were made of', () => {
    fc.assert(
      fc.property(shapes, fc.nat(40), fc.infiniteStream(fc.nat(255)), (shape, rows, stream) => {
        const bytes = new Uint8Array(Math.max(1, shape.words) * 4 * rows)
        for (let at = 0; at < bytes.length; at++) bytes[at] = stream.next().value as number
        const back = new Uint8Array(bytes.length)
        fromPlanes(toPlanes(bytes, shape), back, shape)
        expect(back).toEqual(bytes)
      }),
    )
  })

  it('put column behind column, as steps where that is asked', () => {
    const rows = new Uint8Array(Uint32Array.of(1, 10, 2, 20, 4, 10).buffer)
    const words = (steps: boolean): number[] => {
      const { buffer } = toPlanes(rows, { words: 2, steps })
      return [...new Uint32Array(buffer as ArrayBuffer)]
    }
    expect(words(false)).toEqual([1, 2, 4, 10, 20, 10])
    expect(words(true)).toEqual([1, 1, 2, 10, 10, 2 ** 32 - 10])
  })
})
