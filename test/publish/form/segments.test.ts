// How a table file is cut: each segment in its columns, and what lies between them as the frame.

import { expect, it } from 'vitest'
import { frameName } from '../../../src/publish/form/part-index.ts'
import { cutTable } from '../../../src/publish/form/segments.ts'

it('begins a part with each column of a segment', () => {
  const file = Uint8Array.from({ length: 40 }, (_, at) => at)
  const segments = [
    { name: 'records', from: 4, bytes: 24, words: 3, steps: false },
    { name: frameName, from: 0, bytes: 16, words: 0, steps: false },
  ]
  const cut = [...cutTable(file, segments)].map(({ parts }) => parts.map((part) => [...part]))
  expect(cut).toEqual([
    [
      [4, 5, 6, 7, 16, 17, 18, 19],
      [8, 9, 10, 11, 20, 21, 22, 23],
      [12, 13, 14, 15, 24, 25, 26, 27],
    ],
    [[0, 1, 2, 3, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]],
  ])
})
