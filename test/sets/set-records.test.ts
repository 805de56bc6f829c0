// The difference of two sets, against set arithmetic on their records as text.

import { expect, it } from 'vitest'
import { newRandom } from '../../bench/harness/random.ts'
import { forEachAdded, newSetRecords, setRecordWords } from '../../src/sets/set-records.ts'

const random = newRandom(7)

/** Some of few prefixes, so that two draws share many. */
function drawnSet(): Uint32Array {
  const records = newSetRecords(1000)
  const share = random.word() % 100
  for (const top of [0, 0x2a00_0000]) {
    for (let low = 0; low < 60; low++) {
      if (random.word() % 100 >= share) continue
      const length = top === 0 ? 128 - (random.word() % 2) : 64 + (random.word() % 2)
      const words = top === 0 ? [0, 0, 0, low * 2] : [top, low, 0, 0]
      records.add(Uint32Array.from(words), length, random.word() % 3)
    }
  }
  return records.words()
}

const textAt = (words: Uint32Array, at: number): string =>
  words.subarray(at, at + setRecordWords).join()
const texts = (words: Uint32Array): readonly string[] =>
  Array.from({ length: words.length / setRecordWords }, (_, i) => textAt(words, i * setRecordWords))

it('what one set has more than another is that of set arithmetic, in order', () => {
  for (let round = 0; round < 300; round++) {
    const [before, after] = [drawnSet(), drawnSet()]
    const added: string[] = []
    forEachAdded(before, after, (at) => void added.push(textAt(after, at)))
    const old = new Set(texts(before))
    expect(added).toEqual(texts(after).filter((text) => !old.has(text)))
  }
})
