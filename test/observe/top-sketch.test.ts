// The sketch of what comes most often, held against exact counts.

import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type TopRow, createTopSketch, mergeTopRows } from '../../src/observe/top-sketch.ts'

const name = fc.integer({ min: 0, max: 30 }).map((n) => `name-${Math.floor(n ** 1.5 / 8)}`)
const stream = fc.array(fc.tuple(name, fc.integer({ min: 1, max: 64 })), { maxLength: 300 })
const size = fc.integer({ min: 1, max: 12 })

function exact(stream: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [name, weight] of stream) counts.set(name, (counts.get(name) ?? 0) + weight)
  return counts
}

function sketchOf(stream: readonly (readonly [string, number])[], size: number): readonly TopRow[] {
  const sketch = createTopSketch(size)
  for (const [name, weight] of stream) sketch.add(name, weight)
  return sketch.rows()
}

function expectBounds(rows: readonly TopRow[], counts: ReadonlyMap<string, number>): void {
  for (const [name, count, error] of rows) {
    const exactly = counts.get(name) ?? 0
    expect(count).toBeGreaterThanOrEqual(exactly)
    expect(count - error).toBeLessThanOrEqual(exactly)
  }
}

describe('a sketch', () => {
  it('counts too much by its error at the most, and has every name above its share', () => {
    fc.assert(
      fc.property(stream, size, (stream, size) => {
        const [rows, counts] = [sketchOf(stream, size), exact(stream)]
        const all = stream.reduce((sum, [, weight]) => sum + weight, 0)
        expect(rows.length).toBeLessThanOrEqual(size)
        expectBounds(rows, counts)
        const counted = new Map(rows.map(([name, count]) => [name, count]))
        const missing = [...counts].filter(([name, count]) => {
          return count > all / size && !counted.has(name)
        })
        expect(missing).toEqual([])
        // With room for all it is exact.
        expect(counts.size > size || isDeepStrictEqual(counted, new Map(counts))).toBe(true)
      }),
    )
  })

  it('keeps its bounds where several are merged', () => {
    fc.assert(
      fc.property(fc.array(stream, { maxLength: 5 }), size, (streams, size) => {
        const sketches = streams.map((stream) => sketchOf(stream, size))
        const rows = mergeTopRows(sketches, { size, shown: 100 })
        expectBounds(rows, exact(streams.flat()))
        expect(rows.map(([, count]) => count)).toEqual(
          rows.map(([, count]) => count).toSorted((a, b) => b - a),
        )
        expect(mergeTopRows(sketches, { size, shown: 3 })).toEqual(rows.slice(0, 3))
      }),
    )
  })
})
