// Hot within the build: collects the pieces of a layer in address order into typed arrays that grow
// by half. Neighbours of equal value become one piece; that is all it does.

import { inLargePages } from '../../src/base/system/memory-map.ts'
import type { Family } from '../../src/ip/address.ts'
import { wordsPerStart, type Layer } from './layer.ts'

export interface LayerPieces {
  /**
   * A piece that begins at the address in `starts`, whose first word lies at `from`. Pieces must
   * ascend, the first must be 0.
   */
  readonly add: (starts: Uint32Array, value: number, from?: number) => void
  /** The layer of all pieces so far; what is added later does not change it. */
  readonly layer: () => Layer
}

const capacityAtFirst = 1 << 12

/** Who knows how many pieces there can be at most says so: memory that is not filled costs none. */
export function newLayerPieces(family: Family, capacity = capacityAtFirst): LayerPieces {
  const words = wordsPerStart(family)
  let starts = inLargePages(new Uint32Array(capacity * words))
  let values = inLargePages(new Uint32Array(capacity))
  let count = 0
  let lastValue = -1

  const grow = (): void => {
    const capacity = Math.ceil(values.length * 1.5)
    const moreStarts = inLargePages(new Uint32Array(capacity * words))
    moreStarts.set(starts)
    starts = moreStarts
    const moreValues = inLargePages(new Uint32Array(capacity))
    moreValues.set(values)
    values = moreValues
  }

  const add = (start: Uint32Array, value: number, from = 0): void => {
    if (value === lastValue) return
    if (count === values.length) grow()
    if (words === 1) {
      starts[count] = start[from]!
    } else {
      const at = count * 4
      starts[at] = start[from]!
      starts[at + 1] = start[from + 1]!
      starts[at + 2] = start[from + 2]!
      starts[at + 3] = start[from + 3]!
    }
    values[count] = value
    count++
    lastValue = value
  }

  const layer = (): Layer => ({
    family,
    count,
    // Not copied: beyond them is memory that was never filled.
    starts: starts.subarray(0, count * words),
    values: values.subarray(0, count),
  })

  return { add, layer }
}
