// Records without evidence keep their numbers, whatever is listed; and each piece keeps its record.

import { expect, it } from 'vitest'
import type { Layer } from '../../../build/layer/layer.ts'
import { orderRecords } from '../../../build/layer/record-order.ts'

/** Network, place, verdict, list. */
const records = [
  [1, 1, 0, 0],
  [1, 1, 5, 7],
  [2, 1, 0, 0],
  [2, 1, 6, 8],
  [3, 2, 0, 0],
] as const

const layerOf = (...values: readonly number[]): Layer =>
  ({ values: Uint32Array.from(values) }) as unknown as Layer

it('records without evidence come first, both kinds in the order in which they appeared', () => {
  const pieces = [0, 1, 0, 2, 3, 2, 4]
  const layer = layerOf(...pieces)
  const ordered = orderRecords(Uint32Array.from(records.flat()), [layer])
  expect([...ordered]).toEqual([0, 2, 4, 1, 3].flatMap((record) => [...records[record]!]))
  const recordOf = (number: number): readonly number[] => [
    ...ordered.subarray(4 * number, 4 * number + 4),
  ]
  expect([...layer.values].map(recordOf)).toEqual(pieces.map((record) => records[record]))
})
