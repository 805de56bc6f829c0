// The index of a table's parts: what it may say of a file, and what is refused of it.

import { expect, it } from 'vitest'
import { parsePartIndex } from '../../../src/publish/form/part-index.ts'

const hash = 'a'.repeat(64)
const part = (bytes: number) => [hash, bytes, hash, 5] as const
const segment = (name: string, from: number, bytes: number) => {
  return { name, from, bytes, words: 0, steps: false, parts: [part(bytes)] }
}
const sound = { bytes: 24, segments: [segment('a', 4, 8), segment('b', 12, 4), segment('', 0, 12)] }
const [first, second, frame] = sound.segments as [object, object, object]

const said = (index: object): unknown => parsePartIndex(JSON.stringify(index))

it('is what covers a file, its frame last', () => {
  expect(said(sound)).toEqual(sound)
})

it.each<[string, object]>([
  ['its bytes is wrong', { ...sound, bytes: -1 }],
  ['its segments.0.from is wrong', { ...sound, segments: [{ ...first, from: 0.5 }, frame] }],
  ['it has no frame', { ...sound, segments: [first, segment('b', 12, 12)] }],
  ['it has no frame', { ...sound, segments: [first, second, { ...frame, words: 1 }] }],
  ['it has no frame', { ...sound, bytes: 28 }],
  ['its frame is not the last segment', { ...sound, segments: [frame, first] }],
  ['its segment b is out of place', { ...sound, segments: [first, segment('b', 8, 4), frame] }],
  ['its segment b is out of place', { ...sound, segments: [first, segment('b', 13, 4), frame] }],
  [
    'its segment a does not consist of whole rows',
    { ...sound, segments: [{ ...first, words: 3 }, frame] },
  ],
  ['its segments reach past the file', { ...sound, segments: [segment('a', 20, 8), frame] }],
  [
    'the parts of a do not add up to its bytes',
    { ...sound, segments: [{ ...first, parts: [] }, second, frame] },
  ],
])('%s: refused', (why, index) => {
  expect(said(index)).toBe(why)
})
